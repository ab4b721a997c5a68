"""How members are judged: held-out classes, successive halving over rows and repeats, a budget."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from zslearn._pipelines import features_of, last_step
from zslearn.core.threads import map_in_order, n_threads
from zslearn.zero_shot.auto.average import spread_of_scores
from zslearn.zero_shot.auto.budget import Budget
from zslearn.zero_shot.auto.fold_ranks import FoldRanks
from zslearn.zero_shot.auto.portfolio import Member
from zslearn.zero_shot.auto.records import Judged, Record
from zslearn.zero_shot.search import even_rows, folds_of_classes, parameter_folds

Rows = NDArray[np.intp]
# What a member may fail with; anything else is a fault of the program and stops the fit.
FAILURES = (ValueError, TypeError, ArithmeticError, RuntimeError, MemoryError)
# Rows of a stage, and how many classes are held out in it over all folds and repeats.
STAGES = ((600, 24), (1000, 36), (5000, 48))
# Narrow tables take little time and often have few classes, so they get more repeats.
_NARROW, _MORE, _MOST_REPEATS = 256, 2, 12
# Members that go on: a share of them, and at the end a few.
_SHARE, _LEAST, _FINALISTS = 1 / 3, 6, 4
# Rows on which a member that may be slow is tried before it is judged, if there is a time budget.
_TRIAL = 100
# Training rows that the scale of scores is measured on in a fold.
_SCALE_ROWS = 200


@dataclass(frozen=True)
class Task:
    """The training data, and which classes are held out at once.

    Attributes
    ----------
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Features of the seen classes.
    labels : ndarray of shape (n_samples,)
        Their classes.
    index : ndarray of int of shape (n_samples,)
        Position of each class in `classes`.
    classes : ndarray of shape (n_seen,)
        Sorted.
    signatures : Signatures or None
        The class table; with None samples are held out in place of classes.
    n_folds : int
        Folds per repeat; 0 if none can be made.
    seed : int or None
        Of rows and folds.
    """

    X: Any
    labels: NDArray[Any]
    index: Rows
    classes: NDArray[Any]
    signatures: Any
    n_folds: int
    seed: int | None

    def rows(self, limit: int) -> Rows:
        """Rows of a stage, drawn evenly from the classes."""
        return even_rows(self.index, limit, np.random.default_rng(self.seed))

    def held_out(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return the classes of held-out rows, and the candidates among which they are ranked."""
        truth = self.index[rows]
        every = np.arange(len(self.classes))
        return truth, every if self.signatures is None else np.unique(truth)

    def folds(self, rows: Rows, repeat: int) -> list[tuple[Rows, Rows]]:
        """Training and held-out rows of every fold of a repeat."""
        seed = None if self.seed is None else (self.seed + 7919 * repeat) % 2**32
        y = self.index[rows]
        if self.signatures is None:
            parts = parameter_folds(y, max(self.n_folds, 2), seed, one_hot=True)
            return [(rows[train], rows[test]) for train, test in parts]
        every = folds_of_classes(np.unique(y), self.n_folds, seed)
        return [(rows[~held], rows[held]) for held in (np.isin(y, fold) for fold in every)]


@dataclass(frozen=True)
class Outcome:
    """What judging has found.

    Attributes
    ----------
    records : list of Record
        In the order of the members; means of several come last.
    finalists : list of Record
        Members that were judged in the last stage that all its members finished, and their means.
    rows : ndarray of int
        Rows of that stage; none if nothing could be judged.
    """

    records: list[Record]
    finalists: list[Record]
    rows: Rows

    @property
    def n_rows(self) -> int:
        """Number of rows of the stage."""
        return len(self.rows)


