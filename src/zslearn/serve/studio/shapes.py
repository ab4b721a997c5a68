"""The drawn shapes that the studio opens with: each picture is drawn when it is asked for."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from zslearn.datasets import ClassSplit, ZeroShotDataset, make_shapes
from zslearn.datasets.shapes import draw, place
from zslearn.signatures import Signatures

SIDE = 96
CLUTTER = 4
N_SEEN, N_UNSEEN, N_PER_CLASS = 30, 12, 40
N = (N_SEEN + N_UNSEEN) * N_PER_CLASS


def shape_classes() -> tuple[Signatures, ClassSplit]:
    """Return the classes, with 20 attributes each, and which of them are seen."""
    made = make_shapes(N_SEEN, N_UNSEEN, n_per_class=1, side=16, random_state=0)
    return made.signatures, made.split


def draw_shape(name: str, number: int, side: int = SIDE) -> NDArray[np.uint8]:
    """Draw the picture of a row, always the same one, at any size.

    Parameters
    ----------
    name : str
        Its class, such as "large striped red star".
    number : int
        The row.
    side : int, default=96
        Height and width.

    Returns
    -------
    ndarray of shape (side, side, 3), uint8
    """
    size, texture, color, shape = name.split(" ")
    rng = RandomState([0, number])
    return draw(place(shape, color, texture, size, rng), side, CLUTTER, rng)


def load_shapes() -> ZeroShotDataset:
    """Load the features that were computed of the pictures; nothing is drawn."""
    signatures, split = shape_classes()
    with (files("zslearn.serve.studio") / "data" / "shapes.npz").open("rb") as file:
        with np.load(file, allow_pickle=False) as stored:
            X = stored["X"].astype(np.float32)
    return ZeroShotDataset(
        name="shapes",
        X=X,
        y=np.repeat(signatures.names, N_PER_CLASS),
        semantics={"attributes": signatures},
        splits={"standard": split},
        features=f"EfficientNet-Lite0 (ImageNet), {X.shape[1]} principal components",
        source="drawn by zslearn",
    )
