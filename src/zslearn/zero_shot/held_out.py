"""Folds in which seen classes play unseen ones, and the scores of what was held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from zslearn.core.confidence import Labelled, fit_temperature
from zslearn.metrics import SeenUnseenCurve, seen_unseen_curve
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot.pipelines import features_of, last_step
from zslearn.zero_shot.settings import SETTINGS

# Held-out samples of a fold that temperature and threshold are learned from; a draw of more of
# them would not change the second digit.
MAX_ROWS = 10_000
# A third of the pseudo-unseen classes of a fold is unknown at a time.
UNKNOWN_PARTS = 3


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a classifier that was fitted on part of the classes says of the samples left out.

    Attributes
    ----------
    curve : SeenUnseenCurve
        Of all these samples.
    y : ndarray of shape (n_samples,)
        True classes of up to `MAX_ROWS` of them.
    classes, seen : ndarray
        All training classes, and those that the classifier was fitted on.
    scores : callable
        Scores of the samples `y` for given candidates.
    """

    curve: SeenUnseenCurve
    y: NDArray[Any]
    classes: NDArray[Any]
    seen: NDArray[Any]
    scores: Callable[[NDArray[Any]], NDArray[Any]]

    @property
    def unseen(self) -> NDArray[Any]:
        """Classes that play unseen ones."""
        return np.setdiff1d(self.classes, self.seen)

    def candidates(self, setting: str) -> NDArray[Any]:
        """Return the classes that a setting, "all" or "unseen", allows as answers."""
        return self.classes if setting == "all" else self.unseen

    def labelled(self, setting: str, gamma: float) -> Labelled:
        """Return biased scores of the samples whose class is a candidate, sides of equal weight."""
        candidates = self.candidates(setting)
        rows = np.isin(self.y, candidates)
        truth = np.searchsorted(candidates, self.y[rows])
        return Labelled(self.biased(candidates, gamma)[rows], truth, self.side_weights(rows))

    def biased(self, candidates: NDArray[Any], gamma: float) -> NDArray[Any]:
        """Return scores of sorted candidates, those of seen ones lower by the bias."""
        return self.scores(candidates) - gamma * np.isin(candidates, self.seen)

    def side_weights(self, rows: NDArray[np.bool_], unknown: Any = ()) -> NDArray[np.float64]:
        """Weigh samples so that seen, unseen and unknown classes count the same in all."""
        y = self.y[rows]
        side = np.where(np.isin(y, unknown), 2, np.where(np.isin(y, self.seen), 0, 1))
        counts = np.bincount(side, minlength=3)
        weights: NDArray[np.float64] = 1.0 / counts[side]
        return weights

    def unknown_parts(self, random_state: int | None) -> list[NDArray[Any]]:
        """Deal the pseudo-unseen classes into parts, each of which is unknown in turn."""
        order = np.random.RandomState(random_state).permutation(self.unseen)
        return [np.sort(part) for part in np.array_split(order, min(UNKNOWN_PARTS, len(order)))]


def held_out_folds(prototype: Any, X: Any, y: NDArray[Any], folds: ClassKFold) -> Iterator[HeldOut]:
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

    Yields
    ------
    HeldOut
        One for each fold in which a class has a sample to spare.
    """
    classes = np.unique(y)
    for train, test in folds.split(X, y):
        if not np.isin(y[test], y[train]).any():
            continue
        fitted = clone(prototype).fit(X[train], y[train])
        classifier, rows = last_step(fitted), features_of(fitted, X[test])
        scores = classifier.recogniser(classes).scores(rows)
        seen = classifier.seen_classes_
        curve = seen_unseen_curve(y[test], scores, candidates=classes, seen=seen)
        some = slice(None, None, -(-len(test) // MAX_ROWS))
        tags = classifier.zero_shot_tags
        again = tags.transductive or not tags.separable
        answer = (
            _Rescored(classifier, rows[some]) if again else _Columns(classes, scores[some].copy())
        )
        yield HeldOut(curve, y[test][some], classes, seen, answer)


def learned_temperatures(folds: Sequence[HeldOut], gamma: float) -> dict[str, float]:
    """Return the temperature of each setting; that of all candidates, or 1, where there is none."""
    learned: dict[str, float] = {}
    for setting in SETTINGS:
        parts = [fold.labelled(setting, gamma) for fold in folds]
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

    def __call__(self, candidates: NDArray[Any]) -> NDArray[Any]:
        scores: NDArray[Any] = self.fitted.recogniser(candidates).scores(self.X)
        return scores
