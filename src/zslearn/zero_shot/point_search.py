"""Search over parameter points of methods that learn from class statistics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.metrics import per_class_accuracy
from zslearn.zero_shot.folds import parameter_folds

Points = list[dict[str, Any]]
# Given the rows to train on, the rows and the classes held out, the scores of every point.
Judge = Callable[[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Points], Any]


def grid_points(estimator: Any, free: Mapping[str, tuple[Any, ...]]) -> Points:
    """Every combination of the free parameters; those given by the user stay as given."""
    values = {
        name: tried if getattr(estimator, name) == "cv" else (getattr(estimator, name),)
        for name, tried in free.items()
    }
    return [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]


def choose_point(estimator: Any, y: NDArray[np.intp], points: Points, judge: Judge) -> Points:
    """Set the chosen values and `cv_results_` on the estimator.

    With one-hot signatures, or too few classes to hold any out, the first point is taken.
    """
    estimator.cv_results_ = None
    best = points[0]
    folds = parameter_folds(y[:, None], y, estimator.cv, estimator.random_state)
    if len(points) > 1 and estimator.signatures is not None and folds:
        accuracy = np.empty((len(points), len(folds)))
        for f, (train, held_out) in enumerate(folds):
            new, truth = np.unique(y[held_out], return_inverse=True)
            for p, ranked in enumerate(judge(train, held_out, new, points)):
                accuracy[p, f] = per_class_accuracy(truth, ranked.argmax(axis=1))
        estimator.cv_results_ = {"points": points, "scores": accuracy}
        best = points[int(accuracy.mean(axis=1).argmax())]
    for name, value in best.items():
        setattr(estimator, f"{name}_", value)
    return points
