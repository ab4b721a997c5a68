"""The bias against seen classes: the one of highest harmonic mean on folds, exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zslearn.metrics import SeenUnseenCurve
from zslearn.model_selection import Choice, choose

# Biases kept in `cv_results_`; there are as many to choose from as samples.
MAX_KEPT = 1000


def choose_gamma(curves: Sequence[SeenUnseenCurve]) -> Choice:
    """Choose the bias of highest harmonic mean, averaged over curves: exact, no grid.

    Parameters
    ----------
    curves : sequence of SeenUnseenCurve
        At least one.

    Returns
    -------
    Choice
        The middle of the interval in which the mean is highest, the lowest of equal intervals;
        of the others about `MAX_KEPT` are kept.
    """
    # The mean of step functions is a step function: it can only change at a gap of one of them.
    gaps = np.unique(np.concatenate([curve.gaps for curve in curves]))
    inside = gaps if len(gaps) == 1 else gaps[:-1] + (gaps[1:] - gaps[:-1]) / 2
    points = [{"gamma": gamma} for gamma in inside.tolist()]
    choice = choose(points, curves, lambda curve: curve.harmonic_means[curve.indices_at(inside)])
    return _thinned(choice, len(curves))


def _thinned(choice: Choice, n_folds: int) -> Choice:
    """Keep the best point and a number of others, spread evenly."""
    params = choice.cv_results["params"]
    spread = np.linspace(0, len(params) - 1, min(len(params), MAX_KEPT)).astype(np.intp)
    kept = np.unique(np.append(spread, choice.best_index))
    scores = [choice.cv_results[f"split{i}_test_score"][kept] for i in range(n_folds)]
    return Choice.of([params[i] for i in kept], np.array(scores))
