"""Choosing λ of the one-hot semantic autoencoder by the loss on held-out training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from zslearn.cluster.kmeans import KMeansOptions, cluster_codes, mean_loss
from zslearn.cluster.statistics import Statistics
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import Choice, choose

# In units in which features have mean square 1, as standardized ones do.
LAM_GRID = np.logspace(-2, 4, 25)

Path = Callable[[Statistics, NDArray], NDArray]


@dataclass(frozen=True)
class SearchOptions:
    """How to search for λ.

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


def choose_lam(
    X: NDArray,
    y: NDArray,
    groups: NDArray | None,
    path: Path,
    lams: NDArray,
    options: SearchOptions,
) -> Choice:
    """Choose the λ with the least clustering loss on held-out rows; among equals, the middle one.

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
        How to search.

    Returns
    -------
    Choice
        Among points {"lam": λ}; the scores are negative losses.
    """
    folds = _folds(y, groups, options)
    parts = [Statistics.of(X[rows], y[rows], by_class=options.by_class) for rows in folds]
    total = sum(parts[1:], parts[0])
    kmeans = KMeansOptions(len(total.classes), n_init=options.n_init)

    def judge(fold: tuple[NDArray[np.intp], Statistics]) -> list[float]:
        rows, part = fold
        held_groups = None if groups is None else groups[rows]
        scores = []
        for coef in path(total - part, lams):
            rng = check_random_state(options.random_state)
            labels = cluster_codes(X[rows] @ coef.T, held_groups, kmeans, rng)
            scores.append(-mean_loss(y[rows], labels, held_groups))
        return scores

    points = [{"lam": float(lam)} for lam in lams]
    return _in_the_middle(choose(points, list(zip(folds, parts, strict=True)), judge))


def _in_the_middle(choice: Choice) -> Choice:
    """Take the middle one of equally good points: neighboring λ often give the same clusters."""
    mean, params = choice.cv_results["mean_test_score"], choice.cv_results["params"]
    equal = np.flatnonzero(mean >= mean.max() - 1e-12)
    best = int(equal[len(equal) // 2])
    return replace(choice, best_index=best, best_params=params[best])


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
