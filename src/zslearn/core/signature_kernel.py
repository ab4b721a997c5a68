"""Gaussian kernel between signatures, with each semantic space on its own scale."""

from __future__ import annotations

from collections.abc import Sequence

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
