"""The trade-off between recognizing seen and unseen classes, and the area under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import Either, check_value
from zslearn.exceptions import InvalidInputError
from zslearn.metrics.generalized import harmonic_mean
from zslearn.metrics.hits import check_scores, column_of
from zslearn.metrics.labels import check_labels, check_same_kind, check_unique, describe_missing

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
        from zslearn.metrics.seen_unseen_display import SeenUnseenCurveDisplay

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
