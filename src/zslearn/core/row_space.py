"""Fewer samples than features: an exact change to as many coordinates as there are samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Matrix = Any  # dense array or scipy sparse, one row a sample


def row_space(X: NDArray) -> tuple[NDArray, NDArray]:
    """Return coordinates Z and an orthonormal basis Q with ``X = Z Qᵀ``.

    Every linear solution lies in the row space of X, so solving with Z in place of X and
    multiplying by Qᵀ afterwards is exact.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features with n_samples < n_features.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_samples)
    Q : ndarray of shape (n_features, n_samples)
    """
    Q, R = np.linalg.qr(X.T.astype(np.float64))
    return R.T, Q


def reduced(X: Matrix) -> tuple[Matrix, NDArray | None]:
    """Return coordinates in the row space where there are fewer samples than features, and Q."""
    if X.shape[0] < X.shape[1] and not sparse.issparse(X):
        return row_space(X)
    return X, None
