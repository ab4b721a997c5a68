"""Temperature scaling: one number that turns scores into probabilities (Guo et al., ICML 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

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


def mean_log_loss(part: Labelled, temperature: float) -> float:
    """Return the weighted mean of −log softmax(scores / temperature) of the right candidate.

    The right candidate is expected with a probability of (n + 1) / (n + 2) only, as Platt did, so
    that a temperature exists where every answer is right.

    Parameters
    ----------
    part : Labelled
        n samples.
    temperature : float
        Above 0.

    Returns
    -------
    float
    """
    n, n_candidates = part.scores.shape
    z = part.scores / temperature
    own, total = z[np.arange(n), part.truth], z.sum(axis=1)
    smooth = 1.0 / (n + 2)
    expected = (1 - smooth) * own + smooth * (total - own) / max(n_candidates - 1, 1)
    return float(np.average(logsumexp(z, axis=1) - expected, weights=part.weights))


def fit_temperature(parts: Sequence[Labelled]) -> float:
    """Return the temperature of smallest log-loss, averaged over parts.

    The loss is convex in 1 / temperature, so it has one minimum.

    Parameters
    ----------
    parts : sequence of Labelled
        At least one, each with two candidates or more.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.0, 1.0]] * 4)
    >>> truth = np.array([1, 1, 1, 0])
    >>> part = Labelled(scores, truth, np.ones(4))
    >>> odds = np.exp(1 / fit_temperature([part]))  # 3 to 1, and (n + 1) / (n + 2) of it
    >>> bool(np.isclose(odds / (1 + odds), (3 * 5 / 6 + 1 / 6) / 4, atol=1e-4))
    True
    """
    spreads = [float(np.std(part.scores - part.scores.mean(axis=1)[:, None])) for part in parts]
    spread = float(np.mean(spreads))
    if not spread > 0:
        return 1.0  # equal scores have the same probabilities at every temperature

    def loss(log_temperature: float) -> float:
        return float(np.mean([mean_log_loss(part, np.exp(log_temperature)) for part in parts]))

    middle = np.log(spread)
    found = minimize_scalar(loss, bounds=(middle - _REACH, middle + _REACH), method="bounded")
    return float(np.exp(found.x))
