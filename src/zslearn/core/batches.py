"""Batches of labeled rows as users pass them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError


def checked_batch(
    batch: Any, number: int, n_features: int | None = None
) -> tuple[NDArray, NDArray]:
    """Return features and labels of a batch as arrays, or say what is wrong with it.

    Parameters
    ----------
    batch : sequence of two array-likes
        Features of shape (n_rows, n_features), and n_rows labels.
    number : int
        Which batch it is, for messages.
    n_features : int, optional
        Number of features of the earlier batches.
    """
    if not isinstance(batch, Sequence) or len(batch) != 2:
        raise InvalidInputError(
            f"batch {number} must be a pair (X, y); got {type(batch).__name__}."
        )
    X, y = np.asarray(batch[0]), np.asarray(batch[1])
    wanted = (X.shape[-1] if X.ndim else 0) if n_features is None else n_features
    if X.ndim != 2 or y.shape != (X.shape[0],) or X.shape[1] != wanted:
        raise InvalidInputError(
            f"batch {number} must hold features of shape (n, {wanted}) and n labels; got "
            f"{X.shape} and {y.shape}."
        )
    return X, y
