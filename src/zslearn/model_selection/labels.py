"""The check of y that every splitter over classes starts with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.exceptions import InvalidInputError


def check_class_labels(y: ArrayLike | None, splitter: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `y` as an array together with its sorted classes."""
    if y is None:
        raise InvalidInputError(f"{splitter} splits over classes and needs y; got None.")
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InvalidInputError(
            f"{splitter} needs one class label for each sample; got y of shape {labels.shape}."
        )
    if labels.dtype.kind == "f" and not np.all(np.mod(labels, 1) == 0):
        raise InvalidInputError(
            f"{splitter} needs class labels; got continuous y of type {labels.dtype} (or NaN in "
            "it). Pass integers or names."
        )
    try:
        return labels, np.unique(labels)
    except TypeError as error:
        raise InvalidInputError(
            f"{splitter} needs class labels of one kind that can be sorted; y mixes kinds "
            f"({error}). Pass all integers or all names."
        ) from error
