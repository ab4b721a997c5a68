"""Answers to samples whose class is known: accuracies with intervals, confusions, mistakes.

`answer_samples` asks a fitted classifier about labeled samples. `answer_held_out` asks it about its
own training classes, each of which is left out of the training once and plays an unseen one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from zslearn._parameters import check_flags
from zslearn.exceptions import InvalidInputError, UnknownClassError
from zslearn.metrics import ReliabilityCurve
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import Recognizer, ZeroShotClassifier
from zslearn.zero_shot.calibration import FEW_CLASSES, CalibratedStacking
from zslearn.zero_shot.search import even_rows

# How often an interval is meant to hold, and how many draws it is made of.
LEVEL, _DRAWS = 0.9, 4_000
# Folds over the seen classes; with fewer of these none can be made.
MAX_FOLDS, LEAST_CLASSES = 5, 4
_HOLDOUT = 0.2


class Share(NamedTuple):
    """A share of samples, or a mean of such shares, with an interval for nine of ten samples.

    Attributes
    ----------
    value : float
        The share that was counted.
    low, high : float
        Bounds of the interval.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, draws: NDArray[np.float64]) -> Share:
        """Take the middle nine tenths of draws."""
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(draws, [tail, 1 - tail]).tolist()
        return cls(float(value), min(low, float(value)), max(high, float(value)))

    @classmethod
    def counted(cls, k: int, n: int) -> Share:
        """Return k of n, with the interval of Jeffreys, as after half a success and a failure."""
        low, high = stats.beta.ppf([(1 - LEVEL) / 2, (1 + LEVEL) / 2], k + 0.5, n - k + 0.5)
        return cls(k / n, min(float(low), k / n), max(float(high), k / n))

    def __str__(self) -> str:
        return f"{percent(self.value)} ({percent(self.low)} to {percent(self.high)})"


def percent(share: float) -> str:
    """Return a share as text.

    Examples
    --------
    >>> percent(0.834)
    '83 %'
    """
    return f"{100 * share:.0f} %"


