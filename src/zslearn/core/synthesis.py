"""Classifiers synthesised from phantom classes: similarities, losses and their minimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist
from scipy.special import softmax

Array = NDArray[Any]


def median_distance(S: Array) -> float:
    """Return the median distance between two rows; 1 if no two rows differ."""
    median = float(np.median(pdist(S))) if len(S) > 1 else 0.0
    return median if median > 0 else 1.0


def phantom_similarity(A: Array, B: Array, scale: float) -> NDArray[np.float64]:
    """Return softmax over phantoms r of −scale · ‖a_c − b_r‖².

    Parameters
    ----------
    A : ndarray of shape (n_classes, n_dimensions)
        Signatures of the classes.
    B : ndarray of shape (n_phantoms, n_dimensions)
        Coordinates of the phantom classes.
    scale : float
        How fast the similarity falls with the distance.

    Returns
    -------
    ndarray of shape (n_classes, n_phantoms)
        Rows sum to one.
    """
    return softmax(-scale * cdist(A, B, "sqeuclidean"), axis=1)


def one_versus_other(F: Array, y: NDArray[np.intp]) -> tuple[float, Array]:
    """Return the mean over samples and classes of [1 ∓ F]₊² and its gradient in F.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Scores; the true class should reach 1, the others −1.
    y : ndarray of shape (n_samples,)
        True class of each row.

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n_samples, n_classes)
    """
    target = np.full_like(F, -1.0)
    target[np.arange(len(y)), y] = 1.0
    hinge = np.maximum(0.0, 1.0 - target * F)
    return float((hinge * hinge).mean()), -2.0 / F.size * target * hinge


def minimize_classifiers(
    start: Array,
    X: Array,
    y: NDArray[np.intp],
    loss: Callable[[Array, NDArray[np.intp]], tuple[float, Array]],
    lam: float,
    mixing: Array | None = None,
    *,
    max_iter: int = 100,
) -> tuple[Array, int]:
    """Minimize loss(X Wᵀ) + (λ/2)‖W‖² over W, or over V with W = mixing · V, by L-BFGS.

    Parameters
    ----------
    start : ndarray of shape (n_classes or n_phantoms, n_features)
        Where to begin.
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        True class of each row.
    loss : callable
        ``loss(F, y)`` returns a value and its gradient in F.
    lam : float
        λ.
    mixing : ndarray of shape (n_classes, n_phantoms), optional
        Similarities of classes and phantoms.
    max_iter : int
        Maximum number of L-BFGS iterations.

    Returns
    -------
    solution : ndarray, shaped as `start`
        W or V.
    n_iter : int
        Iterations taken.
    """

    def objective(flat: Array) -> tuple[float, Array]:
        V = flat.reshape(start.shape)
        W = V if mixing is None else mixing @ V
        value, G = loss(X @ W.T.astype(X.dtype), y)
        gradient = (G.T @ X).astype(np.float64) + lam * W
        if mixing is not None:
            gradient = mixing.T @ gradient
        return value + lam / 2.0 * float(np.vdot(W, W)), gradient.ravel()

    flat = np.asarray(start, dtype=np.float64).ravel()
    # The loss is a mean, so its gradient is small: stop relative to where it starts.
    tolerance = 1e-4 * float(np.abs(objective(flat)[1]).max())
    options = {"maxiter": max_iter, "gtol": tolerance, "ftol": 1e-9, "maxls": 10}
    found = minimize(objective, flat, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(start.shape), int(found.nit)
