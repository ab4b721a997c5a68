"""How sure an answer is: measures of it, the temperature of probabilities, and when to refuse.

`confidence_measures` are made of the scores of one sample; `fit_confidence` learns from samples of
known class to tell right answers by them. `fit_temperature` makes probabilities as high as answers
are right, and the thresholds say below which confidence a sample gets no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, softmax, xlogy
from sklearn.linear_model import LogisticRegression

Floats = NDArray[np.float64]

# Columns of `confidence_measures`: those made of scores, and those that a method adds which knows
# how likely a sample is of its answer, and how likely of a class nobody described.
MEASURES = ("score", "lead", "margin", "probability", "entropy")
RATIOS = ("ratio", "free ratio")
# The search covers this many powers of e on both sides of the spread of the scores.
_REACH = 10.0


def confidence_measures(
    scores: NDArray[Any], temperature: float, ratios: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Return several measures of how sure the best answer of each sample is; larger is surer.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_candidates)
        Larger is better.
    temperature : float
        What makes probabilities of them.
    ratios : ndarray of shape (n_samples, 2), optional
        Ratios of densities, see :meth:`zslearn.core.posterior_prototypes.Novelty.ratios`.

    Returns
    -------
    ndarray of shape (n_samples, 5) or (n_samples, 7)
        In the order of `MEASURES`: the best score, its lead over the mean of all, its margin over
        the second best (0 if there is none), its probability, and the negative entropy of all
        probabilities; then the ratios, if they are given.

    Examples
    --------
    >>> import numpy as np
    >>> confidence_measures(np.array([[3.0, 1.0, 2.0]]), 1.0).round(2).tolist()
    [[3.0, 1.0, 1.0, 0.67, -0.83]]
    """
    values = scores.astype(np.float64)
    best = values.max(axis=1)
    second = np.partition(values, -2, axis=1)[:, -2] if values.shape[1] > 1 else best
    probabilities = softmax(values / temperature, axis=1)
    columns = (
        best,
        best - values.mean(axis=1),
        best - second,
        probabilities.max(axis=1),
        xlogy(probabilities, probabilities).sum(axis=1),
    )
    measures = np.stack(columns, axis=1)
    return measures if ratios is None else np.hstack([measures, ratios])


