"""How members are judged: held-out classes, successive halving over rows and repeats, a budget."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from zslearn.core.threads import map_in_order, n_threads
from zslearn.zero_shot.auto.portfolio import Member
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
# How the time of a fit grows with the rows.
_GROWTH = 1.2


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

    def folds(self, rows: Rows, repeat: int) -> list[tuple[Rows, Rows]]:
        """Training and held-out rows of every fold of a repeat."""
        seed = None if self.seed is None else (self.seed + 7919 * repeat) % 2**32
        y = self.index[rows]
        if self.signatures is None:
            parts = parameter_folds(y, max(self.n_folds, 2), seed, one_hot=True)
            return [(rows[train], rows[test]) for train, test in parts]
        every = folds_of_classes(np.unique(y), self.n_folds, seed)
        return [(rows[~held], rows[held]) for held in (np.isin(y, fold) for fold in every)]


@dataclass
class Record:
    """What is known of a member.

    Attributes
    ----------
    member : Member
        The member.
    ranks : dict of (rows, repeat) to list of FoldRanks
        What was found, by stage and repeat.
    seconds : float
        Time of its fits and predictions.
    per_fold : float
        Seconds of its last fold.
    n_rows : int
        Rows of the stage of that fold.
    reason : str
        Why it was not judged further; empty if it got to the end.
    """

    member: Member
    ranks: dict[tuple[int, int], list[FoldRanks]] = field(default_factory=dict)
    seconds: float = 0.0
    per_fold: float = 0.0
    n_rows: int = 0
    reason: str = ""

    @property
    def most_rows(self) -> int:
        """Rows of the largest stage it was judged in; 0 if there is none."""
        return max((rows for rows, _ in self.ranks), default=0)

    def folds(self, n_rows: int) -> list[FoldRanks]:
        """Return every fold of a stage."""
        return [fold for (rows, _), folds in self.ranks.items() if rows == n_rows for fold in folds]

    def score(self, n_rows: int) -> float:
        """Mean accuracy over the folds of a stage; NaN if there are none."""
        found = [float(fold.accuracies.mean()) for fold in self.folds(n_rows)]
        return float(np.mean(found)) if found else math.nan

    def seconds_for(self, n_rows: int) -> float:
        """Guess the time of a fit on other rows by that of the last fold."""
        return self.per_fold * (n_rows / self.n_rows) ** _GROWTH if self.n_rows else 0.0


@dataclass(frozen=True)
class Outcome:
    """What judging has found.

    Attributes
    ----------
    records : list of Record
        In the order of the members.
    finalists : list of Record
        Members that were judged in the last stage that all its members finished.
    n_rows : int
        Rows of that stage; 0 if nothing could be judged.
    """

    records: list[Record]
    finalists: list[Record]
    n_rows: int


@dataclass(frozen=True)
class FoldRanks:
    """Where the true classes were ranked in one fold.

    Attributes
    ----------
    classes : ndarray of int of shape (n_held_out,)
        The classes tested.
    shares : ndarray of shape (n_held_out, n_candidates)
        Share of the samples of each class whose true class had 0, 1, 2, ... candidates before it.
    """

    classes: Rows
    shares: NDArray

    @property
    def accuracies(self) -> NDArray:
        """Share of each class that is right."""
        return self.shares[:, 0]

    @classmethod
    def of(cls, scores: NDArray, truth: Rows, candidates: Rows) -> FoldRanks:
        """Rank samples by their scores, of shape (n_samples, n_candidates).

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_candidates)
            Larger is better; the first of equal candidates is the answer.
        truth : ndarray of shape (n_samples,)
            Classes.
        candidates : ndarray of shape (n_candidates,)
            Classes of the columns, ascending.
        """
        column = np.searchsorted(candidates, truth)
        own = scores[np.arange(len(truth)), column][:, None]
        before = np.arange(scores.shape[1]) < column[:, None]
        ranks = ((scores > own) | ((scores == own) & before)).sum(axis=1)
        tested, row = np.unique(truth, return_inverse=True)
        counts = np.zeros((len(tested), scores.shape[1]))
        np.add.at(counts, (row, ranks), 1.0)
        return cls(tested, counts / counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Budget:
    """Seconds that may pass; None is no limit."""

    start: float
    seconds: float | None

    def allows(self, more: float) -> bool:
        """Say whether so many seconds more are within the budget."""
        return self.seconds is None or perf_counter() - self.start + more <= self.seconds


@dataclass(frozen=True)
class Limit:
    """A budget of which some seconds are set aside."""

    budget: Budget
    reserve: float

    def allows(self, more: float) -> bool:
        """Say whether so many seconds more leave the reserve untouched."""
        return self.budget.allows(more + self.reserve)


def judge(
    task: Task,
    members: Sequence[Member],
    budget: Budget,
    *,
    tick: Callable[[int], Any] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Judge members by successive halving.

    Every stage takes more rows and repeats than the one before, and judges the best members of it.
    With a time budget a member is left out whose next fold would take longer than is left once the
    time to fit the best member on all rows is set aside.

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
    records = [Record(member) for member in members]
    finalists, n_rows = records, 0
    for stage, (limit, times) in enumerate(STAGES, 1):
        rows = task.rows(limit)
        entrants = records if stage == 1 else _best(finalists, n_rows, stage, len(records))
        say(f"stage {stage}: {len(entrants)} members on {len(rows)} rows")
        for repeat in range(_n_repeats(task, times)):
            for record in entrants:
                reserve = _refit_seconds(finalists, n_rows, len(task.labels))
                _judge_repeat(task, record, rows, repeat, Limit(budget, reserve), tick)
        done = [record for record in entrants if (len(rows), 0) in record.ranks]
        failed = [record for record in entrants if not record.ranks]
        if not done or (stage > 1 and len(done) + len(failed) < len(entrants)):
            break
        finalists, n_rows = done, len(rows)
    return Outcome(records, finalists if n_rows else [], n_rows)


Job = tuple[Pipeline, Rows, Rows]


def rank_folds(task: Task, jobs: Sequence[Job]) -> list[tuple[FoldRanks, float]]:
    """Fit pipelines on rows and rank the classes of other rows, several at once in threads.

    Parameters
    ----------
    task : Task
        The data.
    jobs : sequence of (Pipeline, rows, rows)
        What is fitted, the training rows and the held-out rows.

    Returns
    -------
    list of (FoldRanks, float)
        With the seconds of each.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work = partial(_timed, task)
        return list(map_in_order(work, jobs, max(1, min(n_threads(), len(jobs)))))


