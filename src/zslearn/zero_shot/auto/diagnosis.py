"""Two experiments with the member taken: shuffled signatures, and fewer classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from zslearn._pipelines import last_step, steps_before
from zslearn.signatures import Signatures
from zslearn.zero_shot.auto.expectation import LearningCurve
from zslearn.zero_shot.auto.judging import FAILURES, Rows, Task, rank_folds
from zslearn.zero_shot.auto.portfolio import Member

# Shares of the classes of a fold that a point of the learning curve is made of.
SHARES = (0.25, 0.5, 1.0)
_MOST_ROWS = 2000
_FEWEST_CLASSES = 3
MayGoOn = Callable[[], bool]


def shuffled_accuracy(task: Task, frozen: Pipeline, may_go_on: MayGoOn) -> float | None:
    """Return the accuracy with signatures dealt to the wrong seen classes.

    Everything else stays as it is, so what is above it comes from the signatures.

    Parameters
    ----------
    task : Task
        The data.
    frozen : Pipeline
        The member with its parameters as numbers.
    may_go_on : callable
        Says whether there is time for another round of folds.

    Returns
    -------
    float or None
        None if there was no time, or the member cannot learn from shuffled signatures.
    """
    table = shuffled(task.signatures, task.classes, task.seed)
    return _mean(task, frozen, table, task.folds(task.rows(_MOST_ROWS), 0), may_go_on)


def shuffled(table: Signatures, classes: NDArray, seed: int | None) -> Signatures:
    """Return the table with the vectors of some classes moved on among them, none in its place."""
    order = np.random.default_rng(seed).permutation(len(classes))
    own, other = classes[order], classes[np.roll(order, 1)]
    vectors = table.vectors.copy()
    vectors[table.index_of(own)] = table.rows(other)
    return Signatures(table.names, vectors, table.dimensions, blocks=dict(table.blocks))


def learning_curve(task: Task, frozen: Pipeline, may_go_on: MayGoOn) -> LearningCurve | None:
    """Return the accuracy on the held-out classes of folds by the number of other classes.

    Parameters
    ----------
    task : Task
        The data.
    frozen : Pipeline
        The member with its parameters as numbers.
    may_go_on : callable
        Says whether there is time for another round of folds.

    Returns
    -------
    LearningCurve or None
        None if there was no time or there are too few classes.
    """
    rows = task.rows(_MOST_ROWS)
    folds = task.folds(rows, 0)
    sizes = _sizes([len(np.unique(task.index[train])) for train, _ in folds])
    if len(sizes) < 2:
        return None
    points = []
    for size in sizes:
        fewer = [(_of_classes(task, train, size, i), held) for i, (train, held) in enumerate(folds)]
        point = _mean(task, frozen, task.signatures, fewer, may_go_on)
        if point is None:
            return None
        points.append(point)
    return LearningCurve(tuple(sizes), tuple(points))


def _mean(
    task: Task,
    frozen: Pipeline,
    table: Signatures,
    folds: list[tuple[Rows, Rows]],
    may_go_on: MayGoOn,
) -> float | None:
    """Return the mean accuracy over folds; None if there is no time, or the member fails."""
    if not may_go_on():
        return None
    try:
        jobs = [(_pipeline(frozen, table, len(train)), train, held) for train, held in folds]
        return float(np.mean([one.ranks.accuracies.mean() for one in rank_folds(task, jobs)]))
    except FAILURES:
        return None


def _pipeline(frozen: Pipeline, table: Signatures, n_rows: int) -> Pipeline:
    """Return a copy with other signatures, for a number of training rows."""
    return Member("", (*steps_before(frozen), last_step(frozen))).pipeline(table, n_rows)


def _sizes(most: list[int]) -> list[int]:
    least = min(most, default=0)
    sizes = sorted({round(share * least) for share in SHARES})
    return [size for size in sizes if size >= _FEWEST_CLASSES]


def _of_classes(task: Task, rows: Rows, n_classes: int, fold: int) -> Rows:
    """Rows of some of their classes; fewer classes are among those of more."""
    classes = np.unique(task.index[rows])
    rng = np.random.default_rng([0 if task.seed is None else task.seed, fold])
    return rows[np.isin(task.index[rows], rng.permutation(classes)[:n_classes])]
