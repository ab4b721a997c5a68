"""The scores of all samples for all classes of one method; a changed class costs one column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.serve.studio.state import BoardClass
from zslearn.zero_shot import Recognizer

NOBODY = -np.inf


class Choice(NamedTuple):
    """What each sample is answered: columns of the board, and how clearly.

    Attributes
    ----------
    best, second : ndarray of shape (n_samples,)
        Columns; `second` is that of `best` if there is one class only.
    margin : ndarray of shape (n_samples,), float32
        The best score minus the second.
    """

    best: NDArray[np.intp]
    second: NDArray[np.intp]
    margin: NDArray[np.float32]


class Others(NamedTuple):
    """The best two of each sample among all columns but one, which a slider changes.

    Attributes
    ----------
    place : int
        The column left out.
    best, second : ndarray of shape (n_samples,)
        Columns.
    top, next : ndarray of shape (n_samples,), float32
        Their scores.
    """

    place: int
    best: NDArray[np.intp]
    top: NDArray[np.float32]
    second: NDArray[np.intp]
    next: NDArray[np.float32]

    def with_column(self, column: NDArray[np.float32]) -> Choice:
        """Return the best and the second class with the scores of the column left out."""
        wins = _ahead(column, self.place, self.top, self.best)
        follows = ~wins & _ahead(column, self.place, self.next, self.second)
        best = np.where(wins, self.place, self.best)
        second = np.where(wins, self.best, np.where(follows, self.place, self.second))
        behind = np.where(wins, self.top, np.where(follows, column, self.next))
        return Choice(best, second, np.where(wins, column, self.top) - behind)


class Board:
    """The score matrix of one fitted method, kept in step with the classes.

    Parameters
    ----------
    recognizer : Recognizer
        The fitted method with the classes of its table.
    X : array of shape (n_samples, n_features)
        All samples; they are made ready once.
    key : callable
        Returns the name of a class inside the recognizer.
    """

    def __init__(
        self, recognizer: Recognizer, X: Any, key: Callable[[BoardClass], Any] | None = None
    ) -> None:
        self.recognizer = recognizer
        self.key = key or (lambda one: one.name)
        self.ready = recognizer.ready(X)
        self.n = len(self.ready)
        self._scored: dict[int, NDArray[np.float64]] = {}
        self._separable = bool(self.ready.scorer.zero_shot_tags.separable)
        self.ids = np.empty(0, np.int32)
        self.seen = np.empty(0, bool)
        self.scores = np.empty((self.n, 0), np.float32)
        # The scores minus the bias asked for last, but for the columns that changed since.
        self._biased = self.scores
        self._bias: float | None = None
        self._fresh: list[int] = []
        # The column that changed last, and the best two of all others while nothing else changes.
        self._edited: int | None = None
        self._others: Others | None = None

    def sync(self, classes: Mapping[int, BoardClass]) -> None:
        """Score the classes that are new or changed, and drop those that are gone."""
        wanted = np.fromiter(classes, np.int32, len(classes))
        stale = [one for one in classes.values() if not _same(self._scored.get(one.id), one.row)]
        if not np.array_equal(wanted, self.ids):
            self._arrange(wanted)
        self.seen = np.fromiter((one.seen for one in classes.values()), bool, len(classes))
        if stale and (not self._separable or len(stale) > max(4, len(classes) // 2)):
            self.scores = self.whole(classes).scores(self.ready).astype(np.float32, copy=False)
            self._bias = self._edited = None
        else:
            places = {number: place for place, number in enumerate(wanted.tolist())}
            for one in stale:
                column = self.with_class(one).column(self.ready, self.key(one))
                self.scores[:, places[one.id]] = column
                self._fresh.append(places[one.id])
                self._edited = places[one.id] if len(stale) == 1 else None
        self._scored = {one.id: one.row for one in classes.values()}

    def choose(self, bias: float) -> Choice:
        """Return the best and the second class of each sample.

        Parameters
        ----------
        bias : float
            What is subtracted from the scores of seen classes.
        """
        scores = self.biased(bias)
        if scores.shape[1] < 2:
            best = scores.argmax(axis=1)
            return Choice(best, best, np.zeros(self.n, np.float32))
        if self._edited is None or scores.shape[1] < 3:
            best, top, second, after = _best_two(scores)
            return Choice(best, second, top - after)
        if self._others is None:
            self._others = _without(scores, self._edited)
        return self._others.with_column(scores[:, self._edited])

    def biased(self, bias: float) -> NDArray[np.float32]:
        """Return the scores with a bias against seen classes; the board's own array."""
        against = (bias * self.seen).astype(np.float32)
        if self._bias != bias or self._biased.shape != self.scores.shape:
            self._biased, self._bias, self._others = self.scores - against, bias, None
        else:
            for place in self._fresh:
                if self._others is not None and self._others.place != place:
                    self._others = None
                self._biased[:, place] = self.scores[:, place] - against[place]
        self._fresh = []
        return self._biased

    def with_class(self, one: BoardClass) -> Recognizer:
        """Return the recognizer with one class as it is on the board."""
        phrases = None if one.told is None else one.told.phrases
        return self.recognizer.replace(self.key(one), one.row, phrases=phrases)

    def whole(self, classes: Mapping[int, BoardClass]) -> Recognizer:
        """Return a recognizer of all classes on the board, in their order."""
        found, table = self.recognizer, self.recognizer.signatures
        for one in classes.values():
            key = self.key(one)
            if key not in table or not _same(table[key], one.row):
                found = found.replace(key, one.row)
        return found.among([self.key(one) for one in classes.values()])

    def _arrange(self, wanted: NDArray[np.int32]) -> None:
        """Give every class its column, with the scores that are known."""
        old = {number: place for place, number in enumerate(self.ids.tolist())}
        places = np.array([old.get(number, -1) for number in wanted.tolist()], np.intp)
        scores = np.zeros((self.n, len(wanted)), np.float32)
        kept = places >= 0
        scores[:, kept] = self.scores[:, places[kept]]
        self.scores, self.ids = scores, wanted
        self._bias = self._edited = None