def _timed(task: Task, job: Job) -> tuple[FoldRanks, float]:
    start = perf_counter()
    return _fold_ranks(task, *job), perf_counter() - start


def _fold_ranks(task: Task, pipeline: Pipeline, train: Rows, held_out: Rows) -> FoldRanks:
    """Fit a pipeline on some rows and rank the classes of others among themselves."""
    truth = task.index[held_out]
    candidates = np.unique(truth) if task.signatures is not None else np.arange(len(task.classes))
    pipeline.fit(task.X[train], task.labels[train])
    X = task.X[held_out]
    for _, step in pipeline.steps[:-1]:
        X = step.transform(X)
    names: Any = task.classes[candidates]
    scores = pipeline.steps[-1][1]._live(names).scores(X)
    if not np.isfinite(scores).all():
        raise ValueError("its scores are not finite")
    return FoldRanks.of(scores, truth, candidates)


def _judge_repeat(
    task: Task, record: Record, rows: Rows, repeat: int, limit: Limit, tick: Callable[[int], Any]
) -> None:
    """Judge a member on the folds of one repeat, all of them or none."""
    key, folds = (len(rows), repeat), task.folds(rows, repeat)
    if key in record.ranks or record.reason or not folds:
        return
    rounds = math.ceil(len(folds) / n_threads())
    if not limit.allows(rounds * record.seconds_for(len(rows))):
        record.reason = "the time budget was spent"
        return
    try:
        jobs = [
            (record.member.pipeline(task.signatures, len(train)), train, held_out)
            for train, held_out in folds
        ]
        found = rank_folds(task, jobs)
    except FAILURES as error:
        record.reason = f"failed: {_first_sentence(error)}"
        record.ranks.clear()
        return
    record.ranks[key] = [ranks for ranks, _ in found]
    record.per_fold, record.n_rows = max(seconds for _, seconds in found), len(rows)
    record.seconds += sum(seconds for _, seconds in found)
    tick(len(found))


def _first_sentence(error: Exception) -> str:
    return " ".join(str(error).split()).partition(". ")[0] or type(error).__name__


def _n_repeats(task: Task, times: int) -> int:
    """Repeats after which so many classes have been held out."""
    if task.n_folds < 2:
        return 0
    more = _MORE if task.X.shape[1] <= _NARROW else 1
    return int(np.clip(more * times // len(task.classes), 1, _MOST_REPEATS))


def _best(judged: list[Record], n_rows: int, stage: int, n_members: int) -> list[Record]:
    """Return the best members of a stage, best first; the others get their reason."""
    n = _FINALISTS if stage == len(STAGES) else max(_LEAST, math.ceil(_SHARE * n_members))
    able = sorted((one for one in judged if not one.reason), key=lambda one: -one.score(n_rows))
    for record in able[n:]:
        record.reason = f"not among the best {n} of stage {stage - 1}"
    return able[:n]


def _refit_seconds(judged: list[Record], n_rows: int, n_all: int) -> float:
    """Guess the time of a fit of the best member on all rows."""
    found = [record for record in judged if n_rows and record.folds(n_rows)]
    if not found:
        return 0.0
    return max(found, key=lambda record: record.score(n_rows)).seconds_for(n_all)
