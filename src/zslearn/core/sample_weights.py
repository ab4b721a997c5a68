"""Weights of samples: a sample of weight 2 counts as two samples, one of weight 0 as none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.core.lazy_rows import LazyRows
from zslearn.exceptions import InvalidInputError

Matrix = Any  # dense array, scipy sparse or LazyRows, one row per sample


def checked_weights(sample_weight: ArrayLike, n_samples: int) -> NDArray[np.float64]:
    """Return weights as numbers, or say what is wrong with them.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,)
        Non-negative weights, not all of them zero.
    n_samples : int
        How many there must be.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> checked_weights([1, 2], 2)
    array([1., 2.])
    """
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"sample_weight must hold numbers ({error}).") from error
    if weights.shape != (n_samples,) or not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise InvalidInputError(
            f"sample_weight must hold {n_samples} finite, non-negative numbers, one per sample; "
            f"got shape {weights.shape}{_extremes(weights)}."
        )
    if n_samples and not weights.any():
        raise InvalidInputError(
            "sample_weight holds zeros only, so there are no samples; give some a positive weight."
        )
    return weights


def without_weightless(
    X: Matrix, labels: NDArray, weights: NDArray[np.float64]
) -> tuple[Matrix, NDArray, NDArray[np.float64]]:
    """Return rows, labels and weights without the samples of weight 0.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(3), np.array(["cat", "dog", "cat"])
    >>> without_weightless(X, y, np.array([1.0, 0.0, 2.0]))[1].tolist()
    ['cat', 'cat']
    """
    kept = np.flatnonzero(weights)
    if len(kept) == len(weights):
        return X, labels, weights
    rows = X.taken(kept) if isinstance(X, LazyRows) else X[kept]
    return rows, labels[kept], weights[kept]


def _extremes(weights: NDArray[np.float64]) -> str:
    """Smallest and largest weight, for a message."""
    return f" from {weights.min()} to {weights.max()}" if weights.size else ""
