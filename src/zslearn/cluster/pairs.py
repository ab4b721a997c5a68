"""Random pairs of samples, of the same class and of different classes."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError


def similar_differences(X: NDArray, y: NDArray, n_pairs: int, rng: RandomState) -> NDArray:
    """Differences of `n_pairs` random pairs of the same class; classes weigh by their pairs."""
    order, starts, counts = _by_class(y)
    pairs = counts * (counts - 1.0)
    if pairs.sum() == 0:
        raise InvalidInputError(
            "pairs of the same class are needed, but every class has a single sample."
        )
    c = rng.choice(len(counts), size=n_pairs, p=pairs / pairs.sum())
    i = rng.randint(counts[c])
    # One of the other counts - 1 members, so that no sample is paired with itself.
    j = (i + 1 + rng.randint(counts[c] - 1)) % counts[c]
    return X[order[starts[c] + i]] - X[order[starts[c] + j]]


def dissimilar_differences(X: NDArray, y: NDArray, n_pairs: int, rng: RandomState) -> NDArray:
    """Differences of `n_pairs` random pairs of different classes, all such pairs equally likely."""
    order, starts, counts = _by_class(y)
    others = len(y) - counts
    weight = counts * others.astype(float)
    c = rng.choice(len(counts), size=n_pairs, p=weight / weight.sum())
    i = starts[c] + rng.randint(counts[c])
    # Positions after the class and, wrapping around the end, before it.
    j = (starts[c] + counts[c] + rng.randint(others[c])) % len(y)
    return X[order[i]] - X[order[j]]


def _by_class(y: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Rows sorted by class, and where each class starts and how many rows it has."""
    counts = np.bincount(y)
    return np.argsort(y, kind="stable"), np.cumsum(counts) - counts, counts
