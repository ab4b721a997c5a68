"""Samples that belong to no candidate: how well they are separated, and what rejecting costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._optional import axes_for
from zslearn.core.rows import unmasked
from zslearn.exceptions import InvalidInputError
from zslearn.metrics.accuracy import check_label_pair, check_labels, check_same_kind


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
    values = np.asarray(unmasked(confidence, "confidence"), dtype=np.float64)
    if values.shape != (n_samples,):
        raise InvalidInputError(
            f"confidence must have one value per sample, shape ({n_samples},); got {values.shape}."
        )
    if np.isnan(values).any():
        raise InvalidInputError("confidence contains NaN, which cannot be compared.")
    return values


class RejectionCurveDisplay:
    """Plot of the accuracy of answers against how many are given, like scikit-learn's displays.

    Needs matplotlib: ``pip install 'zslearn[plot]'``.

    Parameters
    ----------
    curve : RejectionCurve
        What :func:`rejection_curve` returned.
    name : str, optional
        Label of the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes it was drawn on.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> from zslearn.metrics import RejectionCurveDisplay
    >>> display = RejectionCurveDisplay.from_predictions(
    ...     ["cow", "yeti"], ["cow", "cow"], [0.9, 0.4], candidates=["cow", "okapi"]
    ... )  # doctest: +SKIP
    """

    def __init__(self, curve: RejectionCurve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        confidence: ArrayLike,
        *,
        candidates: ArrayLike,
        name: str | None = None,
        ax: Any = None,
    ) -> RejectionCurveDisplay:
        """Compute the curve of some answers and plot it.

        Parameters
        ----------
        y_true, y_pred, confidence, candidates
            As in :func:`rejection_curve`.
        name : str, optional
            Label of the curve.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RejectionCurveDisplay
        """
        curve = rejection_curve(y_true, y_pred, confidence, candidates=candidates)
        return cls(curve, name=name).plot(ax)

    def plot(
        self, ax: Any = None, *, name: str | None = None, threshold: float | None = None
    ) -> RejectionCurveDisplay:
        """Draw the curve, and the point of a threshold if one is given.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Label of the curve, instead of the one given before.
        threshold : float, optional
            Answers of lower confidence are rejected; marked as a star.

        Returns
        -------
        RejectionCurveDisplay
            The display itself.
        """
        ax = axes_for(ax, "Plotting a curve", figsize=(5.5, 5))
        curve = self.curve
        label = f"{name or self.name or 'answers'} (AUROC {curve.auroc:.3f})"
        (self.line_,) = ax.plot(curve.coverage, curve.accuracy, label=label)
        kept = [] if threshold is None else [(curve.thresholds >= threshold).sum() - 1]
        for place in (place for place in kept if place >= 0):
            point = curve.coverage[place], curve.accuracy[place]
            ax.plot(*point, marker="*", markersize=12, color=self.line_.get_color())
        ax.set(
            xlabel="share of the samples that gets an answer",
            ylabel="accuracy of the answers",
            xlim=(0, 1),
            ylim=(0, 1),
        )
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
