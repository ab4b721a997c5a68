"""Samples that belong to no candidate: how well they are separated, and what rejecting costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.exceptions import InvalidInputError
from zslearn.metrics.labels import check_label_pair, check_labels, check_same_kind


@dataclass(frozen=True, eq=False)
class RejectionCurve:
    """What every threshold on the confidence leads to: answers of lower confidence are rejected.

    Attributes
    ----------
    thresholds : ndarray of shape (n_points,)
        The distinct confidences, descending; an answer at the threshold is kept.
    coverage : ndarray of shape (n_points,)
        Share of all samples that gets an answer, rising to one.
    accuracy : ndarray of shape (n_points,)
        Share of these answers that is right; the answer to an unknown sample never is.
    known_rejected, unknown_rejected : ndarray of shape (n_points,)
        Share of the samples of candidates, and of the others, that is rejected.
    """

    thresholds: NDArray[np.float64]
    coverage: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    known_rejected: NDArray[np.float64]
    unknown_rejected: NDArray[np.float64]

    @property
    def auroc(self) -> float:
        """Chance that a known sample has a higher confidence than an unknown one, ties half."""
        kept_known = np.append(0.0, 1.0 - self.known_rejected)
        kept_unknown = np.append(0.0, 1.0 - self.unknown_rejected)
        return float(np.trapezoid(kept_known, kept_unknown))

    @property
    def area(self) -> float:
        """Mean accuracy over all coverages, each step at the accuracy of its end."""
        return float(np.sum(np.diff(self.coverage, prepend=0.0) * self.accuracy))


def rejection_curve(
    y_true: ArrayLike, y_pred: ArrayLike, confidence: ArrayLike, *, candidates: ArrayLike
) -> RejectionCurve:
    """Trace accuracy against coverage as answers of low confidence are rejected.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True class of each sample. Samples whose class is not a candidate are the unknown ones;
        there must be some of both kinds.
    y_pred : array-like of shape (n_samples,)
        The best candidate of each sample, before any rejection.
    confidence : array-like of shape (n_samples,)
        How sure each answer is, on any scale; larger is surer.
    candidates : array-like of shape (n_candidates,)
        Classes that could be answered.

    Returns
    -------
    RejectionCurve
        One point for each distinct confidence.

    Raises
    ------
    InvalidInputError
        If lengths differ, a confidence is NaN, or all samples are known or all unknown.

    Examples
    --------
    >>> from zslearn.metrics import rejection_curve
    >>> y_true = ["cow", "cow", "okapi", "yeti"]
    >>> y_pred = ["cow", "okapi", "okapi", "cow"]
    >>> confidence = [0.9, 0.4, 0.6, 0.5]
    >>> curve = rejection_curve(y_true, y_pred, confidence, candidates=["cow", "okapi"])
    >>> curve.coverage.tolist(), curve.accuracy.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [1.0, 1.0, 0.67, 0.5])
    >>> round(curve.auroc, 3)
    0.667
    """
    true, pred = check_label_pair(y_true, y_pred)
    classes = check_labels(candidates, "candidates")
    check_same_kind(true, classes, "y_true", "candidates")
    sure = _checked(confidence, len(true))
    known = np.isin(true, classes)
    if known.all() or not known.any():
        kind, other = ("known", "unknown") if known.all() else ("unknown", "known")
        raise InvalidInputError(
            f"all {len(true)} samples are {kind}; the curve needs {other} samples too."
        )
    order = np.argsort(-sure, kind="stable")
    # The last sample of each confidence; samples of equal confidence are kept or rejected together.
    last = np.append(np.flatnonzero(np.diff(sure[order])), len(order) - 1)
    answered = last + 1
    right, kept = (np.cumsum(part[order])[last] for part in (true == pred, known))
    return RejectionCurve(
        thresholds=sure[order][last],
        coverage=answered / len(true),
        accuracy=right / answered,
        known_rejected=1 - kept / known.sum(),
        unknown_rejected=1 - (answered - kept) / (~known).sum(),
    )


def _checked(confidence: ArrayLike, n_samples: int) -> NDArray[Any]:
    """Return one number per sample, or say what is wrong."""
    values = np.asarray(confidence, dtype=np.float64)
    if values.shape != (n_samples,):
        raise InvalidInputError(
            f"confidence must have one value per sample, shape ({n_samples},); got {values.shape}."
        )
    if np.isnan(values).any():
        raise InvalidInputError("confidence contains NaN, which cannot be compared.")
    return values
