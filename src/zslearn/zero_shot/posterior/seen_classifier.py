"""The classifier of the seen classes that posterior-based methods share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn._progress import report
from zslearn.core.logistic import Axes, LogisticModel, Progress, fit_logistic, logits


def fit_seen_classifier(
    Z: NDArray,
    y: NDArray[np.intp],
    axes: Axes,
    *,
    penalty: float,
    max_iter: int,
    progress: Progress | None = None,
) -> LogisticModel:
    """Fit multinomial logistic regression on class indices.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_axes)
        Normalized features, as coordinates along `axes`.
    y : ndarray of shape (n_samples,)
        Class indices 0 .. n_seen - 1, each present.
    axes : Axes
        Principal axes of the features.
    penalty : float
        See `zslearn.core.logistic.fit_logistic`.
    max_iter : int
        Maximum number of iterations.
    progress : callable, optional
        Called with the number and the loss of each iteration.

    Returns
    -------
    LogisticModel
        On coordinates.
    """
    return fit_logistic(
        Z,
        y,
        "softmax",
        axes,
        penalty=penalty,
        max_iter=max_iter,
        progress=progress,
    )


def iteration_lines(estimator: Any) -> Progress | None:
    """Lines about every tenth iteration, from verbose=2 on."""
    if estimator.verbose < 2:
        return None
    name = type(estimator).__name__
    return lambda i, loss: report(i % 10 == 0, f"[{name}] iteration {i}: loss {loss:.5f}")


def forget_logistic(model: Any) -> None:
    """Remove the logistic regression of an earlier fit."""
    for name in ("coef_", "intercept_", "n_iter_"):
        vars(model).pop(name, None)


def seen_logits(model: Any, X: Any) -> NDArray:
    """Return logits of shape (n_samples, n_seen) from an estimator's `coef_` and `intercept_`."""
    if sparse.issparse(X):
        return np.asarray(X @ model.coef_.astype(X.dtype)) + model.intercept_.astype(X.dtype)
    return logits(X, model.coef_, model.intercept_)