def judge(
    task: Task,
    members: Sequence[Member],
    budget: Budget,
    *,
    tick: Callable[[int], Any] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Judge members by successive halving.

    Every stage takes more rows and repeats than the one before, and judges the best members of it;
    a few members are judged in the last stage at once. With a time budget a member is left out
    whose next fold would take longer than is left once the time to fit the best member on all rows
    is set aside.

    Parameters
    ----------
    task : Task
        The data.
    members : sequence of Member
        Simple and cheap ones first.
    budget : Budget
        Time.
    tick, say : callables
        Told of every fold, and of every stage.

    Returns
    -------
    Outcome
    """
    records = [Record(member, n_features=task.X.shape[1]) for member in members]
    finalists, judged_rows = records, np.arange(0)
    for stage, (limit, times) in _stages(task, len(members)):
        rows = task.rows(limit)
        n_before = len(judged_rows)
        entrants = _best(finalists, n_before, stage, len(records)) if n_before else records
        # The recommended member first: the others have to beat it, however little time there is.
        entrants = sorted(entrants, key=lambda one: not one.member.recommended)
        say(f"stage {stage}: {len(entrants)} members on {len(rows)} rows")
        for repeat in range(_n_repeats(task, times)):
            for record in entrants:
                judge_repeat(task, record, rows, repeat, _Limit(budget, entrants, len(task.labels)))
                tick(1)
        done = [record for record in entrants if (len(rows), 0) in record.found]
        failed = [record for record in entrants if not record.found]
        if not done or (n_before and len(done) + len(failed) < len(entrants)):
            break
        finalists, judged_rows = done, rows
    return Outcome(records, finalists if len(judged_rows) else [], judged_rows)


def n_steps(task: Task, n_members: int) -> int:
    """Return how often `judge` will call `tick` at most."""
    total, left = 0, n_members
    for stage, (_, times) in _stages(task, n_members):
        left = min(left, _n_entrants(stage, n_members) + 1) if total else left
        total += left * _n_repeats(task, times)
    return total


def _stages(task: Task, n_members: int) -> list[tuple[int, tuple[int, int]]]:
    """Stages with their numbers: the last one for a few members, no middle one for few rows."""
    stages = list(enumerate(STAGES, 1))
    if n_members <= _FINALISTS:
        return stages[-1:]
    return stages if len(task.labels) > 2 * STAGES[1][0] else [stages[0], stages[-1]]


def _n_entrants(stage: int, n_members: int) -> int:
    """Members that go on to a stage at most."""
    return _FINALISTS if stage == len(STAGES) else max(_LEAST, math.ceil(_SHARE * n_members))


class _Limit(NamedTuple):
    """A budget of which the time to fit the best member so far on all rows is set aside."""

    budget: Budget
    judged: Sequence[Record]
    n_all: int

    def allows(self, more: float) -> bool:
        if self.budget.seconds is None:
            return True
        found = [record for record in self.judged if record.found]
        timed = next((record for record in self.judged if record.times), None)
        best = max(found, key=lambda record: record.score(record.most_rows), default=timed)
        reserve = 0.0 if best is None else best.seconds_for(self.n_all)
        return self.budget.allows(more + reserve)


Job = tuple[Pipeline, Rows, Rows]


def rank_folds(
    task: Task, jobs: Sequence[Job], may_go_on: Callable[[float], bool] = lambda _: True
) -> list[Judged]:
    """Fit pipelines on rows and rank the classes of other rows, several at once in threads.

    Parameters
    ----------
    task : Task
        The data.
    jobs : sequence of (Pipeline, rows, rows)
        What is fitted, the training rows and the held-out rows.
    may_go_on : callable
        Asked before all jobs but the first ones, with the seconds that the slowest took.

    Returns
    -------
    list of Judged
        One per job; fewer if they were stopped.
    """
    found: list[Judged] = []
    n = max(1, min(n_threads(), len(jobs)))
    # What reaches a user is the choice, not what every rival said. Recorded, not only ignored:
    # scikit-learn empties the list of filters for a moment, which all threads see.
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("ignore")
        for start in range(0, len(jobs), n):
            if found and not may_go_on(max(one.seconds for one in found)):
                break
            found += map_in_order(partial(_judged, task), jobs[start : start + n], n)
    return found


def _judged(task: Task, job: Job) -> Judged:
    """Fit a pipeline on some rows and rank the classes of others among themselves."""
    start = perf_counter()
    pipeline, train, held_out = job
    truth, candidates = task.held_out(held_out)
    pipeline.fit(task.X[train], task.labels[train])
    names: Any = task.classes[candidates]
    scores = last_step(pipeline)._live(names).scores(features_of(pipeline, task.X[held_out]))
    if not np.isfinite(scores).all():
        raise ValueError("its scores are not finite")
    known = np.unique(task.labels[train])
    scale = spread_of_scores(pipeline, task.X[train[:: max(1, len(train) // _SCALE_ROWS)]], known)
    ranks = FoldRanks.of(scores, truth, candidates)
    return Judged(ranks, (scores / scale).astype(np.float32), perf_counter() - start)


def judge_repeat(task: Task, record: Record, rows: Rows, repeat: int, limit: _Limit) -> None:
    """Judge a member on the folds of one repeat, all of them or none."""
    key, folds = (len(rows), repeat), task.folds(rows, repeat)
    if key in record.found or record.reason or not folds:
        return

    def may_go_on(seconds: float) -> bool:
        record.times[len(rows)] = seconds
        return limit.allows(seconds)

    try:
        if limit.budget.seconds is not None and not record.times and record.member.may_be_slow:
            _try(task, record)
        rounds = math.ceil(len(folds) / n_threads())
        if limit.allows(rounds * record.seconds_for(len(rows))):
            found = rank_folds(task, jobs_of(task, record.member, folds), may_go_on)
        else:
            found = []
    except FAILURES as error:
        record.reason = f"failed: {_first_sentence(error)}"
        record.found.clear()
        return
    record.seconds += sum(one.seconds for one in found)
    if len(found) < len(folds):
        record.reason = "the time budget was spent"
        return
    record.found[key] = found
    record.times[len(rows)] = max(one.seconds for one in found)


def jobs_of(task: Task, member: Member, folds: Sequence[tuple[Rows, Rows]]) -> list[Job]:
    """Return what is fitted and scored for the folds of a member."""
    return [
        (member.pipeline(task.signatures, len(train)), train, held_out) for train, held_out in folds
    ]


def _try(task: Task, record: Record) -> None:
    """Find out about how long a fit takes on a few rows, which may be too few for it."""
    rows, start = task.rows(_TRIAL), perf_counter()
    with suppress(*FAILURES):
        rank_folds(task, jobs_of(task, record.member, task.folds(rows, 0)[:1]))
    record.times[len(rows)] = perf_counter() - start


def _first_sentence(error: Exception) -> str:
    return " ".join(str(error).split()).partition(". ")[0] or type(error).__name__


def _n_repeats(task: Task, times: int) -> int:
    """Repeats after which so many classes have been held out."""
    if task.n_folds < 2:
        return 0
    more = _MORE if task.X.shape[1] <= _NARROW else 1
    return int(np.clip(more * times // len(task.classes), 1, _MOST_REPEATS))


def _best(judged: list[Record], n_rows: int, stage: int, n_members: int) -> list[Record]:
    """Return the best members of a stage, best first; the others get their reason.

    The recommended member always goes on, because the others are compared with it at the end.
    """
    n = _n_entrants(stage, n_members)
    able = sorted((one for one in judged if not one.reason), key=lambda one: -one.score(n_rows))
    passed = [one for i, one in enumerate(able) if i < n or one.member.recommended]
    for record in able:
        if not any(record is one for one in passed):
            record.reason = f"not among the best {n} on {n_rows} rows"
    return passed
