"""When to answer "none of these": learned where some classes are neither trained nor candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import Constraint, Number, Numbers
from zslearn.core.confidence import (
    MEASURES,
    confidence_measures,
    fit_confidence,
    learned_confidence,
    threshold_for_cost,
    threshold_for_share,
)
from zslearn.zero_shot.held_out import HeldOut
from zslearn.zero_shot.settings import SETTINGS

# What a confidence can be learned to tell.
LEARNED = ("right", "known")
COEFFICIENTS = Constraint(
    f"{len(MEASURES) + 1} numbers, for {', '.join(MEASURES)} and the intercept",
    lambda value: Numbers(Number()).allows(value) and len(value) == len(MEASURES) + 1,
)


class Answers(NamedTuple):
    """Answers to samples of known and unknown classes.

    Attributes
    ----------
    measures : ndarray of shape (n_samples, 5)
        How sure each is, see `core.confidence`.
    known, right : ndarray of bool of shape (n_samples,)
        Whether the class of the sample was a candidate, and the answer.
    weights : ndarray of shape (n_samples,)
        What each counts.
    """

    measures: NDArray[np.float64]
    known: NDArray[np.bool_]
    right: NDArray[np.bool_]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Rejection:
    """How the confidence of answers is found, and how many answers it may cost.

    Attributes
    ----------
    confidence : str or mapping
        Name of a measure, "right" or "known" to learn one, or coefficients by setting.
    max_rejected : float
        Share of known samples that may be rejected.
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
    ) -> tuple[dict[str, NDArray[np.float64]], dict[str, float | None]]:
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
        coefficients : dict of str to ndarray
            Of a learned confidence, by setting; empty if it is a measure.
        thresholds : dict of str to float or None
            None if there is no fold with an unknown class and two candidates.
        """
        coefficients, thresholds = self._given(), dict[str, float | None]()
        for setting in SETTINGS:
            answers = open_answers(folds, setting, gamma, temperatures[setting], self.random_state)
            if answers is None:
                thresholds[setting] = thresholds.get("all")
                if "all" in coefficients:
                    coefficients.setdefault(setting, coefficients["all"])
                continue
            if (learned := self._learned(answers)) is not None:
                coefficients[setting] = learned
            mixed = coefficients.get(setting)
            confidence = confidence_of_measures(answers.measures, self.confidence, mixed)
            thresholds[setting] = self._threshold(answers, confidence)
        return coefficients, thresholds

    def _given(self) -> dict[str, NDArray[np.float64]]:
        """Return coefficients given as a parameter."""
        if not isinstance(self.confidence, Mapping):
            return {}
        return {name: np.asarray(row, dtype=float) for name, row in self.confidence.items()}

    def _learned(self, answers: Answers) -> NDArray[np.float64] | None:
        """Return how measures are mixed, None for a single one."""
        truth = answers.right if self.confidence == "right" else answers.known
        if self.confidence not in LEARNED or truth.all() or not truth.any():
            return None
        return fit_confidence(answers.measures, truth, answers.weights)

    def _threshold(self, answers: Answers, confidence: NDArray[np.float64]) -> float:
        known, weights = answers.known, answers.weights
        if self.reject_cost is None:
            return threshold_for_share(confidence[known], weights[known], self.max_rejected)
        # Kept: 0 if right, else 1. Rejected: the cost if known, else 0.
        gain = np.where(known, self.reject_cost, 0.0) - np.where(answers.right, 0.0, 1.0)
        return threshold_for_cost(confidence, gain * weights)


def open_answers(
    folds: Sequence[HeldOut],
    setting: str,
    gamma: float,
    temperature: float,
    random_state: int | None,
) -> Answers | None:
    """Answer the samples of folds with part of the pseudo-unseen classes taken from the candidates.

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
    for fold in folds:
        for unknown in fold.unknown_parts(random_state):
            candidates = np.setdiff1d(fold.candidates(setting), unknown)
            if len(candidates) < 2:
                continue
            rows = np.isin(fold.y, fold.candidates(setting))
            scores = fold.biased(candidates, gamma)[rows]
            y = fold.y[rows]
            answer = candidates[scores.argmax(axis=1)]
            measures = confidence_measures(scores, temperature)
            weights = fold.side_weights(rows, unknown)
            found.append((measures, np.isin(y, candidates), answer == y, weights))
    return Answers(*map(np.concatenate, zip(*found, strict=True))) if found else None


def confidence_of_measures(
    measures: NDArray[np.float64], kind: Any, coefficients: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return a learned mixture of measures, or one of them: the best score where none is named."""
    if coefficients is not None:
        return learned_confidence(measures, coefficients)
    return measures[:, MEASURES.index(kind) if kind in MEASURES else 0]
