"""Folds in which seen classes play unseen ones, and the scores of what was held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from zslearn._parameters import Constraint, Number, Numbers
from zslearn._pipelines import features_of, last_step
from zslearn.core.confidence import (
    MEASURES,
    RATIOS,
    LabeledScores,
    confidence_measures,
    fit_confidence,
    fit_temperature,
    learned_confidence,
    refitted_confidence,
    share_of_left_out,
    threshold_for_classes,
    threshold_for_cost,
    threshold_for_share,
    weighted_median,
)
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import SeenUnseenCurve, seen_unseen_curve
from zslearn.model_selection import Choice, ClassKFold, choose
from zslearn.zero_shot.expectation import ExpectedRejection, FoldRanks
from zslearn.zero_shot.scoring import CANDIDATE_SETTINGS, confidence_of_measures

# Held-out samples of a fold that temperature and threshold are learned from; a draw of more of
# them would not change the second digit.
MAX_ROWS = 10_000
# Unseen classes that are candidates of the folds.
MAX_GUESTS = 500
# A third of the pseudo-unseen classes of a fold is unknown at a time.
UNKNOWN_PARTS = 3
# The confidence of a third of the folds is learned of the others, to see what it does to them.
CROSS_PARTS = 3


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a classifier that was fitted on part of the classes says of the samples left out.

    Attributes
    ----------
    curve : SeenUnseenCurve or None
        Of all these samples; None if they are of one side alone.
    y : ndarray of shape (n_samples,)
        True classes of up to `MAX_ROWS` of them.
    classes, seen : ndarray
        All candidates, and those that the classifier was fitted on.
    scores : callable
        Scores of the samples `y` for given candidates.
    ratios : callable or None
        How much better each class explains each of these samples than a class nobody described, of
        shape (2, n_samples, n_classes); None where the method knows no densities.
    other : HeldOut or None
        The same with seen classes represented by their samples as well, if the classifier can.
    n_unseen : int or None
        Candidates that do not play seen classes in the setting "unseen", as many as there will be
        at prediction: how sure an answer is depends on their number. None for all.
    fill : ndarray or None
        More classes without samples that scores are there for, beside `classes`: candidates only
        where it is learned how sure answers are, up to as many unseen ones as there will be.
    """

    curve: SeenUnseenCurve | None
    y: NDArray[Any]
    classes: NDArray[Any]
    seen: NDArray[Any]
    scores: Callable[[NDArray[Any]], NDArray[Any]]
    ratios: Callable[[], NDArray[Any] | None] = lambda: None
    other: HeldOut | None = None
    n_unseen: int | None = None
    fill: NDArray[Any] | None = None

    @property
    def unseen(self) -> NDArray[Any]:
        """Classes that play unseen ones."""
        return np.setdiff1d(self.classes, self.seen)

    def candidates(self, setting: str, unknown: Any = ()) -> NDArray[Any]:
        """Return the classes that a setting, "all" or "unseen", allows as answers."""
        if setting == "all":
            return np.setdiff1d(self.classes, unknown)
        unseen = np.setdiff1d(self.unseen, unknown)
        if self.n_unseen is None:
            return unseen
        # Those with samples stay, and as many of the others as there is room for.
        tested = np.isin(unseen, self.y)
        others = np.flatnonzero(~tested)[max(0, self.n_unseen - int(tested.sum())) :]
        return np.delete(unseen, others)

    def filled(self, candidates: NDArray[Any]) -> NDArray[Any]:
        """Return candidates, with as many unseen ones among them as there will be."""
        if self.fill is None:
            return candidates
        missing = max(0, len(self.fill) - int((~np.isin(candidates, self.seen)).sum()))
        return np.union1d(candidates, self.fill[:missing])

    def labeled_scores(self, setting: str, gamma: float) -> LabeledScores:
        """Return biased scores of the samples whose class is a candidate, sides of equal weight."""
        candidates = self.candidates(setting)
        rows = np.isin(self.y, candidates)
        truth = np.searchsorted(candidates, self.y[rows])
        return LabeledScores(self.biased(candidates, gamma)[rows], truth, self.side_weights(rows))

    def biased(self, candidates: NDArray[Any], gamma: float) -> NDArray[Any]:
        """Return scores of sorted candidates, those of seen ones lower by the bias."""
        return self.scores(candidates) - gamma * np.isin(candidates, self.seen)

    def ranks(self, gamma: float | None = None) -> FoldRanks:
        """Rank samples of pseudo-unseen classes among these, or among all classes less a bias."""
        rows, unseen = np.isin(self.y, self.unseen), self.unseen
        scores, column = self.scores(unseen)[rows], np.searchsorted(unseen, self.y[rows])
        lost = None
        if gamma is not None and len(self.seen):
            own = scores[np.arange(len(column)), column]
            lost = self.scores(self.seen)[rows].max(axis=1) - gamma > own
        return FoldRanks.of(scores, column, np.searchsorted(self.classes, unseen), lost)

    def middle_gap(self) -> float:
        """Return what lies between the gaps of held-out samples of seen classes and of others.

        A gap is by how much the best seen class is ahead of the best unseen one. Of each side the
        median counts, every class the same; the result is the middle of the two.
        """
        gaps = self.scores(self.seen).max(axis=1) - self._best_unseen()
        _, column, counts = np.unique(self.y, return_inverse=True, return_counts=True)
        side, weights = np.isin(self.y, self.seen), 1.0 / counts[column]
        medians = [weighted_median(gaps[rows], weights[rows]) for rows in (side, ~side)]
        return float(np.mean(medians))

    def _best_unseen(self) -> NDArray[Any]:
        """Return the best score of unseen classes, as many as there will be at prediction.

        The class that is held out is one too many beside those without samples: each of these is
        missing in turn, and the mean of what is best then counts.
        """
        unseen = self.unseen
        scores, tested = self.scores(unseen), np.isin(unseen, self.y)
        own, others = scores[:, tested].max(axis=1), np.sort(scores[:, ~tested], axis=1)
        if not others.size:
            return np.asarray(own)
        n_others = others.shape[1]
        best = np.maximum(own, others[:, -1])
        # Only where the best of them is missing does it matter which.
        without = np.maximum(own, others[:, -2]) if n_others > 1 else own
        return np.asarray(best + (without - best) / n_others)

    def ratios_of(self, answers: NDArray[Any], rows: NDArray[np.bool_]) -> NDArray[Any] | None:
        """Return the ratios of some samples for the answers they were given, (n_answers, 2)."""
        table = self.ratios()
        if table is None:
            return None
        columns = np.searchsorted(_scored_names(self.classes, self.fill), answers)
        return table[:, np.flatnonzero(rows), columns].T

    def side_weights(self, rows: NDArray[np.bool_], unknown: Any = ()) -> NDArray[np.float64]:
        """Weigh samples so that seen, unseen and unknown classes count the same in all."""
        # A sample weighs 1 / (samples of its side), so that each side sums to one.
        side = self.sides(rows, unknown)
        weights: NDArray[np.float64] = 1.0 / np.bincount(side, minlength=3)[side]
        return weights

    def sides(self, rows: NDArray[np.bool_], unknown: Any = ()) -> NDArray[np.intp]:
        """Return 0 for samples of seen classes, 2 for those of unknown ones, and 1 for others."""
        y = self.y[rows]
        return np.where(np.isin(y, unknown), 2, np.where(np.isin(y, self.seen), 0, 1))

    def unknown_parts(self, random_state: int | None) -> list[NDArray[Any]]:
        """Deal the pseudo-unseen classes into parts, each of which is unknown in turn."""
        tested = self.unseen[np.isin(self.unseen, self.y)]
        order = np.random.RandomState(random_state).permutation(tested)
        return [np.sort(part) for part in np.array_split(order, min(UNKNOWN_PARTS, len(order)))]


