"""Whitening by the within-class covariance, from moments, for every amount of shrinkage at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from zslearn.core.moments import Moments
from zslearn.core.sylvester import Tridiagonal

Array = NDArray[np.float64]

# Below this a singular covariance is too ill-conditioned for anything but its eigenvectors.
_SAFE_SHRINKAGE = 1e-6


@dataclass(frozen=True)
class WithinClassCovariance:
    """Covariance Σ of samples about the mean of their class, to be shrunk towards a multiple of I.

    Whitened by ``Σ(α) = (1 - α) Σ + α · target · I`` the inner product of two vectors is
    ``x Σ(α)⁻¹ y``, so nothing but solutions of linear equations is ever needed.

    Attributes
    ----------
    matrix : ndarray of shape (n_features, n_features)
        Σ.
    target : float
        Mean variance of a feature inside its class.

    Examples
    --------
    >>> import numpy as np
    >>> covariance = WithinClassCovariance(np.diag([1.0, 3.0]), 2.0)
    >>> covariance.solved(np.array([[4.0, 4.0]]), [0.0, 1.0])
    array([[[4.        , 1.33333333]],
    <BLANKLINE>
           [[2.        , 2.        ]]])
    """

    matrix: Array
    target: float

    @classmethod
    def of(cls, moments: Moments, n_features: int | None = None) -> WithinClassCovariance:
        """Compute the within-class covariance of the moments.

        Parameters
        ----------
        moments : Moments
            Of the training data.
        n_features : int, optional
            Number of features the target is an average over, if the moments are those of
            coordinates in a subspace.
        """
        matrix = within_class_scatter(moments) / moments.n_samples
        target = float(np.trace(matrix)) / (n_features or len(matrix))
        # Rounding leaves about this much of a scatter of zero.
        noise = np.finfo(np.float64).eps * float(np.trace(moments.gram)) / moments.n_samples
        if target * (n_features or len(matrix)) <= noise:  # nothing is known of the spread
            return cls(np.eye(len(matrix)), 1.0)
        return cls(matrix, target)

    def solved(self, rows: Array, shrinkages: Sequence[float]) -> Array:
        """Return ``rows Σ(α)⁻¹`` for every shrinkage α.

        Several values share one reduction to tridiagonal form; one takes a Cholesky factor.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Vectors.
        shrinkages : sequence of float
            Values of α between 0 and 1.

        Returns
        -------
        ndarray of shape (n_shrinkages, n_rows, n_features)
        """
        if min(shrinkages) < _SAFE_SHRINKAGE:
            return self._by_eigenvectors(rows, shrinkages)
        found = {1.0: rows / self.target}  # nothing is left of the covariance
        wanted = [shrinkage for shrinkage in shrinkages if shrinkage != 1.0]
        if len(wanted) < 2 or len(self.matrix) < 3:
            found |= {shrinkage: self._by_cholesky(rows, shrinkage) for shrinkage in wanted}
        else:
            found |= dict(zip(wanted, self._by_reduction(rows, wanted), strict=True))
        return np.stack([found[shrinkage] for shrinkage in shrinkages])

    def _by_reduction(self, rows: Array, shrinkages: Sequence[float]) -> Array:
        reduction = Tridiagonal.of(self.matrix)
        T = reduction.rotate(rows)
        parts = [reduction.solve_shifted(T, a * self.target, 1 - a) for a in shrinkages]
        return reduction.restore(np.concatenate(parts)).reshape(len(shrinkages), *rows.shape)

    def _by_cholesky(self, rows: Array, shrinkage: float) -> Array:
        matrix = (1.0 - shrinkage) * self.matrix
        matrix[np.diag_indices_from(matrix)] += shrinkage * self.target
        solved: Array = linalg.cho_solve(linalg.cho_factor(matrix, lower=True), rows.T).T
        return solved

    def _by_eigenvectors(self, rows: Array, shrinkages: Sequence[float]) -> Array:
        w, V = np.linalg.eigh(self.matrix)
        w, rotated = np.maximum(w, 0.0), rows @ V
        return np.stack([rotated / ((1.0 - a) * w + a * self.target) @ V.T for a in shrinkages])


def within_class_scatter(moments: Moments) -> Array:
    """Return ``Σ (x - mean of its class)(x - mean of its class)ᵀ``."""
    weighted = moments.sums / np.sqrt(moments.counts)[:, None]
    return moments.gram - weighted.T @ weighted
