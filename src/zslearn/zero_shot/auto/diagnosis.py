"""Two experiments with the member taken: shuffled signatures, and fewer classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from zslearn.signatures import Signatures
from zslearn.zero_shot.auto.expectation import LearningCurve
from zslearn.zero_shot.auto.judging import FAILURES, Rows, Task, fold_ranks
from zslearn.zero_shot.auto.portfolio import set_signatures

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
        Says whether there is time for another fit.

    Returns
    -------
    float or None
        None if there was no time, or the member cannot learn from shuffled signatures.
    """
    table = shuffled(task.signatures, task.classes, task.seed)
    found = []
    rows = task.rows(_MOST_ROWS)
    for train, held_out in task.folds(rows, 0):
        score = _score(task, frozen, table, train, held_out) if may_go_on() else None
        if score is None:
            return None
        found.append(score)
    return float(np.mean(found))


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
        Says whether there is time for another fit.

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
        found = []
        for i, (train, held_out) in enumerate(folds):
            fewer = _of_classes(task, train, size, i)
            score = _score(task, frozen, task.signatures, fewer, held_out) if may_go_on() else None
            if score is None:
                return None
            found.append(score)
        points.append(float(np.mean(found)))
    return LearningCurve(tuple(sizes), tuple(points))


def _score(
    task: Task, frozen: Pipeline, table: Signatures, train: Rows, held_out: Rows
) -> float | None:
    pipeline = clone(frozen)
    set_signatures(pipeline.steps[-1][1], table)
    for _, step in pipeline.steps[:-1]:
        for name in ("n_components", "n_quantiles"):
            if isinstance(getattr(step, name, None), int):
                step.set_params(**{name: min(getattr(step, name), len(train))})
    try:
        return float(fold_ranks(task, pipeline, train, held_out).accuracies.mean())
    except FAILURES:
        return None


def _sizes(most: list[int]) -> list[int]:
    least = min(most, default=0)
    sizes = sorted({round(share * least) for share in SHARES})
    return [size for size in sizes if size >= _FEWEST_CLASSES]


def _of_classes(task: Task, rows: Rows, n_classes: int, fold: int) -> Rows:
    """Rows of some of their classes; fewer classes are among those of more."""
    classes = np.unique(task.index[rows])
    rng = np.random.default_rng([0 if task.seed is None else task.seed, fold])
    return rows[np.isin(task.index[rows], rng.permutation(classes)[:n_classes])]
