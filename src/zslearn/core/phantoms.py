"""Coordinates of phantom classes, learned as sparse mixtures of the seen signatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from zslearn.core.synthesis import phantom_similarity

Array = NDArray[Any]


@dataclass(frozen=True)
class PhantomProblem:
    """The objective of SynC as a function of the coordinates of its phantoms.

    With classifiers V of the phantoms given, mixtures M put the phantoms at ``B = M A``, and
    ``W = S(B) V`` are the classifiers of the seen classes. The objective is (Changpinyo et al.)::

        loss(X Wᵀ) + (λ/2)‖W‖² + η Σ |M| + (κ/2) Σ_r (‖b_r‖² − h²)²

    with h² the mean squared length of the seen signatures.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        True class of each row.
    A : ndarray of shape (n_seen, n_dimensions)
        Signatures of the seen classes.
    loss : callable
        ``loss(F, y)`` returns a value and its gradient in F.
    lam, scale, sparsity, length : float
        λ, the sharpness of the similarity, η and κ.
    """

    X: Array
    y: NDArray[np.intp]
    A: Array
    loss: Callable[[Array, NDArray[np.intp]], tuple[float, Array]]
    lam: float
    scale: float
    sparsity: float
    length: float

    def value(self, M: Array, V: Array) -> tuple[float, Array]:
        """Return the objective without η Σ |M|, and its gradient in M."""
        B = M @ self.A
        S = phantom_similarity(self.A, B, self.scale)
        W = S @ V
        value, G = self.loss(self.X @ W.T.astype(self.X.dtype), self.y)
        excess = np.einsum("ij,ij->i", B, B) - float(np.mean(np.sum(self.A**2, axis=1)))
        total = value + self.lam / 2 * float(np.vdot(W, W)) + self.length / 2 * excess @ excess
        in_S = ((G.T @ self.X).astype(np.float64) + self.lam * W) @ V.T
        # S is a softmax of −scale · D with D the squared distances.
        in_D = -self.scale * S * (in_S - np.sum(S * in_S, axis=1, keepdims=True))
        in_B = 2 * (in_D.sum(axis=0)[:, None] * B - in_D.T @ self.A)
        in_B += 2 * self.length * excess[:, None] * B
        return float(total), in_B @ self.A.T

    def minimized(self, M: Array, V: Array, max_iter: int = 25) -> Array:
        """Return better mixtures, by L-BFGS on the positive and negative parts of M."""
        size = M.size

        def objective(parts: Array) -> tuple[float, Array]:
            value, gradient = self.value((parts[:size] - parts[size:]).reshape(M.shape), V)
            flat = gradient.ravel()
            both = np.concatenate([flat, -flat]) + self.sparsity
            return value + self.sparsity * float(parts.sum()), both

        start = np.concatenate([np.maximum(M, 0).ravel(), np.maximum(-M, 0).ravel()])
        found = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * (2 * size),
            options={"maxiter": max_iter},
        )
        best = np.asarray(found.x)
        return (best[:size] - best[size:]).reshape(M.shape)
