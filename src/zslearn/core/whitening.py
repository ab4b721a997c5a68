"""Whitening by the within-class covariance, from moments, for every amount of shrinkage at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zslearn.core.moments import Moments

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WithinClassSpectrum:
    """Eigendecomposition of the within-class covariance ``Σ = V diag(w) Vᵀ``.

    Shrinking Σ towards ``target · I`` keeps V, so one decomposition serves every shrinkage.

    Attributes
    ----------
    V : ndarray of shape (n_features, n_features)
        Eigenvectors.
    w : ndarray of shape (n_features,)
        Eigenvalues, not negative.
    target : float
        Mean variance of a feature inside its class.
    """

    V: Array
    w: Array
    target: float

    @classmethod
    def of(cls, moments: Moments, n_features: int | None = None) -> WithinClassSpectrum:
        """Decompose the within-class covariance of the moments.

        Parameters
        ----------
        moments : Moments
            Of the training data.
        n_features : int, optional
            Number of features the target is an average over, if the moments are those of
            coordinates in a subspace.
        """
        scatter = within_class_scatter(moments)
        w, V = np.linalg.eigh(scatter / moments.n_samples)
        w = np.maximum(w, 0.0)
        target = float(w.sum()) / (n_features or len(w))
        if target <= 0.0:  # one sample a class: nothing is known of the spread
            return cls(V, np.ones_like(w), 1.0)
        return cls(V, w, target)

    def scale(self, shrinkage: float) -> Array:
        """Return the factor of each eigenvector: ``1 / sqrt((1 - α) w + α target)``."""
        return 1.0 / np.sqrt((1.0 - shrinkage) * self.w + shrinkage * self.target)


def within_class_scatter(moments: Moments) -> Array:
    """Return ``Σ (x - mean of its class)(x - mean of its class)ᵀ``."""
    weighted = moments.sums / np.sqrt(moments.counts)[:, None]
    return moments.gram - weighted.T @ weighted
