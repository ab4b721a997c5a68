"""A picture of whether probabilities can be believed."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from zslearn._optional import require
from zslearn.metrics.reliability import ReliabilityCurve, reliability_curve


class ReliabilityDisplay:
    """Reliability diagram: accuracy against confidence, like scikit-learn's displays.

    A point on the diagonal is a bin whose answers are right as often as they claim; below it they
    claim too much. The area of a point is the share of the samples. Needs matplotlib:
    ``pip install 'zslearn[plot]'``.

    Parameters
    ----------
    curve : ReliabilityCurve
        What :func:`reliability_curve` returned.
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
    >>> from zslearn.metrics import ReliabilityDisplay
    >>> probabilities = [[0.8, 0.2], [0.8, 0.2], [0.4, 0.6]]
    >>> display = ReliabilityDisplay.from_predictions(
    ...     ["cow", "okapi", "okapi"], probabilities, candidates=["cow", "okapi"]
    ... )  # doctest: +SKIP
    """

    def __init__(self, curve: ReliabilityCurve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        probabilities: ArrayLike,
        *,
        candidates: ArrayLike,
        n_bins: int = 15,
        name: str | None = None,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Compute the curve of some probabilities and plot it.

        Parameters
        ----------
        y_true, probabilities, candidates, n_bins
            As in :func:`reliability_curve`.
        name : str, optional
            Label of the curve.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ReliabilityDisplay
        """
        curve = reliability_curve(y_true, probabilities, candidates=candidates, n_bins=n_bins)
        return cls(curve, name=name).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        candidates: Any = None,
        n_bins: int = 15,
        name: str | None = None,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Predict probabilities with a fitted zero-shot classifier and plot the curve.

        Parameters
        ----------
        estimator : ZeroShotClassifier
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Features of samples that were not trained on.
        y : array-like of shape (n_samples,)
            True classes.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes allowed as answers; by default all of ``estimator.classes_``.
        n_bins, name, ax
            As in `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
        """
        names = estimator.candidate_names(candidates)
        return cls.from_predictions(
            y,
            estimator.predict_proba(X, candidates=names),
            candidates=names,
            n_bins=n_bins,
            name=name or type(estimator).__name__,
            ax=ax,
        )

    def plot(self, ax: Any = None, *, name: str | None = None) -> ReliabilityDisplay:
        """Draw the curve and the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Label of the curve, instead of the one given before.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plot", purpose="Plotting a curve")
            _, ax = pyplot.subplots(figsize=(5, 5))
        curve = self.curve
        label = f"{name or self.name or 'answers'} (error {curve.error:.3f})"
        ax.axline((0, 0), slope=1, color="black", linestyle=":", linewidth=1)
        (self.line_,) = ax.plot(curve.confidence, curve.accuracy, linewidth=1, label=label)
        color = self.line_.get_color()
        ax.scatter(curve.confidence, curve.accuracy, s=400 * curve.share, color=color, alpha=0.6)
        ax.set(xlabel="probability of the answer", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
        ax.legend(fontsize="small", loc="upper left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
