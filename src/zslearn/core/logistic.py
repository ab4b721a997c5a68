"""Logistic regression for many outputs at once, by a preconditioned L-BFGS.

The loss is ``mean_i ℓ(x_i W + b, y_i) + ½ penalty ‖W‖²`` with the cross-entropy of a softmax (one
class per sample) or of independent sigmoids (many yes/no targets per sample). Along the principal
axes of the features the Hessian is nearly ``curvature · g_j + penalty`` with the variance g_j, so
each axis is scaled by its root: tens of iterations are enough where plain L-BFGS needs hundreds on
correlated features. The axes are found once and serve every fit on rows of the same data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit

Array = NDArray[np.float64]
Loss = Callable[[NDArray], tuple[float, NDArray]]
Progress = Callable[[int, float], None]  # takes the iteration and its loss

# The intercept is practically free; a tiny penalty keeps its optimum finite.
_INTERCEPT_PENALTY = 1e-8


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
        # The smaller of the two Gram matrices has the same positive eigenvalues.
        wide = n < d
        gram = np.asarray(
            centered @ centered.T if wide else centered.T @ centered, dtype=np.float64
        )
        values, vectors = np.linalg.eigh(gram)
        order = np.argsort(-values)
        order = order[values[order] > max(values[-1], 0.0) * 1e-10]
        rotation = vectors[:, order]
        if wide:  # left singular vectors to right ones: v = Xᵀ u / σ
            rotation = centered.T @ rotation / np.sqrt(values[order])
        total = float(np.einsum("ij,ij->", X, X, dtype=np.float64)) / n
        return cls(mean, rotation, values[order] / n, total or 1.0)

    def restricted(self, n_axes: int) -> Axes:
        """Return the first axes only."""
        return Axes(self.mean, self.rotation[:, :n_axes], self.variance[:n_axes], self.scale)

    def coordinates(self, X: NDArray) -> NDArray:
        """Return the coordinates of the rows of X, of shape (n_samples, n_axes)."""
        return (X - self.mean.astype(X.dtype)) @ self.rotation.astype(X.dtype)


@dataclass(frozen=True)
class LogisticModel:
    """Weights of shape (n_features, n_outputs) and an intercept for each output.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_outputs)
        W.
    intercept : ndarray of shape (n_outputs,)
        b.
    n_iter : int
        Iterations of L-BFGS.
    """

    coef: Array
    intercept: Array
    n_iter: int = 0

    def logits(self, X: NDArray) -> NDArray:
        """Return ``X W + b``, of shape (n_samples, n_outputs), in the precision of X."""
        return logits(X, self.coef, self.intercept)

    def probabilities(self, X: NDArray) -> NDArray:
        """Return the probability of each of independent yes/no outputs."""
        return np.asarray(expit(self.logits(X)))

    def in_features(self, axes: Axes) -> LogisticModel:
        """Return a model on coordinates as a model on the features themselves."""
        # (x − mean) R W + b = x (R W) + (b − mean R W)
        coef = axes.rotation @ self.coef
        return LogisticModel(coef, self.intercept - axes.mean @ coef, self.n_iter)


def logits(X: NDArray, coef: Array, intercept: Array) -> NDArray:
    """Return ``X W + b`` in the precision of X."""
    scores: NDArray = X @ coef.astype(X.dtype) + intercept.astype(X.dtype)
    return scores


def fit_logistic(
    Z: NDArray,
    targets: NDArray,
    kind: Literal["softmax", "sigmoid"],
    axes: Axes,
    *,
    penalty: float,
    max_iter: int = 50,
    tol: float = 1e-6,
    progress: Progress | None = None,
) -> LogisticModel:
    """Fit all outputs together, on coordinates along principal axes.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_axes)
        Coordinates of the samples; products are formed in their precision, parameters are kept
        in float64.
    targets : ndarray
        Class indices 0 .. n_outputs - 1 of shape (n_samples,) for "softmax"; zeros and ones of
        shape (n_samples, n_outputs) for "sigmoid".
    kind : {"softmax", "sigmoid"}
        The loss.
    axes : Axes
        The axes, computed from these samples or from more.
    penalty : float
        Weight of ``½ ‖W‖²`` in units of the mean squared length of a sample, so that scaling the
        features changes nothing.
    max_iter : int, default=50
        Maximum number of iterations; stopping early is a mild extra penalty.
    tol : float, default=1e-6
        Relative decrease of the loss at which to stop.
    progress : callable, optional
        Called as ``progress(iteration, loss)`` after each iteration.

    Returns
    -------
    LogisticModel
        On coordinates; `LogisticModel.in_features` converts it to the features.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> axes = Axes.of(X)
    >>> y = np.array([0, 0, 1, 1])
    >>> model = fit_logistic(axes.coordinates(X), y, "softmax", axes, penalty=0.01)
    >>> model.in_features(axes).logits(X).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    softmax = kind == "softmax"
    n_outputs = int(targets.max()) + 1 if softmax else targets.shape[1]
    loss = softmax_loss(targets) if softmax else sigmoid_loss(targets.astype(Z.dtype))
    weight = penalty * axes.scale
    # Mean curvature of an output: about 1 / n_outputs for a softmax, whose p (1 − p) sum to less
    # than one; for sigmoids half of p (1 − p) = 1/4, since they move away from p = 1/2.
    scaling = np.sqrt((1.0 / n_outputs if softmax else 0.125) * axes.variance + weight)
    objective = Objective(Z, loss, weight, scaling)
    shape = (Z.shape[1] + 1, n_outputs)
    result = minimize(
        lambda v: objective(v.reshape(shape)),
        np.zeros(shape[0] * shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 2 * max_iter + 10, "ftol": tol, "gtol": 1e-7},
        callback=None if progress is None else _counted(progress),
    )
    weights = objective.weights(result.x.reshape(shape))
    return LogisticModel(weights[:-1].copy(), weights[-1].copy(), int(result.nit))


