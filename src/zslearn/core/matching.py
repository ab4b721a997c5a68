"""Losses on the scores of matching and mismatching pairs, each with its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[Any]


def pair_targets(F: Array, y: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the targets ±1 of every (sample, class) pair, and their weights.

    A sample's matching pair weighs as much as its mismatching pairs together, and the weights of
    a sample sum to one, so the loss is that of balanced pairs.
    """
    target = np.full_like(F, -1.0)
    target[np.arange(len(y)), y] = 1.0
    others = max(F.shape[1] - 1, 1)
    weights = np.where(target > 0, 0.5, 0.5 / others).astype(F.dtype)
    return target, weights


def logistic_pairs(F: Array, y: NDArray[np.intp]) -> tuple[float, Array]:
    """Return the mean over samples of Σ_c ω_c log(1 + exp(−t_c F_c)) and its gradient in F.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Scores.
    y : ndarray of shape (n_samples,)
        True class of each row.

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> loss, gradient = logistic_pairs(np.zeros((1, 2)), np.array([0]))
    >>> round(loss, 4), gradient.tolist()
    (0.6931, [[-0.25, 0.25]])
    """
    target, weights = pair_targets(F, y)
    loss = float((weights * np.logaddexp(0.0, -target * F)).sum() / len(y))
    return loss, (-weights * target * expit(-target * F) / len(y)).astype(F.dtype)


def hinge_pairs(F: Array, y: NDArray[np.intp]) -> tuple[float, Array]:
    """Return the mean over samples of Σ_c ω_c [1 − t_c F_c]₊ and its gradient in F.

    Parameters and results are those of `logistic_pairs`.
    """
    target, weights = pair_targets(F, y)
    hinge = np.maximum(0.0, 1.0 - target * F)
    return float((weights * hinge).sum() / len(y)), -weights * target * (hinge > 0) / len(y)


def squared_pairs(F: Array, y: NDArray[np.intp]) -> tuple[float, Array]:
    """Return the mean over samples of Σ_c ω_c (F_c − t_c)² and its gradient in F.

    Parameters and results are those of `logistic_pairs`.
    """
    target, weights = pair_targets(F, y)
    gap = F - target
    return float((weights * gap * gap).sum() / len(y)), 2.0 * weights * gap / len(y)


def contrastive_pairs(D: Array, y: NDArray[np.intp], margin: float) -> tuple[float, Array]:
    """Return the mean over samples of ω_y D_y + Σ_{c ≠ y} ω_c [γ − D_c]₊ and its gradient in D.

    D holds squared distances and γ is `margin`; otherwise as `logistic_pairs`.
    """
    target, weights = pair_targets(D, y)
    match = target > 0
    near = np.maximum(0.0, margin - D)
    loss = float((weights * np.where(match, D, near)).sum() / len(y))
    return loss, weights * np.where(match, 1.0, np.where(near > 0, -1.0, 0.0)).astype(
        D.dtype
    ) / len(y)
