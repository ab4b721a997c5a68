"""Fewer samples than features: an exact change to as many coordinates as there are samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
