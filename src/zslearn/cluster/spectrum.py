"""Small symmetric eigenproblems that several mappings share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def symmetric_power(M: NDArray, exponent: float) -> NDArray:
    """Power of a positive semi-definite matrix; its null space stays null."""
    values, vectors = np.linalg.eigh(M)
    kept = values > len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    return (vectors[:, kept] * values[kept] ** exponent) @ vectors[:, kept].T


def metric_factor(M: NDArray) -> NDArray:
    """Return L with ``LᵀL`` the positive part of M, strongest direction first."""
    values, vectors = np.linalg.eigh(M)
    kept = np.flatnonzero(values > len(values) * np.finfo(float).eps * np.abs(values).max())[::-1]
    if len(kept) == 0:
        return np.zeros((1, len(M)))
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T


def ridged(M: NDArray, amount: float) -> NDArray:
    """Add `amount` times the mean of the diagonal to the diagonal."""
    return M + amount * np.trace(M) / len(M) * np.eye(len(M))
