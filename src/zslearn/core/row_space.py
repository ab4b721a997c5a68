"""Fewer samples than features: an exact change to as many coordinates as there are samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas, lapack

Matrix = Any  # dense array or scipy sparse, one row per sample
_EPS = float(np.finfo(np.float64).eps)


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


def subset_coordinates(
    K: NDArray, rows: NDArray[np.intp], others: NDArray[np.intp]
) -> tuple[NDArray, NDArray] | None:
    """Return coordinates of some rows, and of others, in the space that the former span.

    With ``K = X Xᵀ`` and the Cholesky factor ``K[rows, rows] = L Lᵀ`` the rows of L are the former,
    and ``L⁻¹ K[rows, others]`` are the latter as columns, less what is orthogonal to that space.
    All inner products with vectors in that space are those of the rows of X.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Inner products of all samples.
    rows, others : ndarrays of int
        The two parts.

    Returns
    -------
    tuple of ndarrays of shape (n_rows, n_rows) and (n_others, n_rows), or None
        None if the rows are linearly dependent to rounding.
    """
    inner = K[np.ix_(rows, rows)]
    largest = inner.diagonal().max()
    # The transpose of a symmetric matrix is laid out as LAPACK wants it: no slow copy is made.
    L, failed = lapack.dpotrf(inner.T, lower=1, clean=1, overwrite_a=1)
    if failed or L.diagonal().min() ** 2 <= len(rows) * _EPS * largest:
        return None
    return L, blas.dtrsm(1.0, L, K[np.ix_(others, rows)].T, lower=1, overwrite_b=1).T


def triangle_gram(L: NDArray) -> NDArray:
    """Return ``LᵀL`` of a lower triangular L, for a sixth of the cost of a product.

    Examples
    --------
    >>> import numpy as np
    >>> triangle_gram(np.array([[1.0, 0.0], [2.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    lower, _ = lapack.dlauum(L, lower=1)
    lower = np.tril(lower)
    return lower + np.tril(lower, -1).T


def reduced(X: Matrix) -> tuple[Matrix, NDArray | None]:
    """Return coordinates in the row space where there are fewer samples than features, and Q."""
    if X.shape[0] < X.shape[1] and not sparse.issparse(X):
        return row_space(X)
    return X, None