def drawn_guests(unseen: NDArray[Any], random_state: int | None) -> NDArray[Any]:
    """Return the classes without samples that are candidates of the folds: up to `MAX_GUESTS`."""
    drawn = np.random.default_rng(random_state).permutation(len(unseen))[:MAX_GUESTS]
    return np.asarray(unseen[np.sort(drawn)])


def held_out_folds(
    prototype: Any,
    X: Any,
    y: NDArray[Any],
    folds: ClassKFold,
    guests: NDArray[Any] | None = None,
    fill: NDArray[Any] | None = None,
) -> Iterator[HeldOut]:
    """Fit on part of the classes and score what was held out, fold by fold.

    Parameters
    ----------
    prototype : ZeroShotClassifier or Pipeline that ends in one
        What is fitted; it is cloned.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Class of each sample.
    folds : ClassKFold
        With a share of the samples of the other classes held out.
    guests : ndarray of shape (n_guests,), optional
        Classes without samples that are candidates of every fold, as they will be later.
    fill : ndarray of shape (n_fill,), optional
        As in `HeldOut`, without guests.

    Yields
    ------
    HeldOut
        One for each fold in which a class has a sample to spare.
    """
    classes, n_unseen = np.unique(y), None
    if guests is not None and len(guests):
        classes, n_unseen = np.union1d(classes, guests), max(2, len(guests))
    for train, test in folds.split(X, y):
        # Classes so small that none could spare a sample: a curve needs both sides.
        if not np.isin(y[test], y[train]).any():
            continue
        fitted = clone(prototype).fit(X[train], y[train])
        found = held_out_by(fitted, X[test], y[test], classes, n_unseen=n_unseen, fill=fill)
        classifier = last_step(fitted)
        if getattr(classifier, "seen_prototypes", None) == "auto":
            also, rows = classifier.with_seen_prototypes("posterior"), features_of(fitted, X[test])
            other = replace(_scored(also, rows, y[test], classes, 1.0, fill), n_unseen=n_unseen)
            found = replace(found, other=other)
        yield found


