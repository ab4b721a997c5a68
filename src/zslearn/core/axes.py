"""Principal axes of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Axes:
    """Principal axes of features: a change of variable in which fits converge fast.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Origin of the coordinates.
    rotation : ndarray of shape (n_features, n_axes)
        Orthonormal axes, largest variance first; those without variance are left out.
    variance : ndarray of shape (n_axes,)
        Mean squared coordinate along each axis.
    scale : float
        Mean squared length of a sample, the unit of penalties.
    """

    mean: Array
    rotation: Array
    variance: Array
    scale: float

    @classmethod
    def of(cls, X: NDArray) -> Axes:
        """Find the axes of the rows of X."""
        n, d = X.shape
        mean = X.mean(axis=0, dtype=np.float64)
        centered = X - mean.astype(X.dtype)
        wide = n < d
        gram = np.asarray(
            centered @ centered.T if wide else centered.T @ centered, dtype=np.float64
        )
        values, vectors = np.linalg.eigh(gram)
        order = np.argsort(-values)
        order = order[values[order] > max(values[-1], 0.0) * 1e-10]
        rotation = vectors[:, order]
        if wide:
            rotation = centered.T @ rotation / np.sqrt(values[order])
        total = float(np.einsum("ij,ij->", X, X, dtype=np.float64)) / n
        return cls(mean, rotation, values[order] / n, total or 1.0)

    def restricted(self, n_axes: int) -> Axes:
        """Return the first axes only."""
        return Axes(self.mean, self.rotation[:, :n_axes], self.variance[:n_axes], self.scale)

    def coordinates(self, X: NDArray) -> NDArray:
        """Return the coordinates of the rows of X, of shape (n_samples, n_axes)."""
        return (X - self.mean.astype(X.dtype)) @ self.rotation.astype(X.dtype)