def fit_confidence(
    measures: NDArray[np.float64], truth: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Learn to tell two kinds of answers by their measures: logistic regression.

    Parameters
    ----------
    measures : ndarray of shape (n_samples, n_measures)
        What is known of the answers.
    truth : ndarray of bool of shape (n_samples,)
        Which answers are of the first kind, for example right; some must be and some not.
    weights : ndarray of shape (n_samples,)
        What each answer counts.

    Returns
    -------
    ndarray of shape (n_measures + 1,)
        Coefficients of the measures as they are, and the intercept.
    """
    # Standardized for the penalty of the regression, then written for the measures as they are.
    center, scale = measures.mean(axis=0), measures.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    model = LogisticRegression(max_iter=1000)
    model.fit((measures - center) / scale, truth, sample_weight=weights)
    coef = model.coef_[0] / scale
    return np.append(coef, model.intercept_[0] - coef @ center)


def refitted_confidence(
    measures: NDArray[np.float64],
    truth: NDArray[np.bool_],
    weights: NDArray[np.float64],
    start: NDArray[np.float64],
    n_steps: int = 5,
) -> NDArray[np.float64]:
    """Return what `fit_confidence` learns, by a few Newton steps from coefficients near it.

    Parameters
    ----------
    measures, truth, weights
        As in :func:`fit_confidence`.
    start : ndarray of shape (n_measures + 1,)
        Learned of other samples of the same kind.
    n_steps : int, default=5
        Far from the solution a step may lead away, so that few steps are no guarantee.

    Returns
    -------
    ndarray of shape (n_measures + 1,)
    """
    center, scale = measures.mean(axis=0), measures.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    rows = np.column_stack([(measures - center) / scale, np.ones(len(measures))])
    penalty = np.append(np.ones(len(center)), 0.0)
    found = np.append(start[:-1] * scale, start[-1] + start[:-1] @ center)
    for _ in range(n_steps):
        sure = expit(rows @ found)
        slope = rows.T @ (weights * (sure - truth)) + penalty * found
        bend = (rows.T * (weights * sure * (1 - sure))) @ rows + np.diag(penalty + 1e-9)
        found = found - np.linalg.solve(bend, slope)
    coef = found[:-1] / scale
    return np.append(coef, found[-1] - coef @ center)


def learned_confidence(
    measures: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability that answers are of the first kind, by `fit_confidence`'s result.

    Parameters
    ----------
    measures : ndarray of shape (n_samples, n_measures)
        As in :func:`fit_confidence`.
    coefficients : ndarray of shape (n_measures + 1,)
        Coefficients and intercept.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    return expit(measures @ coefficients[:-1] + coefficients[-1])


class LabeledScores(NamedTuple):
    """Scores of samples whose class is known.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_candidates)
        Larger is better.
    truth : ndarray of int of shape (n_samples,)
        Column of the right candidate.
    weights : ndarray of shape (n_samples,)
        What each sample counts.
    """

    scores: NDArray[Any]
    truth: NDArray[np.intp]
    weights: NDArray[np.float64]


def fit_temperature(parts: Sequence[LabeledScores]) -> float:
    """Return the temperature at which answers are as sure as they are right, averaged over parts.

    This is expectation consistency (Clarté et al., UAI 2023). The temperature of smallest log-loss
    guards against the few answers that are sure and wrong, and leaves the others less sure than
    they are right.

    Parameters
    ----------
    parts : sequence of LabeledScores
        At least one, each with two candidates or more.

    Returns
    -------
    float
        As low or high as the search reaches where no temperature is right.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.0, 1.0]] * 4000)
    >>> truth = np.array([1, 1, 1, 0] * 1000)
    >>> part = LabeledScores(scores, truth, np.ones(4000))
    >>> odds = np.exp(1 / fit_temperature([part]))  # 3 to 1
    >>> float(np.round(odds, 2))
    3.0
    """
    spreads = [float(np.std(part.scores - part.scores.mean(axis=1)[:, None])) for part in parts]
    spread = float(np.mean(spreads))
    if not spread > 0:
        return 1.0  # equal scores have the same probabilities at every temperature

    def excess(log_temperature: float) -> float:
        return float(np.mean([overconfidence(part, np.exp(log_temperature)) for part in parts]))

    # Overconfidence falls as the temperature rises, so that there is one root.
    low, high = np.log(spread) - _REACH, np.log(spread) + _REACH
    if excess(low) <= 0 or excess(high) >= 0:
        return float(np.exp(low if excess(low) <= 0 else high))
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))


def overconfidence(part: LabeledScores, temperature: float) -> float:
    """Return how much the mean probability of the answers exceeds their accuracy.

    The accuracy is drawn towards chance by one sample, so that it is below one and a temperature
    exists where every answer is right.

    Parameters
    ----------
    part : LabeledScores
        n samples.
    temperature : float
        Above 0; answers are the softmax of scores divided by it.

    Returns
    -------
    float
        Falls as the temperature rises.
    """
    n, n_candidates = part.scores.shape
    sure = softmax(part.scores / temperature, axis=1).max(axis=1)
    right = part.scores.argmax(axis=1) == part.truth
    accuracy = (n * np.average(right, weights=part.weights) + 1 / n_candidates) / (n + 1)
    return float(np.average(sure, weights=part.weights) - accuracy)


def threshold_for_share(confidence: Floats, weights: Floats, share: float) -> float:
    """Return the highest threshold below which at most a share of the samples lies.

    Parameters
    ----------
    confidence : ndarray of shape (n_samples,)
        Confidence of the samples that should be kept.
    weights : ndarray of shape (n_samples,)
        What each sample counts.
    share : float
        At least 0, below 1.

    Returns
    -------
    float
        One of the confidences; a sample at the threshold is kept.

    Examples
    --------
    >>> import numpy as np
    >>> threshold_for_share(np.arange(10.0), np.ones(10), 0.2)
    2.0
    """
    values, place = np.unique(confidence, return_inverse=True)
    mass = np.bincount(place, weights=weights)
    # Mass strictly below each value; a hair more than the share is allowed, for rounding.
    below = np.cumsum(mass) - mass
    return float(values[np.flatnonzero(below <= share * mass.sum() * (1 + 1e-12))[-1]])


def threshold_for_classes(
    confidence: Floats, classes: NDArray[Any], share: float, most: float = np.inf
) -> tuple[float, float]:
    """Return the highest threshold that promises to reject at most a share of another class.

    With r_c the rejected share of class c of K, the share to expect of a class like them is at most
    (1 + Σ r_c) / (K + 1), as if one more class were rejected altogether: a bound that holds on
    average wherever classes come in no particular order.

    Parameters
    ----------
    confidence : ndarray of shape (n_samples,)
        Confidence of samples of classes that should be kept.
    classes : ndarray of shape (n_samples,)
        Their classes, each of which counts the same.
    share : float
        What may be rejected. Below 1 / (K + 1) nothing can be promised.
    most : float, default=inf
        What the threshold may be at most.

    Returns
    -------
    threshold : float
        One of the confidences, the lowest where nothing can be promised or `most` is lower; a
        sample at the threshold is kept.
    promised : float
        The bound at this threshold, above `share` where that is too little.

    Examples
    --------
    >>> import numpy as np
    >>> classes = np.repeat(np.arange(9), 2)
    >>> threshold_for_classes(np.arange(18.0), classes, 0.2)
    (2.0, 0.2)
    """
    _, column, counts = np.unique(classes, return_inverse=True, return_counts=True)
    values, place = np.unique(confidence, return_inverse=True)
    lost = np.bincount(place, weights=1.0 / counts[column])
    bound = (1.0 + np.cumsum(lost) - lost) / (len(counts) + 1)
    # Bounds ascend; a hair more than the share is allowed, for rounding.
    allowed = np.searchsorted(bound, share * (1 + 1e-12), side="right")
    best = max(int(min(allowed, np.searchsorted(values, most, side="right"))) - 1, 0)
    return float(values[best]), float(bound[best])


# Parts that classes are left out in, of which there may be thousands.
LEFT_OUT = 50


def share_of_left_out(
    confidence: Floats, classes: NDArray[Any], share: float, most: float = np.inf
) -> float:
    """Return the share of a class that `threshold_for_classes` of the others rejects, on average.

    Of more than `LEFT_OUT` classes several are left out at a time.

    Examples
    --------
    >>> import numpy as np
    >>> classes = np.repeat(np.arange(9), 2)
    >>> round(share_of_left_out(np.arange(18.0), classes, 0.2), 3)  # the lowest class, all of it
    0.111
    """
    names, column, counts = np.unique(classes, return_inverse=True, return_counts=True)
    if len(names) < 2:
        return 0.0
    rejected = 0.0
    for part in np.array_split(np.arange(len(names)), min(len(names), LEFT_OUT)):
        own = np.isin(column, part)
        threshold, _ = threshold_for_classes(confidence[~own], column[~own], share, most)
        rejected += ((confidence[own] < threshold) / counts[column[own]]).sum()
    return float(rejected / len(names))


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the value with half of the weight on either side, the middle of two if there are two.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([3.0, 1.0, 2.0, 7.0]), np.ones(4))
    2.5
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([3.0, 1.0, 1.0]))
    3.0
    """
    order = np.argsort(values, kind="stable")
    below, ascending = np.cumsum(weights[order]), values[order]
    # A hair to either side of the half, for rounding.
    half = below[-1] / 2 * np.array([1 - 1e-12, 1 + 1e-12])
    low, high = np.minimum(np.searchsorted(below, half), len(values) - 1)
    return float((ascending[low] + ascending[high]) / 2)


def threshold_for_cost(confidence: Floats, gain: Floats) -> float:
    """Return the threshold of smallest cost.

    Parameters
    ----------
    confidence : ndarray of shape (n_samples,)
        Confidence of all answers.
    gain : ndarray of shape (n_samples,)
        How much cheaper it is to keep the answer than to reject it, negative if it is dearer.

    Returns
    -------
    float
        The lowest of equally good ones, in the middle between two confidences; beyond the last
        where it is best to reject everything.

    Examples
    --------
    >>> import numpy as np
    >>> threshold_for_cost(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 1.0, 1.0]))
    1.5
    """
    values, place = np.unique(confidence, return_inverse=True)
    gains = np.bincount(place, weights=gain)
    # Kept from value i on, for i = 0 (everything) to n (nothing).
    kept = np.append(np.cumsum(gains[::-1])[::-1], 0.0)
    best = int(np.argmax(kept))
    if best == 0:
        return float(values[0])
    if best == len(values):
        return float(np.nextafter(values[-1], np.inf))
    return float(values[best - 1] + (values[best] - values[best - 1]) / 2)
