"""Yes/no attributes of classes, and the Bayes rule of attribute-based classification."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = ("global", "attribute")
PRIORS = ("seen", None)
_CLIP = 1e-6


def thresholds(seen: NDArray, how: str) -> NDArray:
    """Return the value of each attribute above which a class has it, of shape (n_dimensions,).

    "global" is the mean of the whole matrix, "attribute" the mean of each column. Only seen
    classes are measured, so that adding a class changes no other.
    """
    if how == "global":
        return np.full(seen.shape[1], seen.mean())
    return seen.mean(axis=0)


def prior(B: NDArray, how: str | None) -> NDArray:
    """Share of seen classes with each attribute; 0.5 where all or none have it, or if None."""
    share = B.mean(axis=0) if how == "seen" else np.full(B.shape[1], 0.5)
    return np.where((share <= 0) | (share >= 1), 0.5, share)


def attribute_scores(P: NDArray, B: NDArray, pi: NDArray) -> NDArray:
    """Return ``Σ_m B_cm log(p_m / π_m) + (1 − B_cm) log((1 − p_m) / (1 − π_m))``.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_dimensions)
        Probability that the sample has each attribute; kept away from 0 and 1 by 1e-6.
    B : ndarray of shape (n_classes, n_dimensions)
        Zeros and ones.
    pi : ndarray of shape (n_dimensions,)
        Prior of each attribute.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    present, absent = _evidence(P, pi)
    return (present - absent) @ B.T + absent.sum(axis=1, keepdims=True)


def attribute_contributions(p: NDArray, b: NDArray, pi: NDArray) -> NDArray:
    """Terms of the sum in `attribute_scores` for one sample and one class, one per attribute."""
    present, absent = _evidence(p, pi)
    return np.where(b > 0, present, absent)


def _evidence(P: NDArray, pi: NDArray) -> tuple[NDArray, NDArray]:
    """``log(p / π)`` and ``log((1 − p) / (1 − π))``."""
    P = np.clip(P.astype(np.float64), _CLIP, 1.0 - _CLIP)
    return np.log(P / pi), np.log((1.0 - P) / (1.0 - pi))
