"""Names shared by all editions of Animals with Attributes."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

# The ten test classes of Lampert et al. (2009).
STANDARD_UNSEEN = (
    "chimpanzee",
    "giant+panda",
    "leopard",
    "persian+cat",
    "pig",
    "hippopotamus",
    "humpback+whale",
    "raccoon",
    "rat",
    "seal",
)

# The ten test classes of Xian et al. (2019), none of them in ImageNet.
PROPOSED_UNSEEN = (
    "sheep",
    "dolphin",
    "bat",
    "seal",
    "blue+whale",
    "rat",
    "horse",
    "walrus",
    "giraffe",
    "bobcat",
)


def attribute_names() -> list[str]:
    """Return the 85 attributes in the order of ``predicates.txt``."""
    with (files("zslearn.datasets") / "data" / "animals28.npz").open("rb") as file:
        with np.load(file, allow_pickle=False) as archive:
            names: list[str] = archive["attribute_names"].tolist()
            return names
