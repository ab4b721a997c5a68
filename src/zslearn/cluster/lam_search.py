"""Choosing λ of the one-hot semantic autoencoder by the loss on held-out training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from zslearn.cluster.kmeans import KMeansOptions, cluster_codes, mean_loss
from zslearn.cluster.statistics import Statistics
from zslearn.exceptions import InvalidInputError

# In units in which features have mean square 1, as standardized ones do.
LAM_GRID = np.logspace(-2, 4, 25)

Path = Callable[[Statistics, NDArray], NDArray]


@dataclass(frozen=True)
class SearchOptions:
    """How λ is searched.

    Attributes
    ----------
    cv : int
        Number of folds.
    n_init : int
        Starts of each k-means.
    by_class : bool
        Whether the path needs Gram matrices of each class.
    random_state : int
        Seed of folds and k-means.
    """

    cv: int = 3
    n_init: int = 5
    by_class: bool = False
    random_state: int = 0


def held_out_losses(
    X: NDArray,
    y: NDArray,
    groups: NDArray | None,
    path: Path,
    lams: NDArray,
    options: SearchOptions,
) -> NDArray:
    """Clustering loss of every λ on every fold.

    Each fold is left out by subtracting its statistics from those of all rows, its codes are
    clustered with k-means into as many clusters as there are classes, and the clusters are
    compared with its labels. With groups, folds keep groups whole and each is clustered by itself.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Classes.
    groups : ndarray of shape (n_samples,), optional
        Group of each row.
    path : callable
        Takes statistics and the λ, returns maps of shape (n_lams, n_components, n_features).
    lams : ndarray of shape (n_lams,)
        Values of λ.
    options : SearchOptions
        How.

    Returns
    -------
    ndarray of shape (n_lams, n_folds)
    """
    folds = _folds(y, groups, options)
    parts = [Statistics.of(X[rows], y[rows], by_class=options.by_class) for rows in folds]
    total = sum(parts[1:], parts[0])
    kmeans = KMeansOptions(len(total.classes), n_init=options.n_init)
    losses = np.empty((len(lams), len(folds)))
    for fold, (rows, part) in enumerate(zip(folds, parts, strict=True)):
        held_groups = None if groups is None else groups[rows]
        for i, coef in enumerate(path(total - part, lams)):
            rng = check_random_state(options.random_state)
            labels = cluster_codes(X[rows] @ coef.T, held_groups, kmeans, rng)
            losses[i, fold] = mean_loss(y[rows], labels, held_groups)
    return losses


def best_lam(lams: NDArray, losses: NDArray) -> float:
    """Return the λ of least mean loss; among equals the one in the middle."""
    mean = losses.mean(axis=1)
    equal = np.flatnonzero(mean <= mean.min() + 1e-12)
    return float(lams[equal[len(equal) // 2]])


def _folds(y: NDArray, groups: NDArray | None, options: SearchOptions) -> list[NDArray[np.intp]]:
    """Held-out rows of each fold."""
    if groups is None:
        unit, smallest = "samples of each class", int(np.unique(y, return_counts=True)[1].min())
    else:
        unit, smallest = "groups", len(np.unique(groups))
    n_splits = min(options.cv, smallest)
    if n_splits < 2:
        raise InvalidInputError(
            f"lam='cv' needs at least 2 folds and 2 {unit}; got cv={options.cv} and {smallest}. "
            "Give lam a number instead."
        )
    if groups is not None:
        return [held for _, held in GroupKFold(n_splits).split(y, y, groups)]
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=options.random_state)
    return [held for _, held in splitter.split(np.zeros((len(y), 1)), y)]
