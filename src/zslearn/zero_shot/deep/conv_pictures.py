"""What counts as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError


def as_pictures(X: Any) -> NDArray[np.float32]:
    """Return pictures as numbers between 0 and 1."""
    pictures = np.asarray(X)
    empty = pictures.ndim == 4 and 0 in pictures.shape[1:3]
    if pictures.ndim != 4 or pictures.shape[-1] != 3 or pictures.dtype.kind not in "uif" or empty:
        raise InvalidInputError(
            "pictures must be an array of numbers of shape (n, height, width, 3); got shape "
            f"{pictures.shape} of {pictures.dtype}."
        )
    if pictures.dtype == np.uint8:
        return pictures.astype(np.float32) / np.float32(255.0)
    pictures = pictures.astype(np.float32)
    if pictures.size and not (pictures.min() >= 0.0 and pictures.max() <= 1.0):
        raise InvalidInputError(
            "pictures must be uint8, or numbers between 0 and 1; got values from "
            f"{pictures.min():g} to {pictures.max():g}. Divide by the largest possible value."
        )
    return pictures
