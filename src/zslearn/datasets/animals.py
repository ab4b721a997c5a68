"""The small data set that ships with the library."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets.dataset import ClassSplit, ZeroShotDataset
from zslearn.signatures import Signatures

_CITATION = """\
C. H. Lampert, H. Nickisch, S. Harmeling. Learning to detect unseen object classes by \
between-class attribute transfer. CVPR 2009.
C. H. Lampert, H. Nickisch, S. Harmeling. Attribute-based classification for zero-shot visual \
object categorization. IEEE TPAMI 36(3), 2014.
D. N. Osherson, J. Stern, O. Wilkie, M. Stob, E. E. Smith. Default probability. Cognitive \
Science 15(2), 1991.
C. Kemp, J. B. Tenenbaum, T. L. Griffiths, T. Yamada, N. Ueda. Learning systems of concepts with \
an infinite relational model. AAAI 2006.
Y. Xian, C. H. Lampert, B. Schiele, Z. Akata. Zero-shot learning: a comprehensive evaluation of \
the good, the bad and the ugly. IEEE TPAMI 41(9), 2019 (the proposed split)."""


def load_animals() -> ZeroShotDataset:
    """Load 28 animal classes with 85 attributes; bundled, so nothing is downloaded.

    Features are EfficientNet-Lite2 vectors (network trained on ImageNet) of 60 photographs for
    each of 28 of the 50 classes of Animals with Attributes. The photographs are not shipped.

    It is our own mix, not a published benchmark: use it to try things and to compare methods with
    each other, not with published figures. Most unseen classes of the standard split are ImageNet
    classes, which the network was trained to tell apart, and this flatters results on them. One
    photograph appears twice, as a mouse and as a rat: rows 913 and 1216 have equal features.

    Returns
    -------
    ZeroShotDataset
        ``X`` (1680, 1280) float32; the semantic spaces "attributes" (0 to 100; the four missing
        values, marked −1 at the source, are 0) and "binary attributes"; the splits "standard"
        (20 seen / 8 unseen) and "proposed" (22 / 6), those of the 50 classes restricted to these
        28; `image_files` with the names of the photographs. `citation` says what to cite.

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> animals = load_animals()
    >>> animals
    ZeroShotDataset('animals28': 1680 samples, 1280 features, 28 classes; \
semantics attributes, binary attributes; splits standard, proposed)
    >>> animals.signatures.dimensions[:3]
    ('black', 'white', 'blue')
    """
    stored = _read()
    names, dimensions = stored["class_names"], stored["attribute_names"].tolist()
    return ZeroShotDataset(
        name="animals28",
        X=stored["X"].astype(np.float32),
        y=names[stored["y"]],
        semantics={
            "attributes": Signatures(names, stored["attributes"], dimensions),
            "binary attributes": Signatures(names, stored["binary_attributes"], dimensions),
        },
        splits={
            "standard": _split(names, stored["standard_unseen"]),
            "proposed": _split(names, stored["proposed_unseen"]),
        },
        image_files=stored["image_files"].tolist(),
        features="EfficientNet-Lite2 (ImageNet), 1280 dimensions",
        source="60 photographs for each of 28 Animals with Attributes classes; "
        "our own mix, not a published benchmark",
        citation=_CITATION,
    )


def _read() -> dict[str, NDArray[Any]]:
    """Read the arrays of the bundled file, never unpickling."""
    with (files("zslearn.datasets") / "data" / "animals28.npz").open("rb") as file:
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}


def _split(names: NDArray[Any], unseen: NDArray[Any]) -> ClassSplit:
    """Split the class names, given the positions of the unseen ones."""
    return ClassSplit(seen=np.delete(names, unseen), unseen=names[unseen])
