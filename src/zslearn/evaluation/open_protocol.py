"""The open setting: seen, unseen and unknown classes are tested together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Constraint, Either, Number, Seed, check_parameters
from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.evaluation.protocols import SPLIT, GeneralizedProtocol, Task
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import (
    RejectionCurve,
    expected_calibration_error,
    rejection_curve,
)
from zslearn.metrics.accuracy import mean_within_classes
from zslearn.zero_shot import Recognizer

NAMES = Constraint(
    "a list of unseen classes",
    lambda value: isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) == 1,
)


@dataclass(frozen=True, eq=False)
class OpenAnswers:
    """What a calibrated classifier says of the test rows.

    Attributes
    ----------
    predicted : ndarray of shape (n_test,)
        The best candidate of each row, before any rejection.
    confidence : ndarray of shape (n_test,)
        How sure it is.
    rejected : ndarray of bool of shape (n_test,)
        Rows that are said to belong to no candidate.
    probabilities : ndarray of shape (n_test, n_candidates)
        Probability of each candidate.
    unseen_probabilities : ndarray of shape (n_test, n_unseen)
        The same with the unseen classes as the only candidates.
    """

    predicted: NDArray[Any]
    confidence: NDArray[Any]
    rejected: NDArray[np.bool_]
    probabilities: NDArray[Any]
    unseen_probabilities: NDArray[Any]

    @classmethod
    def of(cls, recognizer: Recognizer, X: Any, unseen: NDArray[Any]) -> OpenAnswers:
        """Ask a recognizer of a calibrated classifier.

        Parameters
        ----------
        recognizer : Recognizer
            With seen and unseen candidates.
        X : ndarray of shape (n_test, n_features)
            Features.
        unseen : ndarray
            Candidates that are unseen.

        Returns
        -------
        OpenAnswers
        """
        return cls(
            recognizer.predict(X),
            recognizer.confidence(X),
            recognizer.rejected(X),
            recognizer.probabilities(X),
            recognizer.among(unseen.tolist()).probabilities(X),
        )


@dataclass(frozen=True)
class OpenProtocol:
    """Test on seen, unseen and unknown classes; unknown ones are no candidates and have no answer.

    Part of the unseen classes becomes unknown: nothing is trained on them, their signatures are
    taken away, and the right answer to their samples is "none of these". The method is calibrated
    on the training rows (`CalibratedStacking`), which gives it a bias, probabilities and a
    threshold.

    Parameters
    ----------
    split : str or ClassSplit, optional
        Which split of the data set; by default "proposed" if there is one, else the first. If it
        has `test_seen` rows they are the held-out samples.
    unknown : float or sequence of class names, default=1/3
        Share of the unseen classes that is drawn to be unknown, or their names.
    holdout : float, default=0.2
        Share of the samples of each seen class to hold out if the split has no `test_seen` rows.
    random_state : int, default=0
        Seed of both draws; recorded with the result.

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> from zslearn.evaluation import OpenProtocol
    >>> task = OpenProtocol("proposed").task(load_animals())
    >>> len(task.seen), len(task.unseen), len(task.unknown), len(task.candidates)
    (22, 4, 2, 26)
    """

    name: ClassVar[str] = "open"
    parameter_constraints: ClassVar = {
        "split": SPLIT,
        "unknown": Either(Number(above=0, below=1), NAMES),
        "holdout": Number(above=0, below=1),
        "random_state": Seed(),
    }
    split: str | ClassSplit | None = None
    unknown: float | Sequence[Any] = 1 / 3
    holdout: float = 0.2
    random_state: int = 0

    def __post_init__(self) -> None:
        check_parameters(self)

    def task(self, dataset: ZeroShotDataset) -> Task:
        """Return the rows and candidates of this protocol for a data set.

        Parameters
        ----------
        dataset : ZeroShotDataset
            Data with at least one split, of two unseen classes or more.

        Returns
        -------
        Task
            Its test rows are those of `GeneralizedProtocol`.
        """
        closed = GeneralizedProtocol(self.split, self.holdout, self.random_state).task(dataset)
        unknown = self._unknown(closed.unseen)
        unseen = closed.unseen[~np.isin(closed.unseen, unknown)]
        candidates = np.concatenate([closed.seen, unseen])
        seed = self.random_state if isinstance(self.unknown, float) else closed.seed
        return replace(closed, unseen=unseen, unknown=unknown, candidates=candidates, seed=seed)

    def curve(self, task: Task, y: NDArray[Any], answers: OpenAnswers) -> RejectionCurve:
        """Return the curve of accuracy against coverage.

        Parameters
        ----------
        task, y, answers
            As in :meth:`measure`.

        Returns
        -------
        RejectionCurve
        """
        return rejection_curve(y, answers.predicted, answers.confidence, candidates=task.candidates)

    def measure(self, task: Task, y: NDArray[Any], answers: OpenAnswers) -> dict[str, float]:
        """Measure the answers to the test rows.

        Parameters
        ----------
        task : Task
            What was predicted.
        y : ndarray of shape (n_test,)
            True class of each test row.
        answers : OpenAnswers
            What was answered.

        Returns
        -------
        dict
            Per class, a rejected known sample counting as wrong: "seen_accuracy",
            "unseen_accuracy", "unknown_accuracy" (share rejected) and the "harmonic_mean" of the
            three; the first two without rejection as "forced_..."; "known_rejected", the share of
            samples of candidates; "unknown_auroc", by confidence; "coverage_area", the mean
            accuracy over all coverages; the expected calibration error of samples of candidates,
            "calibration_error" with all candidates, "calibration_error_seen" and
            "calibration_error_unseen" of the samples of each side, and
            "calibration_error_conventional" of unseen samples among unseen candidates.
        """
        sides = {name: np.isin(y, getattr(task, name)) for name in ("seen", "unseen", "unknown")}
        curve = self.curve(task, y, answers)
        return (
            _accuracies(sides, y, answers)
            | {
                "known_rejected": float(answers.rejected[~sides["unknown"]].mean()),
                "unknown_auroc": curve.auroc,
                "coverage_area": curve.area,
            }
            | _calibration_errors(task, sides, y, answers)
        )

    def _unknown(self, unseen: NDArray[Any]) -> NDArray[Any]:
        """Return the classes that are unknown."""
        if len(unseen) < 2:
            raise InvalidInputError(
                f"the open protocol needs two unseen classes or more; got {len(unseen)}. One of "
                "them becomes unknown."
            )
        if isinstance(self.unknown, float):
            n = int(np.clip(round(self.unknown * len(unseen)), 1, len(unseen) - 1))
            drawn = np.random.default_rng(self.random_state).permutation(unseen)[:n]
            return unseen[np.isin(unseen, drawn)]
        names = np.asarray(self.unknown)
        strange = names[~np.isin(names, unseen)]
        if strange.size or not names.size or len(names) >= len(unseen):
            found = f"{strange[0]!s} is none" if strange.size else f"{len(names)} are named"
            raise InvalidInputError(
                f"unknown must name some, not all, of the {len(unseen)} unseen classes; {found}."
            )
        return names


def _accuracies(
    sides: dict[str, NDArray[np.bool_]], y: NDArray[Any], answers: OpenAnswers
) -> dict[str, float]:
    """Per-class accuracy on each side, with and without rejection."""
    right = answers.predicted == y
    measures = {}
    for side in ("seen", "unseen"):
        rows = sides[side]
        measures[f"{side}_accuracy"] = mean_within_classes(
            y[rows], (right & ~answers.rejected)[rows]
        )
        measures[f"forced_{side}_accuracy"] = mean_within_classes(y[rows], right[rows])
    rows = sides["unknown"]
    measures["unknown_accuracy"] = mean_within_classes(y[rows], answers.rejected[rows])
    three = [measures[f"{side}_accuracy"] for side in sides]
    measures["harmonic_mean"] = 3 / sum(1 / value for value in three) if all(three) else 0.0
    return measures


def _calibration_errors(
    task: Task, sides: dict[str, NDArray[np.bool_]], y: NDArray[Any], answers: OpenAnswers
) -> dict[str, float]:
    """Measure the probabilities of the samples whose class is a candidate."""

    def error(rows: NDArray[np.bool_], probabilities: NDArray[Any], names: NDArray[Any]) -> float:
        return expected_calibration_error(y[rows], probabilities[rows], candidates=names)

    every, names = answers.probabilities, task.candidates
    return {
        "calibration_error": error(~sides["unknown"], every, names),
        "calibration_error_seen": error(sides["seen"], every, names),
        "calibration_error_unseen": error(sides["unseen"], every, names),
        "calibration_error_conventional": error(
            sides["unseen"], answers.unseen_probabilities, task.unseen
        ),
    }