def held_out_by(
    fitted: Any,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    *,
    unit: float = 1.0,
    n_unseen: int | None = None,
    fill: NDArray[Any] | None = None,
) -> HeldOut:
    """Score the samples that a fold left out.

    Parameters
    ----------
    fitted : ZeroShotClassifier or Pipeline that ends in one
        Fitted on the rest.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        What was held out: samples of classes it does not know, and of those that it does.
    y : ndarray of shape (n_samples,)
        Their classes.
    classes : ndarray of shape (n_classes,)
        The candidates, sorted.
    unit : float, default=1.0
        What scores are divided by, where folds differ in the size of their scores.
    n_unseen : int, optional
        As in `HeldOut`, if `classes` has some without samples.
    fill : ndarray of shape (n_fill,), optional
        As in `HeldOut`.

    Returns
    -------
    HeldOut
    """
    classifier, rows = last_step(fitted), features_of(fitted, X)
    return replace(_scored(classifier, rows, y, classes, unit, fill), n_unseen=n_unseen)


def _scored_names(classes: NDArray[Any], fill: NDArray[Any] | None) -> NDArray[Any]:
    """Return the classes that scores are there for, sorted: columns of scores and ratios."""
    return classes if fill is None else np.union1d(classes, fill)


def _scored(
    classifier: Any,
    rows: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    unit: float,
    fill: NDArray[Any] | None,
) -> HeldOut:
    names = _scored_names(classes, fill)
    recognizer = classifier.recognizer(names)
    scores, seen, curve = recognizer.scores(rows) / unit, classifier.seen_classes_, None
    known = np.isin(y, seen)
    if known.any() and not known.all():
        own = scores if fill is None else scores[:, np.isin(names, classes)]
        curve = seen_unseen_curve(y, own, candidates=classes, seen=seen)
    some = slice(None, None, -(-len(y) // MAX_ROWS))
    tags = classifier.zero_shot_tags
    if tags.transductive or not tags.separable:
        rescored = _Rescored(classifier, rows[some], unit)
        return HeldOut(curve, y[some], classes, seen, rescored, fill=fill)
    columns = _Columns(names, scores[some].copy())
    ratios = cache(partial(recognizer.familiarity_table, rows[some]))
    return HeldOut(curve, y[some], classes, seen, columns, ratios, fill=fill)


def with_better_seen(
    folds: Sequence[HeldOut], gamma: float | None, *, by_gaps: bool = False
) -> tuple[list[HeldOut], bool]:
    """Return the folds with seen classes as they are recognized better, and whether that changed.

    Parameters
    ----------
    folds : sequence of HeldOut
        With seen classes as they are predicted, and perhaps in the other way.
    gamma : float or None
        The bias, if it is given.
    by_gaps : bool, default=False
        Whether it is taken from gaps, see `gamma_of_gaps`, and not the best.

    Returns
    -------
    folds : list of HeldOut
    other : bool
        Whether the other way has the higher harmonic mean at its bias, over the folds.
    """
    others = [fold.other for fold in folds if fold.other is not None]
    if not folds or len(others) < len(folds):
        return list(folds), False
    means = []
    for part in (folds, others):
        curves = [fold.curve for fold in part if fold.curve is not None]
        bias = gamma
        if bias is None:
            choice = gamma_of_gaps(part) if by_gaps else choose_gamma(curves)
            bias = choice.best_params["gamma"]
        at = [curve.harmonic_means[curve.indices_at(np.array([bias]))][0] for curve in curves]
        means.append(float(np.mean(at)))
    return (others, True) if means[1] > means[0] else (list(folds), False)


def learned_temperatures(folds: Sequence[HeldOut], gamma: float) -> dict[str, float]:
    """Return the temperature of each setting; that of all candidates, or 1, where there is none."""
    learned: dict[str, float] = {}
    for setting in CANDIDATE_SETTINGS:
        parts = [fold.labeled_scores(setting, gamma) for fold in folds]
        # A softmax of one candidate is 1 at every temperature.
        parts = [part for part in parts if part.scores.shape[1] > 1]
        learned[setting] = fit_temperature(parts) if parts else learned.get("all", 1.0)
    return learned


@dataclass(frozen=True, eq=False)
class _Columns:
    """Scores of some classes are columns of the scores of all."""

    classes: NDArray[Any]
    scores: NDArray[Any]

    def __call__(self, candidates: NDArray[Any]) -> NDArray[Any]:
        return self.scores[:, np.searchsorted(self.classes, candidates)]


@dataclass(frozen=True, eq=False)
class _Rescored:
    """Scores that depend on which classes are candidates."""

    fitted: Any
    X: Any
    unit: float

    def __call__(self, candidates: NDArray[Any]) -> NDArray[Any]:
        scores: NDArray[Any] = self.fitted.recognizer(candidates).scores(self.X) / self.unit
        return scores


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
    # γ in the middle of each step, as far as possible from both gaps.
    inside = gaps if len(gaps) == 1 else gaps[:-1] + (gaps[1:] - gaps[:-1]) / 2
    points = [{"gamma": gamma} for gamma in inside.tolist()]
    choice = choose(points, curves, lambda curve: curve.harmonic_means[curve.indices_at(inside)])
    return _thinned(choice, len(curves))


def gamma_of_gaps(folds: Sequence[HeldOut]) -> Choice:
    """Take the bias in the middle between the gaps of either side, averaged over folds.

    With few classes the harmonic mean of a fold is a staircase of few, high steps, and its best
    place a lottery; medians of gaps move little.

    Parameters
    ----------
    folds : sequence of HeldOut
        At least one with a curve.

    Returns
    -------
    Choice
        That bias alone, with the harmonic mean that it reaches.
    """
    parts = [(fold, fold.curve) for fold in folds if fold.curve is not None]
    gamma = float(np.mean([fold.middle_gap() for fold, _ in parts]))
    reached = [[curve.at(gamma).harmonic_mean] for _, curve in parts]
    return Choice.of([{"gamma": gamma}], np.array(reached))


def _thinned(choice: Choice, n_folds: int) -> Choice:
    """Keep the best point and a number of others, spread evenly."""
    params = choice.cv_results["params"]
    spread = np.linspace(0, len(params) - 1, min(len(params), MAX_KEPT)).astype(np.intp)
    kept = np.unique(np.append(spread, choice.best_index))
    scores = [choice.cv_results[f"split{i}_test_score"][kept] for i in range(n_folds)]
    return Choice.of([params[i] for i in kept], np.array(scores))


# What a confidence can be learned to tell.
LEARNED = ("right", "known")
_LENGTHS = (len(MEASURES) + 1, len(MEASURES) + len(RATIOS) + 1)
COEFFICIENTS = Constraint(
    f"{_LENGTHS[0]} numbers, for {', '.join(MEASURES)} and the intercept, or {_LENGTHS[1]} with "
    f"{' and '.join(RATIOS)} before it",
    lambda value: Numbers(Number()).allows(value) and len(value) in _LENGTHS,
)


class Answers(NamedTuple):
    """Answers to samples of known and unknown classes.

    Attributes
    ----------
    measures : ndarray of shape (n_samples, 5) or (n_samples, 7)
        How sure each is, see `core.confidence`.
    side : ndarray of int of shape (n_samples,)
        0 for samples of seen classes, 1 of pseudo-unseen ones, 2 of those that are no candidates.
    right : ndarray of bool of shape (n_samples,)
        Whether the answer is.
    weights : ndarray of shape (n_samples,)
        What each counts.
    y : ndarray of shape (n_samples,)
        True classes.
    fold : ndarray of int of shape (n_samples,)
        Who was asked.
    """

    measures: NDArray[np.float64]
    side: NDArray[np.intp]
    right: NDArray[np.bool_]
    weights: NDArray[np.float64]
    y: NDArray[Any]
    fold: NDArray[np.intp]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether the class of each sample was a candidate."""
        return self.side < 2


class Rejection(NamedTuple):
    """When answers are rejected, and what to expect of it.

    Attributes
    ----------
    coefficients : dict of str to ndarray
        Of a learned confidence, by setting; empty if it is a measure.
    thresholds : dict of str to float or None
        None if there is no fold with an unknown class, two candidates and samples of them.
    expected : dict of str to ExpectedRejection
        For the settings that something was learned of.
    """

    coefficients: dict[str, NDArray[np.float64]]
    thresholds: dict[str, float | None]
    expected: dict[str, ExpectedRejection]


@dataclass(frozen=True)
class RejectionRule:
    """How the confidence of answers is found, and how many answers it may cost.

    Attributes
    ----------
    confidence : str or mapping
        Name of a measure, "right" or "known" to learn one, or coefficients by setting.
    max_rejected : float
        Share of the samples of seen classes that may be rejected; of an unseen one, twice of it.
    reject_cost : float or None
        Cost of rejecting a known sample, if the threshold goes by cost.
    random_state : int or None
        Which classes are unknown together.
    """

    confidence: str | Mapping[str, ArrayLike]
    max_rejected: float
    reject_cost: float | None
    random_state: int | None

    def learn(
        self, folds: Sequence[HeldOut], gamma: float, temperatures: Mapping[str, float]
    ) -> Rejection:
        """Learn confidence and threshold for each setting; those of all candidates if need be.

        Parameters
        ----------
        folds : sequence of HeldOut
            What was held out.
        gamma : float
            The bias against seen classes.
        temperatures : mapping of str to float
            What makes probabilities of scores, by setting.

        Returns
        -------
        Rejection
        """
        coefficients, thresholds = self._given(), dict[str, float | None]()
        expected = dict[str, ExpectedRejection]()
        for setting in CANDIDATE_SETTINGS:
            answers = open_answers(folds, setting, gamma, temperatures[setting], self.random_state)
            if answers is None:
                # "all" comes first, so it is known here if there was anything to learn it from.
                thresholds[setting] = thresholds.get("all")
                if "all" in coefficients:
                    coefficients.setdefault(setting, coefficients["all"])
                continue
            if self.confidence in RATIOS and answers.measures.shape[1] == len(MEASURES):
                raise InvalidInputError(
                    f"confidence={self.confidence!r} takes a method that knows how likely samples "
                    "are: PrototypeRegression."
                )
            if (learned := self._learned(answers)) is not None:
                coefficients[setting] = learned
            mixed = coefficients.get(setting)
            confidence = confidence_of_measures(answers.measures, self.confidence, mixed)
            others = self._cross_fitted(answers, confidence, mixed)
            thresholds[setting], expected[setting] = (
                self._promise(answers, others)
                if self.reject_cost is None
                else self._cheapest(answers, confidence, others, self.reject_cost)
            )
        return Rejection(coefficients, thresholds, expected)

    def _given(self) -> dict[str, NDArray[np.float64]]:
        """Return coefficients given as a parameter."""
        if not isinstance(self.confidence, Mapping):
            return {}
        return {name: np.asarray(row, dtype=float) for name, row in self.confidence.items()}

    def _learned(self, answers: Answers) -> NDArray[np.float64] | None:
        """Return how measures are mixed, None for a single one."""
        # A logistic regression needs examples of both answers.
        truth = self._truth(answers)
        if self.confidence not in LEARNED or truth.all() or not truth.any():
            return None
        return fit_confidence(answers.measures, truth, answers.weights)

    def _cross_fitted(
        self, answers: Answers, confidence: NDArray[np.float64], mixed: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the confidence that is learned of other folds, where one is learned."""
        if self.confidence not in LEARNED or mixed is None:
            return confidence
        truth, found = self._truth(answers), confidence.copy()
        for part in range(CROSS_PARTS):
            rows = answers.fold % CROSS_PARTS == part
            if not rows.any() or truth[~rows].all() or not truth[~rows].any():
                continue
            others = answers.measures[~rows], truth[~rows], answers.weights[~rows]
            again = refitted_confidence(*others, start=mixed)
            if np.isfinite(again).all():
                found[rows] = learned_confidence(answers.measures[rows], again)
        return found

    def _truth(self, answers: Answers) -> NDArray[np.bool_]:
        """Return what a learned confidence tells."""
        return answers.right if self.confidence == "right" else answers.known

    def _cheapest(
        self,
        answers: Answers,
        confidence: NDArray[np.float64],
        others: NDArray[np.float64],
        cost: float,
    ) -> tuple[float, ExpectedRejection]:
        """Return the threshold of smallest cost, and what to expect of it."""
        # Kept: 0 if right, else 1. Rejected: the cost if known, else 0.
        gain = np.where(answers.known, cost, 0.0) - np.where(answers.right, 0.0, 1.0)
        threshold = threshold_for_cost(confidence, gain * answers.weights)
        return threshold, ExpectedRejection.of(others, threshold, answers.side, answers.y)

    def _promise(
        self, answers: Answers, confidence: NDArray[np.float64]
    ) -> tuple[float, ExpectedRejection]:
        """Return the threshold that keeps a promise for unseen classes, and what to expect of it.

        The confidence of each class was learned of others: a promise holds for classes that took no
        part in learning it.
        """
        seen, unseen = answers.side == 0, answers.side == 1
        most = np.inf
        if seen.any():
            most = threshold_for_share(confidence[seen], answers.weights[seen], self.max_rejected)
        # Few samples of seen classes are as unsure as those of others, so these may be rejected
        # twice as often.
        rule = confidence[unseen], answers.y[unseen], 2 * self.max_rejected, most
        threshold, promised = threshold_for_classes(*rule)
        found = ExpectedRejection.of(confidence, threshold, answers.side, answers.y, promised)
        return threshold, replace(found, unseen=share_of_left_out(*rule))


def open_answers(
    folds: Sequence[HeldOut],
    setting: str,
    gamma: float,
    temperature: float,
    random_state: int | None,
) -> Answers | None:
    """Answer the samples of folds with part of the pseudo-unseen classes taken from the candidates.

    How sure an answer is depends on the number of candidates, so samples of known classes are asked
    about among as many as those of unknown ones: each time that a part is unknown. Where a fold
    holds out one class alone, its samples are asked about with it and without it.

    Parameters
    ----------
    folds : sequence of HeldOut
        What was held out.
    setting : {"all", "unseen"}
        Which classes are candidates, besides those that are unknown.
    gamma, temperature : float
        The bias against seen classes, and what makes probabilities of scores.
    random_state : int or None
        Which classes are unknown together.

    Returns
    -------
    Answers or None
        None if no fold has two candidates and an unknown class.
    """
    found = []
    for place, fold in enumerate(folds):
        parts = fold.unknown_parts(random_state)
        for unknown in parts if len(parts) > 1 else [fold.y[:0], *parts]:
            candidates = fold.filled(fold.candidates(setting, unknown))
            if len(candidates) < 2:
                continue
            # Samples of the unknown classes stay, only their classes are no answers any more.
            again = len(parts) == 1 and len(unknown) > 0
            rows = np.isin(fold.y, unknown if again else np.append(candidates, unknown))
            scores = fold.biased(candidates, gamma)[rows]
            y = fold.y[rows]
            answer = candidates[scores.argmax(axis=1)]
            measures = confidence_measures(scores, temperature, fold.ratios_of(answer, rows))
            side, weights = fold.sides(rows, unknown), fold.side_weights(rows, unknown)
            found.append((measures, side, answer == y, weights, y, np.full(len(y), place)))
    return Answers(*map(np.concatenate, zip(*found, strict=True))) if found else None
