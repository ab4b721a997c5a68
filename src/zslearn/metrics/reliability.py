"""Whether probabilities can be believed: confidence against accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._optional import axes_for
from zslearn._parameters import Whole, check_value
from zslearn.exceptions import InvalidInputError
from zslearn.metrics.accuracy import check_labels, check_scores, check_unique, column_of

# How far the probabilities of a sample may be from a sum of one.
_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Accuracy of answers by how sure they were, in bins of equal width that hold a sample.

    Attributes
    ----------
    confidence : ndarray of shape (n_filled,)
        Mean probability of the answers in each bin.
    accuracy : ndarray of shape (n_filled,)
        Share of them that is right.
    share : ndarray of shape (n_filled,)
        Share of all samples that falls into the bin; the shares sum to one.
    """

    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    share: NDArray[np.float64]

    @classmethod
    def of(
        cls, confidence: NDArray[np.float64], right: NDArray[np.bool_], n_bins: int
    ) -> ReliabilityCurve:
        """Sort answers into bins by how sure they are.

        Parameters
        ----------
        confidence : ndarray of shape (n_samples,)
            Probability of each answer.
        right : ndarray of bool of shape (n_samples,)
            Whether it is right.
        n_bins : int
            Number of bins between 0 and 1.
        """
        # A probability of exactly 1 belongs to the last bin.
        place = np.minimum((confidence * n_bins).astype(np.intp), n_bins - 1)
        counts = np.bincount(place, minlength=n_bins)
        filled = counts > 0
        mean_confidence, accuracy = (
            np.bincount(place, weights=values, minlength=n_bins)[filled] / counts[filled]
            for values in (confidence, right)
        )
        return cls(mean_confidence, accuracy, counts[filled] / len(confidence))

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance of the curve from the diagonal."""
        return float(np.sum(self.share * np.abs(self.accuracy - self.confidence)))


def reliability_curve(
    y_true: ArrayLike, probabilities: ArrayLike, *, candidates: ArrayLike, n_bins: int = 15
) -> ReliabilityCurve:
    """Compare the probability of the best candidate with how often it is the right one.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True class of each sample; each must be a candidate.
    probabilities : array-like of shape (n_samples, n_candidates)
        Probability of each candidate; rows sum to one.
    candidates : array-like of shape (n_candidates,)
        The class of each column.
    n_bins : int, default=15
        Number of bins of equal width between 0 and 1.

    Returns
    -------
    ReliabilityCurve

    Raises
    ------
    InvalidInputError
        If shapes do not match or a row is no probability distribution.

    Examples
    --------
    >>> from zslearn.metrics import reliability_curve
    >>> probabilities = [[0.8, 0.2], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]]
    >>> y_true = ["cow", "okapi", "okapi", "okapi"]
    >>> curve = reliability_curve(y_true, probabilities, candidates=["cow", "okapi"], n_bins=4)
    >>> curve.confidence.round(2).tolist(), curve.accuracy.tolist(), curve.share.tolist()
    ([0.65, 0.8], [1.0, 0.5], [0.5, 0.5])
    >>> round(curve.error, 3)
    0.325
    """
    true, columns = check_labels(y_true, "y_true"), check_labels(candidates, "candidates")
    check_unique(columns, "candidates")
    check_value("n_bins", n_bins, Whole(1))
    values = _checked(probabilities, (len(true), len(columns)))
    confidence = values.max(axis=1).astype(np.float64)
    right = values.argmax(axis=1) == column_of(true, columns)
    return ReliabilityCurve.of(confidence, right, n_bins)


def expected_calibration_error(
    y_true: ArrayLike, probabilities: ArrayLike, *, candidates: ArrayLike, n_bins: int = 15
) -> float:
    """Mean distance between the confidence of answers and their accuracy (Guo et al., ICML 2017).

    Parameters
    ----------
    y_true, probabilities, candidates, n_bins
        As in :func:`reliability_curve`.

    Returns
    -------
    float
        Between 0 and 1. Few samples, and few classes whose samples are right or wrong together,
        raise it also where the probabilities are the true ones.

    Examples
    --------
    >>> from zslearn.metrics import expected_calibration_error
    >>> probabilities = [[0.75, 0.25]] * 4
    >>> y_true = ["cow", "cow", "cow", "okapi"]
    >>> expected_calibration_error(y_true, probabilities, candidates=["cow", "okapi"])
    0.0
    """
    return reliability_curve(y_true, probabilities, candidates=candidates, n_bins=n_bins).error


def _checked(probabilities: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    """Return probabilities as an array, or refuse rows that are none."""
    values = check_scores(probabilities, shape, "probabilities")
    wrong = (values < 0).any(axis=1) | (np.abs(values.sum(axis=1) - 1) > _TOLERANCE)
    if wrong.any():
        raise InvalidInputError(
            "probabilities must be at least 0 and sum to one in every row; row "
            f"{np.argmax(wrong)} does not. Pass what predict_proba returns."
        )
    return values


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
        ax = axes_for(ax, "Plotting a curve", figsize=(5, 5))
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