class ClassAnswers(NamedTuple):
    """What became of the samples of one class.

    Attributes
    ----------
    name : object
        The class.
    unseen : bool
        Whether no sample of it was among those learned from.
    n_samples : int
        Samples asked about.
    accuracy : Share
        Share that is right.
    mistaken_for : object
        The most frequent wrong answer; None if there was none.
    n_mistaken : int
        How often it was given.
    """

    name: Any
    unseen: bool
    n_samples: int
    accuracy: Share
    mistaken_for: Any
    n_mistaken: int


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to labeled samples.

    Attributes
    ----------
    rows : ndarray of int of shape (n_answers,)
        Which sample each answer is about.
    truth, answers : ndarray of shape (n_answers,)
        True classes and answers.
    unseen : ndarray of bool of shape (n_answers,)
        Whether the true class was not learned from.
    sure : ndarray of shape (n_answers,) or None
        Probability of each answer; None by a classifier whose probabilities mean nothing.
    n_candidates : int
        Classes allowed as answers.
    """

    rows: NDArray[np.intp]
    truth: NDArray[Any]
    answers: NDArray[Any]
    unseen: NDArray[np.bool_]
    sure: NDArray[np.float64] | None
    n_candidates: int

    def __len__(self) -> int:
        return len(self.rows)

    def side(self, *, unseen: bool) -> Answers:
        """Return the answers to samples of unseen classes alone, or of seen ones."""
        check_flags(unseen=unseen)
        kept = self.unseen == unseen
        sure = None if self.sure is None else self.sure[kept]
        parts = (self.rows[kept], self.truth[kept], self.answers[kept], self.unseen[kept])
        return Answers(*parts, sure, self.n_candidates)

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Which answers are right."""
        return np.asarray(self.truth == self.answers)

    @cached_property
    def classes(self) -> list[ClassAnswers]:
        """What became of every class, the unseen ones first; held-out ones play both sides."""
        found = []
        for unseen in (True, False):
            for name in np.unique(self.truth[self.unseen == unseen]).tolist():
                rows = (self.truth == name) & (self.unseen == unseen)
                wrong, counts = np.unique(self.answers[rows & ~self.right], return_counts=True)
                worst = int(counts.argmax()) if len(counts) else None
                n = int(rows.sum())
                found.append(
                    ClassAnswers(
                        name,
                        unseen,
                        n,
                        Share.counted(int(self.right[rows].sum()), n),
                        None if worst is None else wrong.tolist()[worst],
                        0 if worst is None else int(counts[worst]),
                    )
                )
        return found

    def accuracy(self, *, unseen: bool) -> Share | None:
        """Return the per-class accuracy on one side; None if no sample is of that side.

        Parameters
        ----------
        unseen : bool
            Which side.

        Returns
        -------
        Share or None
            The interval is that of other samples of the same classes.
        """
        check_flags(unseen=unseen)
        values, draws = self._side(unseen)
        return Share.of(float(values.mean()), draws) if len(values) else None

    def harmonic_mean(self) -> Share | None:
        """Return the harmonic mean of both sides; None if one of them is missing."""
        (seen, seen_draws), (unseen, unseen_draws) = self._side(False), self._side(True)
        if not len(seen) or not len(unseen):
            return None
        return Share.of(
            float(_harmonic(seen.mean(), unseen.mean())), _harmonic(seen_draws, unseen_draws)
        )

    def _side(self, unseen: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the accuracy of every class of a side, and draws of their mean."""
        side = [one for one in self.classes if one.unseen == unseen]
        n = np.array([one.n_samples for one in side], float)
        values = np.array([one.accuracy.value for one in side])
        if not len(side):
            return values, values
        draws = np.zeros(_DRAWS)
        rng = np.random.default_rng(0)
        for k, size in zip(values * n, n, strict=True):  # one class at a time: few numbers at once
            draws += rng.beta(k + 0.5, size - k + 0.5, _DRAWS)
        # Half a success and a failure in every class would draw a mean of many classes towards one
        # half; it gets them once for all its samples, and the draws the spread of plain shares.
        centre = ((values * n + 0.5) / (n + 1)).mean()
        middle = (values.mean() * n.sum() + 0.5) / (n.sum() + 1)
        wider = np.sqrt(1 + 1 / n.mean())
        return values, np.clip(middle + wider * (draws / len(side) - centre), 0.0, 1.0)

    def confusions(self, n: int | None = None) -> list[tuple[Any, Any, int, int]]:
        """Return the most frequent mistakes: the class, the answer, how often, and out of how many.

        Parameters
        ----------
        n : int, optional
            At most so many; all by default.

        Returns
        -------
        list of (class, class, int, int)
        """
        wrong = ~self.right
        places = {name: i for i, name in enumerate(np.union1d(self.truth, self.answers).tolist())}
        names = list(places)
        truth = np.array([places[name] for name in self.truth.tolist()], np.intp)
        given = np.array([places[name] for name in self.answers.tolist()], np.intp)
        sizes = np.bincount(truth, minlength=len(names))
        pairs, counts = np.unique(truth[wrong] * len(names) + given[wrong], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:n]
        found = [divmod(pair, len(names)) for pair in pairs[order].tolist()]
        return [
            (names[true], names[answer], count, int(sizes[true]))
            for (true, answer), count in zip(found, counts[order].tolist(), strict=True)
        ]

    def mistakes(self, n: int) -> NDArray[np.intp]:
        """Return wrong answers that are typical: of the frequent confusions, the surest of each.

        Parameters
        ----------
        n : int
            At most so many.

        Returns
        -------
        ndarray of int
            Places in `rows`.
        """
        chosen: list[int] = []
        for true, answer, _, _ in self.confusions(n):
            places = np.flatnonzero((self.truth == true) & (self.answers == answer))
            best = 0 if self.sure is None else int(self.sure[places].argmax())
            chosen.append(int(places[best]))
        return np.array(chosen, np.intp)

    def reliability(self, *, n_bins: int = 10) -> ReliabilityCurve | None:
        """Compare how sure answers are with how often they are right; None without probabilities.

        Parameters
        ----------
        n_bins : int, default=10
            Bins of equal width.

        Returns
        -------
        ReliabilityCurve or None
        """
        return None if self.sure is None else ReliabilityCurve.of(self.sure, self.right, n_bins)


def _harmonic(a: Any, b: Any) -> Any:
    total = np.asarray(a + b)
    return np.where(total > 0, 2 * a * b / np.where(total > 0, total, 1.0), 0.0)


def answer_samples(
    model: ZeroShotClassifier, X: Any, y: NDArray[Any], candidates: Sequence[Any] | None = None
) -> Answers:
    """Ask a fitted classifier about labeled samples.

    Parameters
    ----------
    model : ZeroShotClassifier
        Fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : ndarray of shape (n_samples,)
        Their classes; each must be a candidate.
    candidates : sequence of class names, optional
        Classes allowed as answers; by default all.

    Returns
    -------
    Answers
    """
    check_is_fitted(model)
    recognizer = model.recognizer(candidates)
    unknown = [name for name in np.unique(y).tolist() if name not in set(recognizer.names.tolist())]
    if unknown:
        remedy = "Every sample needs a class that may be answered; add it by add_classes."
        raise UnknownClassError(unknown, recognizer.names.tolist(), remedy)
    answers, sure = _answered(recognizer, X)
    unseen = ~np.isin(y, model.seen_classes_)
    return Answers(np.arange(len(y)), np.asarray(y), answers, unseen, sure, len(recognizer))


def answer_held_out(
    model: ZeroShotClassifier,
    X: Any,
    y: NDArray[Any],
    *,
    max_rows: int = 10_000,
    random_state: int = 0,
) -> Answers:
    """Ask about the training samples of a classifier, as if their classes were unseen.

    The classifier is fitted again without some of its classes, with the numbers that it has, and
    then asked about these and about a fifth of the samples of the others. All its classes are
    candidates, also those without samples. Every class is left out once: up to fifteen of a method
    in closed form one at a time, since each is a good part of what is known, more in five folds.

    Parameters
    ----------
    model : ZeroShotClassifier
        Fitted.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        What it was fitted on.
    y : ndarray of shape (n_samples,)
        Classes of the samples.
    max_rows : int, default=10000
        Of more samples so many are drawn, evenly from the classes.
    random_state : int, default=0
        Seed of the draw and of the folds.

    Returns
    -------
    Answers
        `unseen` are samples of classes that were left out.
    """
    check_is_fitted(model)
    classes, index = np.unique(y, return_inverse=True)
    if len(classes) < LEAST_CLASSES or model.signatures is None:
        raise InvalidInputError(
            f"classes are held out of at least {LEAST_CLASSES} described ones; got {len(classes)}."
        )
    kept = even_rows(index, max_rows, np.random.default_rng(random_state))
    frozen = _with_numbers(model)
    n_folds = min(MAX_FOLDS, len(classes) // 2)
    if len(classes) <= FEW_CLASSES and model.zero_shot_tags.closed_form:
        n_folds = len(classes)
    dealt = ClassKFold(
        n_folds, shuffle=True, holdout=min(_HOLDOUT, 1 / n_folds), random_state=random_state
    )
    parts, asked = [], kept[:0]
    for train, test in dealt.split(kept, y[kept]):
        fitted = clone(frozen).fit(X[kept[train]], y[kept[train]])
        rows = kept[test]
        unseen = ~np.isin(y[rows], fitted.seen_classes_)
        # A sample of the other classes counts once, in the first fold that leaves it out.
        once = unseen | ~np.isin(rows, asked)
        rows, unseen = rows[once], unseen[once]
        asked = np.append(asked, rows[~unseen])
        answers, sure = _answered(fitted.recognizer(), X[rows])
        parts.append(Answers(rows, y[rows], answers, unseen, sure, len(model.classes_)))
    return Answers(
        np.concatenate([one.rows for one in parts]),
        np.concatenate([one.truth for one in parts]),
        np.concatenate([one.answers for one in parts]),
        np.concatenate([one.unseen for one in parts]),
        _joined([one.sure for one in parts]),
        parts[0].n_candidates,
    )


def _joined(parts: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


def _answered(recognizer: Recognizer, X: Any) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Return answers, and how sure each is if the classifier has learned that."""
    if not recognizer.is_calibrated:
        return recognizer.predict(X), None
    table = recognizer.probabilities(X)
    return recognizer.names[table.argmax(axis=1)], table.max(axis=1)


def _with_numbers(model: ZeroShotClassifier) -> ZeroShotClassifier:
    """Return an unfitted copy that chooses and calibrates nothing by itself."""
    frozen: ZeroShotClassifier = model.frozen()
    if isinstance(frozen, CalibratedStacking):
        frozen.set_params(confidence="score", threshold=0.0, temperature=dict(model.temperature_))
    return frozen