def _same(one: Any, other: NDArray[np.float64]) -> bool:
    return one is other or (one is not None and np.array_equal(one, other))


def _best_two(scores: NDArray[np.float32]) -> tuple[NDArray[Any], ...]:
    """Return best column, its score, second column, its score; ties go to the first column."""
    rows = np.arange(len(scores))
    best = scores.argmax(axis=1)
    top = scores[rows, best]
    scores[rows, best] = NOBODY
    second = scores.argmax(axis=1)
    after = scores[rows, second]
    scores[rows, best] = top
    return best, top, second, after


def _without(scores: NDArray[np.float32], place: int) -> Others:
    """Return the best two of all columns but one."""
    column = scores[:, place].copy()
    scores[:, place] = NOBODY
    found = Others(place, *_best_two(scores))
    scores[:, place] = column
    return found


def _ahead(
    column: NDArray[np.float32], place: int, other: NDArray[np.float32], at: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Say where a column is ahead of others; a tie goes to the first column."""
    return (column > other) | ((column == other) & (place < at))


NONE = -1


@dataclass(frozen=True, eq=False)
class Answers:
    """What all samples are answered, in numbers of classes, and how right that is.

    Accuracies count test rows only: rows that no model was trained on.

    Attributes
    ----------
    ids : ndarray of shape (n_classes,), int32
        The classes.
    answer, second : ndarray of shape (n_samples,), int32
        Numbers of classes; -1 is "none of these".
    margin : ndarray of shape (n_samples,), float32
        The best score minus the second.
    truth : ndarray of shape (n_samples,), int32
        Numbers of classes; -1 where the class is not known or not described.
    count, right, answered, rows, taken : ndarray of shape (n_classes,)
        Test rows of each class, those answered rightly, test rows answered with it; then rows and
        answers with it among all rows.
    summary : dict
        Mean accuracy over classes, of all, seen and unseen ones, and the harmonic mean.
    """

    ids: NDArray[np.int32]
    answer: NDArray[np.int32]
    second: NDArray[np.int32]
    margin: NDArray[np.float32]
    truth: NDArray[np.int32]
    count: NDArray[np.intp]
    right: NDArray[np.intp]
    answered: NDArray[np.intp]
    rows: NDArray[np.intp]
    taken: NDArray[np.intp]
    summary: dict[str, Any]

    def by_class(self) -> list[dict[str, Any]]:
        """Return the figures of each class."""
        columns = (self.ids, self.count, self.right, self.answered, self.rows, self.taken)
        return [
            {
                "id": number,
                "count": count,
                "right": right,
                "answered": answered,
                "rows": rows,
                "taken": taken,
                "accuracy": right / count if count else None,
            }
            for number, count, right, answered, rows, taken in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]


def count_answers(
    ids: NDArray[np.int32],
    seen: NDArray[np.bool_],
    columns: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]],
    truth: NDArray[np.intp],
    test: NDArray[np.bool_],
    kept: NDArray[np.bool_] | None,
) -> Answers:
    """Turn the best columns of samples into answers and figures.

    Parameters
    ----------
    ids, seen : ndarray of shape (n_classes,)
        Numbers of the classes, and which were seen in training.
    columns : (best, second, margin)
        As a board chooses them.
    truth : ndarray of shape (n_samples,)
        Column of the true class, -1 where there is none.
    test : ndarray of bool of shape (n_samples,)
        Which rows were not trained on.
    kept : ndarray of bool of shape (n_samples,) or None
        The other answers become "none of these".

    Returns
    -------
    Answers
    """
    best, second, margin = columns
    n = len(ids)
    kept = np.ones(len(best), bool) if kept is None else kept
    given = np.where(kept, best, NONE)
    known = test & (truth >= 0)
    count = np.bincount(truth[known], minlength=n)
    right = np.bincount(truth[known & (given == truth)], minlength=n)
    named = np.append(ids, np.int32(NONE))
    return Answers(
        ids,
        named[given],
        ids[second],
        margin,
        named[truth],
        count,
        right,
        np.bincount(given[test & kept], minlength=n),
        np.bincount(truth[truth >= 0], minlength=n),
        np.bincount(given[kept], minlength=n),
        _summary(count, right, seen, int((test & ~kept).sum()), int(test.sum())),
    )


def _summary(
    count: NDArray[np.intp],
    right: NDArray[np.intp],
    seen: NDArray[np.bool_],
    n_rejected: int,
    n_test: int,
) -> dict[str, Any]:
    def mean(which: NDArray[np.bool_]) -> float | None:
        some = which & (count > 0)
        return float((right[some] / count[some]).mean()) if some.any() else None

    of_seen, of_unseen = mean(seen), mean(~seen)
    both = of_seen is not None and of_unseen is not None
    h = None
    if of_seen is not None and of_unseen is not None:
        total = of_seen + of_unseen
        h = 2 * of_seen * of_unseen / total if total else 0.0
    return {
        "accuracy": mean(np.ones(len(count), bool)),
        "seen": of_seen,
        "unseen": of_unseen,
        "h": h if both else None,
        "rejected": n_rejected / n_test if n_test else None,
        "n_rejected": n_rejected,
    }
