"""The classifier of the seen classes that posterior-based methods share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn.core.axes import Axes
from zslearn.core.logistic import LogisticModel, fit_logistic, logits
from zslearn.zero_shot.folds import positive


def fit_seen_classifier(
    Z: NDArray,
    y: NDArray[np.intp],
    axes: Axes,
    *,
    penalty: float,
    max_iter: int,
    verbose: bool = False,
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
        Iterations at most.
    verbose : bool, default=False
        Tell the progress on stderr.

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
        penalty=positive("penalty", penalty),
        max_iter=int(positive("max_iter", max_iter)),
        verbose=verbose,
    )


def seen_logits(model: Any, X: Any) -> NDArray:
    """Return logits of shape (n_samples, n_seen) from an estimator's `coef_` and `intercept_`."""
    if sparse.issparse(X):
        return np.asarray(X @ model.coef_.astype(X.dtype)) + model.intercept_.astype(X.dtype)
    return logits(X, model.coef_, model.intercept_)
