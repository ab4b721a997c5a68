"""Ranking losses on a table of scores, each with its gradient with respect to the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
