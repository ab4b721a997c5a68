"""Two clusters: exact on a line, otherwise fast from a split along the principal axis."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

# A second principal variance below this share of the first is rounding: the codes lie on a line.
_LINE = 1e-10
_MAX_ITER = 300
# Up to this many dimensions codes may lie on a line, which only float64 can detect; float32 codes
# of more dimensions are left in float32, which halves the memory every round has to read.
_NARROW = 8


def two_means_line(values: NDArray) -> NDArray[np.intp]:
    """Best split of numbers into two clusters, by sorting and prefix sums.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Numbers; equal ones stay together.

    Returns
    -------
    ndarray of shape (n_samples,)
        0 for the lower cluster, 1 for the upper one; all 0 if the numbers are all equal.

    Examples
    --------
    >>> import numpy as np
    >>> two_means_line(np.array([0.0, 9.0, 1.0, 8.0, 7.0]))
    array([0, 1, 0, 1, 1])
    """
    ordered = np.sort(values.astype(np.float64))
    gaps = np.flatnonzero(ordered[1:] > ordered[:-1])
    if len(gaps) == 0:
        return np.zeros(len(values), dtype=np.intp)
    n, left = len(ordered), gaps + 1
    # About the mean, squares between clusters are s²/i + s²/(n - i), s the sum of the first i.
    sums = np.cumsum(ordered - ordered.mean())[gaps]
    best = int(np.argmax(sums**2 / (left * (n - left))))
    return (values > ordered[gaps[best]]).astype(np.intp)


def two_means(codes: NDArray, *, restarts: int, rng: RandomState) -> NDArray[np.intp]:
    """Split points into two clusters.

    Exact where the points lie on a line; otherwise Lloyd's iteration from the best split along the
    principal axis and from `restarts` random pairs of points; the best result is kept.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_dimensions)
        Points.
    restarts : int
        Additional random starts.
    rng : RandomState
        Source of the random starts.

    Returns
    -------
    ndarray of shape (n_samples,)
        0 or 1 for each point.
    """
    wide = codes.dtype == np.float32 and codes.shape[1] > _NARROW
    work = np.float32 if wide else np.float64
    Z = codes.astype(work, copy=False) - codes.mean(axis=0, dtype=np.float64).astype(work)
    variances, axes = np.linalg.eigh(Z.T @ Z)
    along = Z @ axes[:, -1]
    start = two_means_line(along)
    if len(variances) == 1 or variances[-2] <= _LINE * variances[-1]:
        return start
    best, gain = _lloyd(Z, start.astype(bool))
    for _ in range(restarts):
        other, other_gain = _lloyd(Z, _random_start(Z, rng))
        if other_gain > gain * (1 + 1e-12):
            best, gain = other, other_gain
    return best.astype(np.intp)


def _lloyd(Z: NDArray, upper: NDArray) -> tuple[NDArray, float]:
    """Lloyd's iteration for centered points; returns the split and its squares between clusters."""
    total = (upper.astype(Z.dtype) @ Z).astype(np.float64)
    gain = 0.0
    for _ in range(_MAX_ITER):
        n_upper = int(np.count_nonzero(upper))
        n_lower = len(Z) - n_upper
        if n_upper == 0 or n_lower == 0:
            return upper, 0.0
        gain = float(total @ total) * (1 / n_upper + 1 / n_lower)
        # The points sum to zero, so both centers follow from one sum and nearest is a half-space.
        high, low = total / n_upper, -total / n_lower
        moved = Z @ (high - low).astype(Z.dtype) > (high @ high - low @ low) / 2
        changed = np.flatnonzero(moved != upper)
        if len(changed) == 0:
            break
        # Few points change sides after the first rounds, so the sum is updated by those only.
        total += np.where(moved[changed], 1.0, -1.0) @ Z[changed].astype(np.float64)
        upper = moved
    return upper, gain


def _random_start(Z: NDArray, rng: RandomState) -> NDArray:
    """Points nearer to the second of two random points; the second is drawn as k-means++ does."""
    first = Z[rng.randint(len(Z))]
    distance = np.einsum("ij,ij->i", Z - first, Z - first).astype(np.float64)
    second = Z[rng.choice(len(Z), p=distance / distance.sum())]
    return Z @ (second - first) > (second @ second - first @ first) / 2
