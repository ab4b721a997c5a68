"""Temperature scaling: one number that turns scores into probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import softmax

# The search covers this many powers of e on both sides of the spread of the scores.
_REACH = 10.0


class Labelled(NamedTuple):
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


def overconfidence(part: Labelled, temperature: float) -> float:
    """Return how much the mean probability of the answers exceeds their accuracy.

    The accuracy is drawn towards chance by one sample, so that it is below one and a temperature
    exists where every answer is right.

    Parameters
    ----------
    part : Labelled
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


def fit_temperature(parts: Sequence[Labelled]) -> float:
    """Return the temperature at which answers are as sure as they are right, averaged over parts.

    This is expectation consistency (Clarté et al., UAI 2023). The temperature of smallest log-loss
    guards against the few answers that are sure and wrong, and leaves the others less sure than
    they are right.

    Parameters
    ----------
    parts : sequence of Labelled
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
    >>> part = Labelled(scores, truth, np.ones(4000))
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

    low, high = np.log(spread) - _REACH, np.log(spread) + _REACH
    if excess(low) <= 0 or excess(high) >= 0:
        return float(np.exp(low if excess(low) <= 0 else high))
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))
