"""Fewer samples than features: an exact change to as many coordinates as there are samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas, lapack

Matrix = Any  # dense array or scipy sparse, one row per sample
_EPS = float(np.finfo(np.float64).eps)


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
    lower, _ = lapack.dlauum(L, lower=1)  # leaves the zeros above the diagonal
    gram = np.asarray(lower + lower.T)
    gram[np.diag_indices_from(gram)] = lower.diagonal()
    return gram


@dataclass(frozen=True)
class RowBasis:
    """Orthonormal basis Q of the row space, kept as Householder reflectors and never formed.

    Every linear solution lies in the row space of X, so solving with the coordinates Z in place of
    ``X = Z Qᵀ`` and lifting the solution afterwards is exact.

    Attributes
    ----------
    reflectors : ndarray of shape (n_features, n_samples)
        As LAPACK ``geqrf`` leaves them.
    tau : ndarray of shape (n_samples,)
        Their factors.
    """

    reflectors: NDArray
    tau: NDArray

    @classmethod
    def of(cls, X: NDArray) -> tuple[NDArray, RowBasis]:
        """Return the coordinates of the rows of X, (n_samples, n_samples), and the basis."""
        # The transpose of a matrix in C order is laid out as LAPACK wants it.
        packed = np.array(X, dtype=np.float64, order="C").T
        lwork = int(lapack.dgeqrf_lwork(*packed.shape)[0])
        packed, tau, _, _ = lapack.dgeqrf(packed, lwork=lwork, overwrite_a=1)
        return np.tril(packed[: len(X)].T), cls(packed, tau)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.reflectors)

    @property
    def vectors(self) -> NDArray:
        """The basis itself, of shape (n_samples, n_features)."""
        return self.lifted(np.eye(len(self.tau)))

    def lifted(self, coef: NDArray) -> NDArray:
        """Return coordinates as features, along the last axis.

        Parameters
        ----------
        coef : ndarray of shape (..., n_samples)
            Coordinates.

        Returns
        -------
        ndarray of shape (..., n_features)
        """
        flat = coef.reshape(-1, coef.shape[-1])
        columns = np.zeros((self.n_features, len(flat)), order="F")
        columns[: flat.shape[1]] = flat.T
        lwork = int(lapack.dormqr("L", "N", self.reflectors, self.tau, columns, -1)[1][0])
        found = lapack.dormqr("L", "N", self.reflectors, self.tau, columns, lwork, overwrite_c=1)
        return np.asarray(found[0].T.reshape(*coef.shape[:-1], -1))


def reduced(X: Matrix) -> tuple[Matrix, RowBasis | None]:
    """Return coordinates in the row space where there are fewer samples than features."""
    if X.shape[0] < X.shape[1] and not sparse.issparse(X):
        return RowBasis.of(X)
    return X, None
