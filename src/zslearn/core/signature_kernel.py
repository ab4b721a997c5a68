"""Gaussian kernels between signatures, and ridge regression with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zslearn.core.nearest import scores, unit_rows

Array = NDArray[np.float64]


def relative_distances(
    A: Array, B: Array, blocks: Sequence[slice], scales: Sequence[float]
) -> Array:
    """Squared distances between the unit rows of each block, divided by the block's scale.

    Parameters
    ----------
    A : ndarray of shape (n_a, n_dimensions)
        Signatures.
    B : ndarray of shape (n_b, n_dimensions)
        Signatures.
    blocks : sequence of slice
        Columns of each semantic space.
    scales : sequence of float
        What to divide the squared distances of each space by.

    Returns
    -------
    ndarray of shape (n_blocks, n_a, n_b)
    """
    parts = [
        -scores(unit_rows(A[:, block]), unit_rows(B[:, block]), "euclidean") / scale
        for block, scale in zip(blocks, scales, strict=True)
    ]
    return np.stack(parts)


def median_scales(S: Array, blocks: Sequence[slice]) -> list[float]:
    """Median squared distance between the signatures of different classes, for each block."""
    others = ~np.eye(len(S), dtype=bool)
    distances = relative_distances(S, S, blocks, [1.0] * len(blocks))
    medians = [float(np.median(block[others])) for block in distances]
    return [median if median > 0 else 1.0 for median in medians]


def gaussian_kernel(distances: Array, bandwidth: float) -> Array:
    """Mean over the semantic spaces of ``exp(-distance / bandwidth)``."""
    return np.exp(-distances / bandwidth).mean(axis=0)


def signed_root(S: Array) -> Array:
    """Return ``sign(s) √|s|``."""
    return np.sign(S) * np.sqrt(np.abs(S))


def ridge_weights(K: Array, k: Array, ridges: Array) -> Array:
    """Return ``k (K + γ I)⁻¹`` for every γ, by one decomposition of K.

    Parameters
    ----------
    K : ndarray of shape (n_known, n_known)
        Kernel among the classes learned from.
    k : ndarray of shape (n_new, n_known)
        Kernel of other classes against them.
    ridges : ndarray of shape (n_ridges,)
        Values of γ.

    Returns
    -------
    ndarray of shape (n_ridges, n_new, n_known)
    """
    e, U = np.linalg.eigh(K)
    rotated = k @ U
    return np.stack([(rotated / (np.maximum(e, 0.0) + ridge)) @ U.T for ridge in ridges])


@dataclass(frozen=True)
class SignatureKernels:
    """Kernels on signatures and, with two of them, on their signed square roots as well.

    Attributes
    ----------
    blocks : list of slice
        Columns of each semantic space.
    scales : ndarray of shape (2, n_blocks)
        Median squared distance of each space, of the signatures and of their roots.

    Examples
    --------
    >>> import numpy as np
    >>> kernels = SignatureKernels.of(np.array([[1.0, 0.0], [0.0, 1.0]]), [slice(None)])
    >>> S = np.array([[1.0, 0.0], [0.6, 0.8]])
    >>> kernels.between(S, S).kernel(1, 1.0).round(3)
    array([[1.  , 0.67],
           [0.67, 1.  ]])
    """

    blocks: list[slice]
    scales: Array

    @classmethod
    def of(cls, S: Array, blocks: list[slice]) -> SignatureKernels:
        """Measure the scales of signatures."""
        scales = [median_scales(rows, blocks) for rows in (S, signed_root(S))]
        return cls(blocks, np.array(scales))

    def between(self, A: Array, B: Array) -> SignatureDistances:
        """Return the distances between two lists of signatures, of shape (n, n_dimensions) each."""
        plain = relative_distances(A, B, self.blocks, self.scales[0])
        roots = relative_distances(signed_root(A), signed_root(B), self.blocks, self.scales[1])
        return SignatureDistances(np.stack([plain, roots]))


@dataclass(frozen=True)
class SignatureDistances:
    """Relative distances of signatures and of their roots, to make kernels of.

    Attributes
    ----------
    values : ndarray of shape (2, n_blocks, n_a, n_b)
    """

    values: Array

    def kernel(self, n_kernels: int, bandwidth: float) -> Array:
        """Return the mean of the kernels on signatures (1) or on signatures and roots (2)."""
        chosen = self.values[:n_kernels]
        return gaussian_kernel(chosen.reshape(-1, *chosen.shape[2:]), bandwidth)
