"""The space a deep autoencoder works in: features as they are, or the span of whitened means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zslearn.core.moments import Moments
from zslearn.core.nearest import unit_rows
from zslearn.core.rows import signed_power
from zslearn.core.whitening import WithinClassCovariance

# Directions in which class means differ by less than this share of the most are rounding.
_FLAT = 1e-6


@dataclass(frozen=True)
class FeatureSpace:
    """Features to the power of `power`, then centered and whitened if `whitening` is given.

    Of the whitened space only the span of the class means is kept. What is left out adds the same
    to the distances from all means, and a network that learns to tell classes apart would find
    differences of training samples there that say nothing about other classes.

    Attributes
    ----------
    power : float
        Exponent of ``sign(x)|x|^power``; rows are scaled to unit length again.
    feature_mean : ndarray of shape (n_features,) or None
        Mean of the class means, subtracted.
    whitening : ndarray of shape (n_features, n_directions) or None
        ``Σ(α)^(-1/2) V``, of the within-class covariance shrunk by α, with V a basis of the span
        of the centered class means after ``Σ(α)^(-1/2)``.
    signature_mean : ndarray of shape (n_dimensions,) or None
        Mean of the seen signatures, subtracted.
    unit : bool
        Whether rows have unit length after the power.
    """

    power: float = 1.0
    feature_mean: NDArray | None = None
    whitening: NDArray | None = None
    signature_mean: NDArray | None = None
    unit: bool = True

    @classmethod
    def of(
        cls,
        X: NDArray,
        y: NDArray[np.intp],
        S: NDArray,
        *,
        power: float,
        shrinkage: float | None,
        unit: bool,
    ) -> FeatureSpace:
        """Learn the space of training rows; no shrinkage means features as they are.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training rows.
        y : ndarray of shape (n_samples,)
            Class indices.
        S : ndarray of shape (n_classes, n_dimensions)
            Signatures of the classes.
        power : float
            Exponent.
        shrinkage : float or None
            α from 0 to 1, or None for no whitening.
        unit : bool
            Whether rows are scaled to unit length after the power.

        Returns
        -------
        FeatureSpace
        """
        plain = cls(power, unit=unit)
        if shrinkage is None:
            return plain
        moments = Moments.of(plain.features(X), y)
        covariance = WithinClassCovariance.of(moments)
        values, vectors = np.linalg.eigh(covariance.matrix)
        shrunk = (1.0 - shrinkage) * np.maximum(values, 0.0) + shrinkage * covariance.target
        # A direction without any variance stays out.
        root = np.sqrt(np.where(shrunk > 1e-12 * covariance.target, shrunk, np.inf))
        center = moments.class_means.mean(axis=0)
        white = (moments.class_means - center) @ vectors / root
        _, sizes, directions = np.linalg.svd(white, full_matrices=False)
        span = directions[sizes >= _FLAT * sizes[0]].T
        return cls(power, center, (vectors / root) @ span, S.mean(axis=0), unit)

    def features(self, X: NDArray) -> NDArray:
        """Rows in the space."""
        if self.power != 1.0:
            X = signed_power(X, self.power)
            X = unit_rows(X) if self.unit else X
        if self.whitening is None or self.feature_mean is None:
            return X
        return (X - self.feature_mean.astype(X.dtype)) @ self.whitening.astype(X.dtype)

    def signatures(self, S: NDArray) -> NDArray:
        """Signatures in the space."""
        return S if self.signature_mean is None else S - self.signature_mean.astype(S.dtype)
