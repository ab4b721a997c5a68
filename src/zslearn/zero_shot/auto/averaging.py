"""Means of the best members, judged on the folds that their parts were judged on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zslearn.zero_shot.auto.budget import Budget
from zslearn.zero_shot.auto.fold_ranks import FoldRanks
from zslearn.zero_shot.auto.judging import Outcome, Rows, Task
from zslearn.zero_shot.auto.portfolio import mean_of
from zslearn.zero_shot.auto.records import Judged, Record


def with_averages(task: Task, outcome: Outcome, budget: Budget) -> Outcome:
    """Add the means of the best two, three, ... finalists to what was judged.

    Nothing is fitted: a mean is ranked by the scores that its parts gave the held-out samples.

    Parameters
    ----------
    task : Task
        The data.
    outcome : Outcome
        What was judged.
    budget : Budget
        Time; a mean is left out if there is no time to fit its parts on all rows.

    Returns
    -------
    Outcome
    """
    n_rows = outcome.n_rows
    able = [one for one in outcome.finalists if one.member.can_be_averaged]
    best = sorted(able, key=lambda one: -one.score(n_rows))
    added: list[Record] = []
    for n in range(2, len(best) + 1):
        if budget.allows(sum(one.seconds_for(len(task.labels)) for one in best[:n])):
            added.append(_mean(task, best[:n], outcome.rows))
    return Outcome([*outcome.records, *added], [*outcome.finalists, *added], outcome.rows)


def _mean(task: Task, parts: Sequence[Record], rows: Rows) -> Record:
    """Judge the mean of several members on the folds that all of them have."""
    found, n_rows = {}, len(rows)
    shared = set.intersection(*(set(one.found) for one in parts))
    for key in sorted(key for key in shared if key[0] == n_rows):
        folds = task.folds(rows, key[1])
        found[key] = [
            _averaged(task, held_out, [one.found[key][i] for one in parts])
            for i, (_, held_out) in enumerate(folds)
        ]
    times = {n_rows: sum(one.seconds_for(n_rows) for one in parts)}
    member, n_features = mean_of([one.member for one in parts]), parts[0].n_features
    return Record(member, found, 0.0, times, is_mean=True, n_features=n_features)


def _averaged(task: Task, held_out: Rows, parts: Sequence[Judged]) -> Judged:
    standard = np.asarray(np.mean([one.standard for one in parts], axis=0, dtype=np.float64))
    ranks = FoldRanks.of(standard, *task.held_out(held_out))
    return Judged(ranks, standard, sum(one.seconds for one in parts))
