"""Gaussian naive Bayes for all attributes at once: two matrix products in place of many fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB


def is_plain_bayes(classifier: Any) -> bool:
    """Say whether a classifier is scikit-learn's Gaussian naive Bayes with priors from the data."""
    return type(classifier) is GaussianNB and classifier.priors is None


def fit_naive_bayes(
    classifier: GaussianNB, X: NDArray, targets: NDArray
) -> list[GaussianNB | None]:
    """Return what scikit-learn would fit for each column of targets, found in one pass.

    Parameters
    ----------
    classifier : GaussianNB
        Whose `var_smoothing` is taken.
    X : ndarray of shape (n_samples, n_features)
        Features.
    targets : ndarray of shape (n_samples, n_dimensions)
        Zeros and ones.

    Returns
    -------
    list of GaussianNB or None
        Fitted, with the means and variances of both sides; None for a column of one value.
    """
    n, middle = len(X), X.mean(axis=0, dtype=np.float64)
    centered = X - middle
    squares = centered**2
    least = classifier.var_smoothing * float(squares.mean(axis=0).max())
    T = targets.astype(np.float64)
    # Both sides of an attribute: those that have it, and all the others.
    have, total = T.sum(axis=0), centered.sum(axis=0)
    sums = np.stack([total - T.T @ centered, T.T @ centered], axis=1)
    square_sums = T.T @ squares
    square_sums = np.stack([squares.sum(axis=0) - square_sums, square_sums], axis=1)
    counts = np.stack([n - have, have], axis=1)
    means = sums / np.maximum(counts, 1.0)[:, :, None]
    variances = np.maximum(square_sums / np.maximum(counts, 1.0)[:, :, None] - means**2, 0.0)
    return [
        _fitted(classifier, count, mean + middle, variance + least, least) if count.all() else None
        for count, mean, variance in zip(counts, means, variances, strict=True)
    ]


def naive_bayes_probabilities(fitted: Sequence[GaussianNB], X: NDArray) -> NDArray:
    """Return the probability of each attribute, of shape (n_samples, n_dimensions).

    The logarithm of the odds is a quadratic function of the features without products:
    ``log(π₁/π₀) − ½ Σ log(v₁/v₀) − ½ Σ ((x − m₁)²/v₁ − (x − m₀)²/v₀)``.
    """
    means, variances = (np.stack([getattr(m, name) for m in fitted]) for name in ("theta_", "var_"))
    priors = np.stack([m.class_prior_ for m in fitted])
    middle = means.mean(axis=(0, 1))
    means, centered = means - middle, X - middle
    sign = np.array([-0.5, 0.5])[None, :, None]
    quadratic = -(sign / variances).sum(axis=1)
    linear = (2.0 * sign * means / variances).sum(axis=1)
    constant = -(sign * (means**2 / variances + np.log(variances))).sum(axis=(1, 2))
    odds = centered**2 @ quadratic.T + centered @ linear.T + constant
    return np.asarray(expit(odds + np.log(priors[:, 1] / priors[:, 0])))


def _fitted(
    classifier: GaussianNB, counts: NDArray, means: NDArray, variances: NDArray, least: float
) -> GaussianNB:
    """Return a fitted GaussianNB of two classes, 0 and 1."""
    model = clone(classifier)
    model.classes_, model.n_features_in_ = np.array([0, 1]), means.shape[1]
    model.theta_, model.var_, model.epsilon_ = means, variances, least
    model.class_count_, model.class_prior_ = counts, counts / counts.sum()
    return model
