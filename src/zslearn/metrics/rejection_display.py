"""A picture of accuracy against coverage."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from zslearn._optional import require
from zslearn.metrics.rejection import RejectionCurve, rejection_curve


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
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plot", purpose="Plotting a curve")
            _, ax = pyplot.subplots(figsize=(5.5, 5))
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
