"""The one search: parameter points are judged on folds, and the best of them is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._progress import report
from zslearn.exceptions import InvalidInputError

Point = dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """The outcome of a search.

    Attributes
    ----------
    cv_results : dict
        With scikit-learn's keys: `params`, a list of dict, and arrays with one entry for each of
        them: `split{i}_test_score` for every fold, `mean_test_score`, `std_test_score` and
        `rank_test_score` (1 is the best, equal means share a rank).
    best_index : int
        Position of the best point in `params`.
    best_params : dict
        The best point.
    """

    cv_results: dict[str, Any]
    best_index: int
    best_params: Point

    @classmethod
    def of(cls, points: Sequence[Mapping[str, Any]], scores: NDArray[np.float64]) -> Choice:
        """Take the best of points by their scores.

        Parameters
        ----------
        points : sequence of dict
            The preferred point first.
        scores : ndarray of shape (n_folds, n_points)
            Score of each point on each fold.

        Returns
        -------
        Choice
        """
        # Added up point by point in memory, as scikit-learn does: the last digit breaks some ties.
        by_point = np.ascontiguousarray(scores.T)
        with np.errstate(invalid="ignore"):  # infinite scores have no deviation
            mean, std = by_point.mean(axis=1), by_point.std(axis=1)
        if np.isnan(mean).all():
            raise InvalidInputError(
                f"none of the {len(points)} parameter points has a score on all folds (NaN "
                "everywhere); check the data for values the method cannot use."
            )
        # NaN sorts to the end, so that points without a mean share the rank after the last.
        rank = np.searchsorted(np.sort(-mean), -mean, side="left") + 1
        best, params = int(rank.argmin()), [dict(point) for point in points]
        results = {
            "params": params,
            **{f"split{i}_test_score": fold for i, fold in enumerate(scores)},
            "mean_test_score": mean,
            "std_test_score": std,
            "rank_test_score": rank.astype(np.int32),
        }
        return cls(results, best, params[best])


def choose(
    points: Sequence[Mapping[str, Any]],
    folds: Sequence[Any],
    judge: Callable[[Any], ArrayLike],
    *,
    verbose: int = 0,
    name: str = "search",
) -> Choice:
    """Judge every parameter point on every fold and take the one with the highest mean score.

    Parameters
    ----------
    points : sequence of dict
        Values of the parameters by name, the preferred point first: the earliest of equally good
        points is taken.
    folds : sequence
        Anything `judge` understands, one entry for each fold.
    judge : callable
        ``judge(fold)`` returns the held-out score of every point on one fold, of shape
        (n_points,), larger is better. All points come at once so that they can share work.
        NaN means that a point could not be judged: one that is NaN on any fold has no mean, ranks
        behind all others and is never taken.
    verbose : int, default=0
        Above 0, one line per fold goes to stderr.
    name : str, default="search"
        Name of the searcher, at the start of these lines.

    Returns
    -------
    Choice
        The scores of all points and the best of them.

    Raises
    ------
    InvalidInputError
        If there are no points or no folds, `judge` does not return one score per point, or no
        point has a score on all folds.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.model_selection import choose
    >>> points = [{"lam": 1.0}, {"lam": 10.0}]
    >>> choice = choose(points, folds=[0.5, 0.7], judge=lambda fold: [fold, fold + 0.25])
    >>> choice.best_params, choice.cv_results["mean_test_score"].round(2).tolist()
    ({'lam': 10.0}, [0.6, 0.85])
    """
    if not len(points) or not len(folds):
        raise InvalidInputError(
            "a search needs at least one parameter point and one fold; got "
            f"{len(points)} point(s) and {len(folds)} fold(s)."
        )
    scores = np.empty((len(folds), len(points)))
    for i, fold in enumerate(folds):
        scores[i] = _one_score_per_point(judge(fold), len(points))
        best = np.nanmax(scores[i], initial=-np.inf)
        report(verbose > 0, f"[{name}] fold {i + 1}/{len(folds)}: best held-out score {best:.3f}")
    return Choice.of(points, scores)


def _one_score_per_point(judged: ArrayLike, n_points: int) -> NDArray[np.float64]:
    """Refuse what is not one score for each point."""
    scores = np.asarray(judged, dtype=np.float64)
    if scores.shape != (n_points,):
        raise InvalidInputError(
            f"judge must return one score per point, of shape ({n_points},); got shape "
            f"{scores.shape}."
        )
    return scores
