"""How zero-shot methods choose parameters: held-out classes, some of the rows, one accuracy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold

from zslearn._declared import parameter
from zslearn._parameters import Seed, Whole
from zslearn.core.paths import mean_recall
from zslearn.model_selection import Choice, ClassKFold, choose
from zslearn.zero_shot.base import NormalizedMethod
from zslearn.zero_shot.inputs import is_cv

__all__ = [
    "DEALS",
    "Choice",
    "Fold",
    "Point",
    "SearchingMethod",
    "choose",
    "choose_parameters",
    "deal_seed",
    "even_rows",
    "folds_of_classes",
    "grid_points",
    "held_out_accuracy",
    "left_open",
    "parameter_folds",
    "unseen_class_folds",
]

# How often the classes are dealt to folds where one deal decides too much by chance.
DEALS = 3
Point = dict[str, Any]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Fold:
    """Some classes to learn from, and others to recognize.

    Attributes
    ----------
    train, held_out : ndarrays of int
        Rows of the two parts.
    known, new : ndarrays of int
        Their classes, ascending.
    y_train, y_held_out : ndarrays of int
        Class of each row, as a position in `known` and `new`.
    """

    train: Rows
    held_out: Rows
    known: Rows
    new: Rows
    y_train: Rows
    y_held_out: Rows

    @classmethod
    def of(cls, y: Rows, train: Rows, held_out: Rows) -> Fold:
        """Make a fold of rows, with the classes of both parts."""
        known, y_train = np.unique(y[train], return_inverse=True)
        new, y_held_out = np.unique(y[held_out], return_inverse=True)
        return cls(train, held_out, known, new, y_train, y_held_out)


class SearchingMethod(NormalizedMethod):
    """A method that chooses parameters left to "cv" by holding out classes.

    What is tried stands where a parameter is declared; `choose_parameters` chooses.

    Parameters
    ----------
    cv : int, default=5
        Number of folds over classes.
    random_state : int, default=0
        Order in which classes are dealt to folds.
    """

    cv: int = parameter(default=5, allowed=Whole(2))
    random_state: int | None = parameter(default=0, allowed=Seed())


def choose_parameters(
    estimator: Any,
    points: Sequence[Point],
    folds: Sequence[Any],
    judge: Callable[[Any], ArrayLike],
    *,
    default: Point | None = None,
) -> Point:
    """Choose a point and set `cv_results_` and `best_params_` of the estimator.

    Parameters
    ----------
    estimator : ZeroShotClassifier
        Whose parameters are chosen; those given by the user have one value in all points.
    points, folds, judge
        As in `zslearn.model_selection.choose`.
    default : dict, optional
        What is taken if there are no folds; by default the first point.

    Returns
    -------
    dict
        The point taken.
    """
    estimator.cv_results_ = None
    best = points[0] if default is None else default
    # With one point, or nothing to judge by, there is no choice and no table of it.
    if len(points) > 1 and folds:
        verbose, name = getattr(estimator, "verbose", 0), type(estimator).__name__
        choice = choose(points, folds, judge, verbose=verbose, name=name)
        estimator.cv_results_, best = choice.cv_results, choice.best_params
    estimator.best_params_ = left_open(estimator, best)
    return best


def left_open(estimator: Any, point: Point) -> Point:
    """Part of a point that the user left to "cv"."""
    return {name: value for name, value in point.items() if is_cv(_given(estimator, name))}


def grid_points(estimator: Any, grid: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Every combination of the values in `grid`, the last name fastest.

    A parameter that the user gave keeps the given value.
    """
    given = {name: _given(estimator, name) for name in grid}
    values = [tried if is_cv(given[name]) else (given[name],) for name, tried in grid.items()]
    return [dict(zip(grid, point, strict=True)) for point in itertools.product(*values)]


def _given(estimator: Any, name: str) -> Any:
    """Return what the user gave for a parameter or, as "training__n_steps", for part of one."""
    return attrgetter(name.replace("__", "."))(estimator)


def unseen_class_folds(estimator: Any, y: Rows, deals: int = 1) -> list[Fold]:
    """Folds over classes by the estimator's `cv` and `random_state`.

    There are none with one-hot signatures, which carry nothing over to another class, and none
    where fewer than four classes can be dealt. More deals of the classes, each with seeds of its
    own, make a choice that depends less on which classes were dealt together.
    """
    if estimator.signatures is None:
        return []
    parts = [
        part
        # Each deal has a seed of its own, and the first that of a single deal.
        for deal in range(deals)
        for part in parameter_folds(y, estimator.cv, deal_seed(estimator.random_state, deal))
    ]
    return [Fold.of(y, train, held_out) for train, held_out in parts]


def deal_seed(random_state: int | None, deal: int) -> int | None:
    """Return the seed of one of several deals of the classes."""
    return None if random_state is None else (random_state + deal) % 2**32


def parameter_folds(
    y: Rows, cv: int, random_state: int | None, *, one_hot: bool = False
) -> list[tuple[Rows, Rows]]:
    """Training and held-out rows of folds of at least two classes each; none if there are too few.

    With one-hot signatures nothing carries over to another class, so samples are held out.
    """
    if not one_hot:
        held_out = [np.isin(y, fold) for fold in folds_of_classes(np.unique(y), cv, random_state)]
        return [(np.flatnonzero(~rows), np.flatnonzero(rows)) for rows in held_out]
    n_splits = min(cv, int(np.unique(y, return_counts=True)[1].min()))
    if n_splits < 2:
        return []
    return list(StratifiedKFold(n_splits, shuffle=True, random_state=random_state).split(y, y))


def folds_of_classes(classes: NDArray, cv: int, random_state: int | None) -> list[NDArray]:
    """Classes of each fold, at least two; no folds if there are too few classes."""
    # One class alone in a fold would always be recognized.
    n_splits = min(cv, len(classes) // 2)
    if n_splits < 2:
        return []
    return ClassKFold(n_splits, shuffle=True, random_state=random_state).class_folds(classes)


def even_rows(
    y: Rows, limit: int, rng: np.random.Generator | np.random.RandomState, *, fill: bool = False
) -> Rows:
    """Rows drawn evenly from the classes, about `limit` at most, in ascending order.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class indices.
    limit : int
        How many rows.
    rng : Generator or RandomState
        Of the draw.
    fill : bool, default=False
        Whether large classes give more rows where small ones have too few, until there are
        exactly `limit`. Otherwise every class gives ``limit // n_classes`` rows at most (and two at
        least, however small the limit).

    Returns
    -------
    ndarray of int
        All rows if there are no more than `limit`.
    """
    if len(y) <= limit:
        return np.arange(len(y))
    counts = np.bincount(y)
    # Shuffled and then sorted by class, each class comes in an order drawn at random.
    order = rng.permutation(len(y))
    drawn = order[np.argsort(y[order], kind="stable")]
    # 0 for the first drawn of its class, 1 for the next
    nth = np.empty(len(y), dtype=np.intp)
    nth[drawn] = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    if fill:
        return np.sort(order[np.argsort(nth[order], kind="stable")][:limit])
    return np.flatnonzero(nth < max(2, limit // int(np.count_nonzero(counts))))


def held_out_accuracy(scores: NDArray, y: Rows) -> float:
    """Mean over classes of the share of their samples whose best column is theirs.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Larger is better.
    y : ndarray of shape (n_samples,)
        Column of the true class; every class has samples.

    Returns
    -------
    float
    """
    return mean_recall(scores.argmax(axis=1) == y, y)
