"""Choice of free parameters by holding out classes, for methods without a cheaper way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold


@dataclass(frozen=True)
class ClassWiseSearch:
    """What a class-wise search found.

    Attributes
    ----------
    points : list of dict
        Parameter settings tried.
    scores : ndarray of shape (n_points, n_folds)
        Per-class accuracy on held-out classes, which are the candidates.
    best : dict
        The setting of highest mean score, the first of equals.
    """

    points: list[dict[str, Any]]
    scores: NDArray[np.float64]
    best: dict[str, Any]


def class_wise_search(
    make: Callable[..., Any],
    X: Any,
    y: NDArray,
    points: Sequence[Mapping[str, Any]],
    *,
    cv: int = 5,
    random_state: int | None = 0,
) -> ClassWiseSearch:
    """Fit every setting on every fold of classes and score it on the classes held out.

    Parameters
    ----------
    make : callable
        ``make(**point)`` returns an unfitted zero-shot classifier whose parameters are all fixed.
    X : array or sparse matrix of shape (n_samples, n_features)
        Features of seen classes, as the user gave them.
    y : ndarray of shape (n_samples,)
        Class labels.
    points : sequence of dict
        Parameter settings, the preferred one of equals first.
    cv : int, default=5
        Number of folds; fewer if there are not two classes a fold.
    random_state : int or None, default=0
        Order in which classes are dealt to folds.

    Returns
    -------
    ClassWiseSearch
        With too few classes to hold any out, the first point and no scores.
    """
    if not points:
        raise InvalidInputError("a class-wise search needs at least one parameter setting.")
    settings = [dict(point) for point in points]
    n_splits = min(cv, len(np.unique(y)) // 2)
    if n_splits < 2 or len(settings) == 1:
        return ClassWiseSearch(settings, np.empty((len(settings), 0)), settings[0])
    folds = list(ClassKFold(n_splits, shuffle=True, random_state=random_state).split(X, y))
    scores = np.array(
        [
            [
                make(**point).fit(X[train], y[train]).score(X[held_out], y[held_out])
                for train, held_out in folds
            ]
            for point in settings
        ]
    )
    return ClassWiseSearch(settings, scores, settings[int(scores.mean(axis=1).argmax())])
