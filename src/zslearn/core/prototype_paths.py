"""Accuracy of nearest predicted prototypes in whitened spaces, for every setting at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.moments import Moments
from zslearn.core.paths import mean_recall
from zslearn.core.whitening import WithinClassCovariance


def prototype_accuracy(
    train: Moments,
    covariance: WithinClassCovariance,
    held_out: tuple[Any, NDArray[np.intp], NDArray | None],
    shrinkages: Sequence[float],
    regressions: Sequence[NDArray],
) -> NDArray[np.float64]:
    """Per-class accuracy for every shrinkage and every regression of prototypes.

    Parameters
    ----------
    train : Moments
        Of the classes learned from.
    covariance : WithinClassCovariance
        Of these moments.
    held_out : tuple of array of shape (n_samples, n_features) and two of shape (n_samples,)
        Samples of other classes, the position of each one's class, and its weight; None in place of
        the weights where all count the same.
    shrinkages : sequence of float
        Amounts of shrinkage of the within-class covariance.
    regressions : sequence of ndarray of shape (n_held_out_classes, n_classes)
        Weights of the training means in the prototype of each other class.

    Returns
    -------
    ndarray of shape (n_shrinkages, n_regressions)
    """
    X, truth, weights = held_out
    means = train.class_means
    center = means.mean(axis=0)
    M = means - center
    solved = covariance.solved(M, shrinkages)
    hits = np.empty((len(shrinkages), len(regressions)))
    for i, whitened in enumerate(solved):
        products, gram = np.asarray(X @ whitened.T) - center @ whitened.T, M @ whitened.T
        for j, B in enumerate(regressions):
            squared = np.sum((B @ gram) * B, axis=1)
            guess = (products @ B.T - 0.5 * squared).argmax(axis=1)
            hits[i, j] = mean_recall(guess == truth, truth, weights)
    return hits
