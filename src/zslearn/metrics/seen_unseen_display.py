"""A picture of the seen–unseen curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zslearn._optional import require
from zslearn.metrics.seen_unseen import (
    Average,
    OperatingPoint,
    SeenUnseenCurve,
    seen_unseen_curve,
)


class SeenUnseenCurveDisplay:
    """Plot of seen against unseen accuracy, like scikit-learn's displays.

    Needs matplotlib: ``pip install 'zslearn[plot]'``.

    Parameters
    ----------
    curve : SeenUnseenCurve
        What :func:`seen_unseen_curve` returned.
    name : str, optional
        Label of the curve.
    calibrated : OperatingPoint, optional
        A point whose bias was chosen without test labels, drawn as a star.

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
    >>> from zslearn.metrics import SeenUnseenCurveDisplay
    >>> scores = [[0.9, 0.2], [0.4, 0.6], [0.8, 0.5], [0.7, 0.1]]
    >>> y_true = ["cow", "cow", "okapi", "okapi"]
    >>> display = SeenUnseenCurveDisplay.from_predictions(
    ...     y_true, scores, candidates=["cow", "okapi"], seen=["cow"]
    ... )  # doctest: +SKIP
    """

    def __init__(
        self,
        curve: SeenUnseenCurve,
        *,
        name: str | None = None,
        calibrated: OperatingPoint | None = None,
    ) -> None:
        self.curve = curve
        self.name = name
        self.calibrated = calibrated

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        candidates: ArrayLike,
        seen: ArrayLike,
        average: Average = "class",
        name: str | None = None,
        ax: Any = None,
    ) -> SeenUnseenCurveDisplay:
        """Compute the curve of some scores and plot it.

        Parameters
        ----------
        y_true, scores, candidates, seen, average
            As in :func:`seen_unseen_curve`.
        name : str, optional
            Label of the curve.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SeenUnseenCurveDisplay
        """
        curve = seen_unseen_curve(y_true, scores, candidates=candidates, seen=seen, average=average)
        return cls(curve, name=name).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        candidates: ArrayLike | None = None,
        average: Average = "class",
        name: str | None = None,
        ax: Any = None,
    ) -> SeenUnseenCurveDisplay:
        """Score samples with a fitted zero-shot classifier and plot the curve.

        Parameters
        ----------
        estimator : ZeroShotClassifier
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Features of samples of seen and unseen classes, none of them trained on.
        y : array-like of shape (n_samples,)
            True classes.
        candidates : array-like of class names, optional
            Classes allowed as answers; by default all of ``estimator.classes_``.
        average, name, ax
            As in `from_predictions`.

        Returns
        -------
        SeenUnseenCurveDisplay
        """
        names = estimator.candidate_names(candidates)
        return cls.from_predictions(
            y,
            estimator.decision_function(X, candidates=names),
            candidates=names,
            seen=names[np.isin(names, estimator.seen_classes_)],
            average=average,
            name=name or type(estimator).__name__,
            ax=ax,
        )

    def plot(self, ax: Any = None, *, name: str | None = None) -> SeenUnseenCurveDisplay:
        """Draw the curve, the point without bias, the calibrated point and the oracle's.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Label of the curve, instead of the one given before.

        Returns
        -------
        SeenUnseenCurveDisplay
            The display itself.
        """
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plot", purpose="Plotting a curve")
            _, ax = pyplot.subplots(figsize=(5.5, 5))
        label = f"{name or self.name or 'curve'} (AUSUC {self.curve.area:.3f})"
        (self.line_,) = ax.plot(self.curve.unseen, self.curve.seen, label=label)
        self._mark(ax, self.curve.uncalibrated, "o", "no bias")
        if self.calibrated is not None:
            self._mark(ax, self.calibrated, "*", "calibrated on seen classes")
        self._mark(ax, self.curve.oracle, "x", "oracle (uses test labels)")
        averaged = "per class" if self.curve.average == "class" else "per sample"
        ax.set(
            xlabel=f"accuracy on unseen classes, {averaged}",
            ylabel=f"accuracy on seen classes, {averaged}",
            xlim=(0, None),
            ylim=(0, None),
        )
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark(self, ax: Any, point: OperatingPoint, marker: str, label: str) -> None:
        """Mark one operating point in the color of the curve."""
        ax.plot(
            point.unseen,
            point.seen,
            linestyle="none",
            marker=marker,
            markersize=12 if marker == "*" else 7,
            color=self.line_.get_color(),
            clip_on=False,
            label=f"{label}: H {point.harmonic_mean:.3f}",
        )
