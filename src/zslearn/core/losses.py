"""Losses of a table of scores, each with its gradient with respect to the scores.

Ranking losses want the true class of a sample above the others by a margin (SJE, ALE, DeViSE);
matching losses treat every pair of a sample and a class as one that fits or does not, as networks
with two inputs are trained.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[Any]
ScoreLoss = Callable[[Array, NDArray[np.intp], Any], tuple[float, Array]]


def violations(F: Array, y: NDArray[np.intp], margin: float | Array) -> Array:
    """Return Δ + F(x, c) − F(x, y), with 0 at the true class.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Scores.
    y : ndarray of shape (n_samples,)
        True class of each row.
    margin : float or ndarray of shape (n_classes, n_classes)
        Δ, or Δ of each true class (row) and other class (column).

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    rows = np.arange(len(y))
    wanted = margin if np.isscalar(margin) else np.asarray(margin)[y]
    gaps = F - F[rows, y][:, None] + wanted
    gaps[rows, y] = 0.0
    return gaps.astype(F.dtype, copy=False)


def structured_hinge(
    F: Array, y: NDArray[np.intp], margin: float | Array = 1.0
) -> tuple[float, Array]:
    """Return the mean over samples of max_c [Δ + F(x, c) − F(x, y)]₊ and its gradient.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Scores.
    y : ndarray of shape (n_samples,)
        True class of each row.
    margin : float or ndarray of shape (n_classes, n_classes), default=1.0
        See `violations`.

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n_samples, n_classes)
        With respect to F.

    Examples
    --------
    >>> import numpy as np
    >>> structured_hinge(np.array([[0.0, 0.5, -2.0]]), np.array([0]))
    (1.5, array([[-1.,  1.,  0.]]))
    """
    gaps = violations(F, y, margin)
    rows = np.arange(len(y))
    worst = gaps.argmax(axis=1)
    hinge = gaps[rows, worst]
    # A subgradient: the worst class gets +1 where it violates the margin, the true class −1.
    weights = np.zeros_like(F)
    weights[rows, worst] = hinge > 0
    return float(hinge.mean()), _from_weights(weights, y)


def hinge_sum(F: Array, y: NDArray[np.intp], margin: float | Array = 1.0) -> tuple[float, Array]:
    """Return the mean over samples of Σ_c [Δ + F(x, c) − F(x, y)]₊ / n_classes and its gradient.

    Parameters and results are those of `structured_hinge`.
    """
    gaps = violations(F, y, margin)
    weights = (gaps > 0).astype(F.dtype) / F.shape[1]
    return float(np.maximum(gaps, 0.0).sum() / F.size), _from_weights(weights, y)


def warp_loss(F: Array, y: NDArray[np.intp], margin: float | Array = 1.0) -> tuple[float, Array]:
    """Return the mean over samples of (β_r / r) Σ_c [Δ + F(x, c) − F(x, y)]₊ and its gradient.

    r is the number of classes that violate the margin and β_r = Σ_{i ≤ r} 1/i: the weighted
    ranking objective of Usunier, Buffoni and Gallinari (ICML 2009) that WSABIE and ALE sample.
    Parameters and results are those of `structured_hinge`.
    """
    gaps = violations(F, y, margin)
    violated = (gaps > 0).astype(F.dtype)
    weights = violated * warp_weights(violated.sum(axis=1).astype(np.intp), F.shape[1])[:, None]
    return float((weights * gaps).sum() / len(y)), _from_weights(weights.astype(F.dtype), y)


def warp_weights(ranks: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Return β_r / r of each rank r, with 0 for r = 0.

    Examples
    --------
    >>> import numpy as np
    >>> warp_weights(np.array([0, 1, 2]), 3)
    array([0.  , 1.  , 0.75])
    """
    # β_r / r is the mean of 1, 1/2, …, 1/r.
    numbers = np.arange(1, n_classes + 1)
    means = np.concatenate([[0.0], np.cumsum(1.0 / numbers) / numbers])
    return means[ranks]


def symmetric_hinge(
    F: Array, y: NDArray[np.intp], margin: float | Array = 1.0
) -> tuple[float, Array]:
    """Return the mean hinge over wrong classes of a sample and over wrong samples of a class.

    Half of the loss is `hinge_sum`; the other half compares, for the class y of every sample x, the
    score F(x, y) with F(x', y) of the batch's samples x' of other classes (Reed et al., CVPR 2016).
    Parameters and results are those of `structured_hinge`; the margin must be a number.
    """
    loss, gradient = hinge_sum(F, y, margin)
    other = (F[:, y].T - F[np.arange(len(y)), y][:, None]) + margin  # [i, j]: F(x_j, y_i) − ...
    other[y[:, None] == y] = 0.0
    violated = (other > 0).astype(F.dtype) / len(y)
    one_hot = np.zeros_like(F)
    one_hot[np.arange(len(y)), y] = 1.0
    mirror = violated.T @ one_hot  # class y_i gets violated[i, j] at sample j
    mirror[np.arange(len(y)), y] -= violated.sum(axis=1)
    mirror /= len(y)
    mean = float(np.maximum(other, 0.0).mean())
    return (loss + mean) / 2.0, ((gradient + mirror) / 2.0).astype(F.dtype)


def _from_weights(weights: Array, y: NDArray[np.intp]) -> Array:
    """Gradient of Σ_c w_c (F_c − F_y), averaged over the samples."""
    weights[np.arange(len(y)), y] = 0.0
    weights[np.arange(len(y)), y] = -weights.sum(axis=1)
    return np.asarray(weights / len(y), dtype=weights.dtype)


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
    # ∂ log(1 + exp(−t F)) / ∂F = −t / (1 + exp(t F))
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
    # A match is pulled with slope 1; a mismatch is pushed as long as it is nearer than γ.
    slope = np.where(match, 1.0, np.where(near > 0, -1.0, 0.0)).astype(D.dtype)
    return loss, weights * slope / len(y)
