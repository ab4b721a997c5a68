"""Thresholds on the confidence of answers: by a share that may be rejected, or by costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
    below = np.cumsum(mass) - mass
    return float(values[np.flatnonzero(below <= share * mass.sum() * (1 + 1e-12))[-1]])


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
