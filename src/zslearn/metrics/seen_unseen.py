"""The trade-off between recognizing seen and unseen classes, the area under it, and its plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._optional import axes_for
from zslearn._parameters import Either, check_value
from zslearn.exceptions import InvalidInputError
from zslearn.metrics.accuracy import (
    check_labels,
    check_same_kind,
    check_scores,
    check_unique,
    column_of,
    describe_missing,
    harmonic_mean,
)

Average = Literal["class", "sample"]


@dataclass(frozen=True)
class OperatingPoint:
    """The two accuracies at one bias.

    Attributes
    ----------
    gamma : float
        What is subtracted from the scores of seen classes.
    seen, unseen : float
        Accuracy on samples of seen and of unseen classes, all classes being candidates.
    """

    gamma: float
    seen: float
    unseen: float

    @property
    def harmonic_mean(self) -> float:
        """Harmonic mean of the two accuracies."""
        return harmonic_mean(self.seen, self.unseen)


@dataclass(frozen=True, eq=False, repr=False)
class SeenUnseenCurve:
    """Every pair of accuracies a bias on the seen classes can reach.

    Attributes
    ----------
    seen : ndarray of shape (n_points,)
        Accuracy on samples of seen classes, falling as γ grows; 0 at the last point.
    unseen : ndarray of shape (n_points,)
        Accuracy on samples of unseen classes, rising with γ; 0 at the first point.
    gammas : ndarray of shape (n_points,)
        A bias inside each step: subtracting ``gammas[i]`` from the scores of seen classes gives
        point i.
    gaps : ndarray of shape (n_points - 1,)
        The distinct differences between a sample's best seen and best unseen score, ascending;
        the biases at which predictions change.
    average : {"class", "sample"}
        What the accuracies are averaged over.
    """

    seen: NDArray[np.float64]
    unseen: NDArray[np.float64]
    gammas: NDArray[np.float64]
    gaps: NDArray[np.float64]
    average: str

    def __repr__(self) -> str:
        best = self.oracle.harmonic_mean
        return (
            f"SeenUnseenCurve({len(self.seen)} points per {self.average}: area {self.area:.4f}, "
            f"H {self.uncalibrated.harmonic_mean:.4f} without bias, at most {best:.4f})"
        )

    def plot(self, ax: Any = None, *, name: str | None = None) -> Any:
        """Draw the curve; see `SeenUnseenCurveDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Label of the curve.

        Returns
        -------
        SeenUnseenCurveDisplay
        """
        return SeenUnseenCurveDisplay(self, name=name).plot(ax)

    @property
    def area(self) -> float:
        """Area under `seen` as a function of `unseen` (AUSUC), by the trapezoid rule."""
        return float(np.trapezoid(self.seen, self.unseen))

    @property
    def harmonic_means(self) -> NDArray[np.float64]:
        """Harmonic mean at every point, of shape (n_points,)."""
        total = self.seen + self.unseen
        product = 2 * self.seen * self.unseen
        return np.divide(product, total, out=np.zeros_like(total), where=total > 0)

    @property
    def uncalibrated(self) -> OperatingPoint:
        """The point without any bias, γ = 0."""
        return self.at(0.0)

    @property
    def oracle(self) -> OperatingPoint:
        """The point of best harmonic mean.

        Its γ was chosen by looking at the test labels: an upper bound to show next to a
        result, never the result itself.
        """
        return self._point(int(self.harmonic_means.argmax()))

    def at(self, gamma: float) -> OperatingPoint:
        """Return the point a given bias leads to; a tie of the two sides counts as unseen.

        Parameters
        ----------
        gamma : float
            What is subtracted from the scores of seen classes.

        Returns
        -------
        OperatingPoint
        """
        index = self.indices_at(np.array([gamma]))[0]
        return OperatingPoint(float(gamma), float(self.seen[index]), float(self.unseen[index]))

    def indices_at(self, gammas: NDArray[Any]) -> NDArray[np.intp]:
        """Return which point each bias of an array leads to."""
        return np.searchsorted(self.gaps, gammas, side="right")

    def _point(self, index: int) -> OperatingPoint:
        values = (self.gammas[index], self.seen[index], self.unseen[index])
        return OperatingPoint(*map(float, values))


def seen_unseen_curve(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    candidates: ArrayLike,
    seen: ArrayLike,
    average: Average = "class",
) -> SeenUnseenCurve:
    """Trace seen against unseen accuracy as a bias γ moves predictions from seen to unseen classes.

    At γ a sample is given to the candidate c with the largest f_c(x) − γ·[c is seen] (calibrated
    stacking; Chao et al., ECCV 2016). The sweep is exact: each sample changes sides at its own gap,
    best seen minus best unseen score, and samples with equal gaps change together.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True class of each sample; samples of both sides are needed, and each class must be a
        candidate.
    scores : array-like of shape (n_samples, n_candidates)
        Score of each candidate for each sample, higher is better, without any bias.
    candidates : array-like of shape (n_candidates,)
        The class of each column of `scores`: seen and unseen classes together.
    seen : array-like of shape (n_seen,)
        The candidates that had training samples.
    average : {"class", "sample"}, default="class"
        Average accuracies within each class and then over the classes that have samples, or over
        samples. The two give different areas; say which one is reported.

    Returns
    -------
    SeenUnseenCurve
        One point for each distinct gap, and one before the first.

    Raises
    ------
    InvalidInputError
        If shapes do not match, scores are not finite, or one side has no candidate or no sample.

    Examples
    --------
    >>> from zslearn.metrics import seen_unseen_curve
    >>> scores = [[0.9, 0.2], [0.4, 0.6], [0.8, 0.5], [0.7, 0.1]]
    >>> y_true = ["cow", "cow", "okapi", "okapi"]
    >>> curve = seen_unseen_curve(y_true, scores, candidates=["cow", "okapi"], seen=["cow"])
    >>> curve.seen.tolist(), curve.unseen.tolist()
    ([1.0, 0.5, 0.5, 0.5, 0.0], [0.0, 0.0, 0.5, 1.0, 1.0])
    >>> curve.area, curve.uncalibrated.harmonic_mean
    (0.5, 0.0)
    """
    true, columns = check_labels(y_true, "y_true"), check_labels(candidates, "candidates")
    check_unique(columns, "candidates")
    values = check_scores(scores, (len(true), len(columns)))
    column, is_seen = column_of(true, columns), _seen_columns(columns, seen)
    _check_both_sides(is_seen[column])
    gaps, right_if_seen, right_if_unseen = _sides(values, column, is_seen)
    weight = _weights(column, is_seen, average)
    # At a bias above its gap a sample is lost to the seen side and may be won for the unseen one.
    distinct, step = np.unique(gaps, return_inverse=True)
    lost = np.bincount(step, weights=weight * right_if_seen)
    won = np.bincount(step, weights=weight * right_if_unseen)
    return SeenUnseenCurve(
        # Summed from the far end, so that the curve ends in an exact zero.
        seen=np.append(np.cumsum(lost[::-1])[::-1], 0.0).clip(0, 1),
        unseen=np.append(0.0, np.cumsum(won)).clip(0, 1),
        gammas=_inside(distinct),
        gaps=distinct,
        average=average,
    )


def ausuc(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    candidates: ArrayLike,
    seen: ArrayLike,
    average: Average = "class",
) -> float:
    """Area under the seen–unseen accuracy curve.

    Parameters
    ----------
    y_true, scores, candidates, seen, average
        As in :func:`seen_unseen_curve`.

    Returns
    -------
    float
        Between 0 and 1. Averaged over classes it is the published measure; ``average="sample"``
        gives another figure that must not be compared with it.

    Examples
    --------
    >>> from zslearn.metrics import ausuc
    >>> scores = [[0.9, 0.2], [0.4, 0.6], [0.8, 0.5], [0.7, 0.1]]
    >>> y_true = ["cow", "cow", "okapi", "okapi"]
    >>> ausuc(y_true, scores, candidates=["cow", "okapi"], seen=["cow"])
    0.5
    """
    return seen_unseen_curve(y_true, scores, candidates=candidates, seen=seen, average=average).area


def _seen_columns(candidates: NDArray[Any], seen: ArrayLike) -> NDArray[np.bool_]:
    """Mark the seen candidates; both sides must have one."""
    classes = check_labels(seen, "seen")
    check_same_kind(classes, candidates, "seen", "candidates")
    foreign = np.setdiff1d(classes, candidates)
    if foreign.size:
        raise InvalidInputError(
            f"seen lists {describe_missing(foreign, candidates.tolist())}, which is not a "
            "candidate. Add its column or leave it out of seen."
        )
    mask = np.isin(candidates, classes)
    if mask.all():
        raise InvalidInputError(
            f"all {len(candidates)} candidates are seen; the curve needs unseen candidates too."
        )
    return mask


def _check_both_sides(sample_is_seen: NDArray[np.bool_]) -> None:
    """Refuse a test set of one side only."""
    if sample_is_seen.all() or not sample_is_seen.any():
        present, absent = ("seen", "unseen") if sample_is_seen.all() else ("unseen", "seen")
        raise InvalidInputError(
            f"all {len(sample_is_seen)} samples are of {present} classes; the curve needs samples "
            f"of {absent} classes too."
        )


def _sides(
    scores: NDArray[Any], column: NDArray[Any], is_seen: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return each sample's gap, and whether its best seen and best unseen candidates are right."""
    best, right = [], []
    for side in (np.flatnonzero(is_seen), np.flatnonzero(~is_seen)):
        part = scores[:, side]
        place = part.argmax(axis=1)
        best.append(np.take_along_axis(part, place[:, None], axis=1)[:, 0].astype(np.float64))
        right.append(side[place] == column)
    if not all(np.isfinite(values).all() for values in best):
        raise InvalidInputError(
            "scores hold infinity as the best score of a side, so its gap is undefined; give "
            "finite scores."
        )
    return best[0] - best[1], right[0], right[1]


def _weights(column: NDArray[Any], is_seen: NDArray[np.bool_], average: str) -> NDArray[np.float64]:
    """Return what a right answer adds to the accuracy of its side."""
    check_value("average", average, Either("class", "sample"))
    counts = np.bincount(column, minlength=len(is_seen)).astype(np.float64)
    total = np.empty_like(counts)
    for side in (is_seen, ~is_seen):
        if average == "class":
            total[side] = counts[side] * np.count_nonzero(counts[side])
        else:
            total[side] = counts[side].sum()
    return 1.0 / total[column]


def _inside(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a bias below the first gap, one between each two, and one above the last."""
    beyond = max(1.0, float(gaps[-1] - gaps[0]) / len(gaps))
    middle = gaps[:-1] + (gaps[1:] - gaps[:-1]) / 2
    return np.concatenate([[gaps[0] - beyond], middle, [gaps[-1] + beyond]])


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
        ax = axes_for(ax, "Plotting a curve", figsize=(5.5, 5))
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
