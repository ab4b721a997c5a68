"""What judging has found, as tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from zslearn.model_selection import Choice
from zslearn.zero_shot.auto.choice import class_table, standard_errors
from zslearn.zero_shot.auto.judging import Outcome
from zslearn.zero_shot.auto.records import Record


def leaderboard_rows(
    outcome: Outcome, taken: Record | None, n_classes: int
) -> list[dict[str, Any]]:
    """Return one row per member, those that got furthest first, then by accuracy.

    Parameters
    ----------
    outcome : Outcome
        What was judged.
    taken : Record or None
        The member taken.
    n_classes : int
        Number of seen classes.

    Returns
    -------
    list of dict
        With the keys `Leaderboard.columns`.
    """
    judged = [one for one in outcome.records if one.found]
    judged.sort(key=lambda one: (bool(one.reason), -one.most_rows, -_score(one)))
    others = [one for one in outcome.records if not one.found]
    return [
        _row(rank, one, one is taken, n_classes) for rank, one in enumerate([*judged, *others], 1)
    ]


def _score(record: Record) -> float:
    return record.score(record.most_rows)


def _row(rank: int, record: Record, taken: bool, n_classes: int) -> dict[str, Any]:
    folds = record.folds(record.most_rows)
    error = standard_errors(class_table([folds], n_classes))[0] if folds else None
    return {
        "rank": rank,
        "member": record.member.name,
        "accuracy": _score(record) if folds else None,
        "error": None if error is None else float(error),
        "rows": record.most_rows,
        "folds": len(folds),
        "seconds": record.seconds,
        "note": "taken" if taken else record.reason,
    }


def results_of(outcome: Outcome) -> dict[str, Any]:
    """Return the accuracies of the last stage with scikit-learn's keys."""
    found = [
        [float(fold.accuracies.mean()) for fold in one.folds(outcome.n_rows)]
        for one in outcome.finalists
    ]
    n_folds = min(map(len, found))  # a time budget may cut the last repeats of some
    points = [{"portfolio": one.member.name} for one in outcome.finalists]
    return Choice.of(points, np.array([scores[:n_folds] for scores in found]).T).cv_results