@dataclass(frozen=True)
class Objective:
    """The penalized loss as a function of the scaled variable.

    Attributes
    ----------
    Z : ndarray of shape (n_samples, n_axes)
        Coordinates.
    loss : callable
        Value and gradient as a function of logits.
    penalty : float
        Weight of ``½ ‖W‖²``.
    scaling : ndarray of shape (n_axes,)
        The variable is W times this, row by row, with the intercept below.
    """

    Z: NDArray
    loss: Loss
    penalty: float
    scaling: Array

    def weights(self, V: Array) -> Array:
        """Return ``[W; b]``."""
        out = V.copy()
        out[:-1] /= self.scaling[:, None]
        return out

    def __call__(self, V: Array) -> tuple[float, Array]:
        """Return the value and the flattened gradient."""
        W = self.weights(V)
        value, G = self.loss(logits(self.Z, W[:-1], W[-1]))
        gradient = self.penalty * W
        gradient[-1] = _INTERCEPT_PENALTY * W[-1]
        value += 0.5 * float(np.sum(gradient * W))  # ½ (penalty ‖W‖² + tiny ‖b‖²)
        gradient[:-1] += self.Z.T @ G
        gradient[-1] += G.sum(axis=0, dtype=np.float64)
        gradient[:-1] /= self.scaling[:, None]
        return value, gradient.ravel()


def softmax_loss(y: NDArray[np.intp]) -> Loss:
    """Return the mean cross-entropy of a softmax, and its gradient, as a function of logits."""
    rows = np.arange(len(y))

    def loss(Z: NDArray) -> tuple[float, NDArray]:
        Z = Z - Z.max(axis=1, keepdims=True)
        own = Z[rows, y]
        P = np.exp(Z, out=Z)
        total = P.sum(axis=1)
        value = float(np.mean(np.log(total) - own, dtype=np.float64))
        # ∂ℓ/∂Z = softmax(Z) − one-hot(y)
        P /= total[:, None]
        P[rows, y] -= 1.0
        return value, P / np.asarray(len(y), dtype=P.dtype)

    return loss


def sigmoid_loss(targets: NDArray) -> Loss:
    """Return the cross-entropy summed over yes/no targets (0 or 1), averaged over samples."""
    n = len(targets)

    def loss(Z: NDArray) -> tuple[float, NDArray]:
        # log(1 + eᶻ) − t z, written so that neither sign of z overflows.
        value = np.maximum(Z, 0) - Z * targets + np.log1p(np.exp(-np.abs(Z)))
        gradient = (expit(Z) - targets) / np.asarray(n, dtype=Z.dtype)
        return float(value.sum(dtype=np.float64)) / n, gradient

    return loss


def _counted(progress: Progress) -> Callable[..., None]:
    """Make a callback of scipy's `minimize` that numbers the iterations."""
    numbers = itertools.count(1)

    def callback(intermediate_result: OptimizeResult) -> None:
        progress(next(numbers), float(intermediate_result.fun))

    return callback
