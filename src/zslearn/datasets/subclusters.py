"""The synthetic data of supervised clustering: three clusters, each split in two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from zslearn._parameters import Number, Whole, check_value
from zslearn.exceptions import InvalidInputError

_SIZES = {"equal": (1000, 1000, 1000), "1:2:4": (1000, 2000, 4000)}
_NEAR, _FAR = 6.0, 60.0
# Two sub-clusters of each class, 60 apart along the second axis; other classes are 6 away.
CENTERS = np.array(
    [
        [[-_NEAR, 0.0, 0.0], [0.0, _FAR, 0.0]],
        [[_NEAR, 0.0, 0.0], [_NEAR, _FAR, 0.0]],
        [[_NEAR / 2, _FAR, _NEAR], [-_NEAR, 0.0, _NEAR]],
    ]
)


@dataclass(frozen=True, eq=False)
class SubclusterData:
    """Training and test data of :func:`make_subclusters`.

    Attributes
    ----------
    X_train, X_test : ndarrays of shape (n_samples, 3)
        Features.
    y_train, y_test : ndarrays of shape (n_samples,)
        Class 0, 1 or 2.
    noise : float
        Standard deviation around the centers.
    """

    X_train: NDArray[Any]
    y_train: NDArray[np.intp]
    X_test: NDArray[Any]
    y_test: NDArray[np.intp]
    noise: float

    def bayes_partition(self, X: ArrayLike) -> NDArray[np.intp]:
        """Most probable class of each point, knowing how the balanced test data was made.

        The clustering loss of this partition is the floor; anything lower is luck.

        Parameters
        ----------
        X : array-like of shape (n_samples, 3)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        points = np.asarray(X, dtype=np.float64)
        squares = ((points[:, None, None, :] - CENTERS) ** 2).sum(axis=3)
        variance = max(self.noise, np.finfo(float).tiny ** 0.25) ** 2
        return np.argmax(logsumexp(-squares / (2 * variance), axis=2), axis=1)


def make_subclusters(
    sizes: str | Sequence[int] = "equal",
    *,
    noise: float = 1.0,
    n_test: int = 3000,
    random_state: int | RandomState | None = None,
) -> SubclusterData:
    """Make three classes, each of two sub-clusters that lie far from each other.

    The sub-clusters of a class are 60 apart and 6 from those of other classes, so plain k-means
    joins the wrong ones. Law et al. (CVPR 2016) made this set; the paper of the semantic
    autoencoder uses it with equal and with unequal training classes. With `noise` 1 the tails of
    neighbors overlap, so about 3 of 3,000 test points cannot be classified correctly.

    Parameters
    ----------
    sizes : {"equal", "1:2:4"} or sequence of 3 int, default="equal"
        Training samples of each class: 1,000 each, or 1,000, 2,000 and 4,000, or as given. Half of
        them are in each sub-cluster.
    noise : float, default=1.0
        Standard deviation around the centers. The low-noise setting of the original is 0.5.
    n_test : int, default=3000
        Number of test samples; the test set is balanced whatever the training sizes.
    random_state : int, RandomState instance or None, default=None
        Seed; give an integer for the same data in every call.

    Returns
    -------
    SubclusterData

    Raises
    ------
    InvalidInputError
        If `sizes` is not known or holds fewer than 2 samples of a class, `n_test` is below 6 or
        `noise` is negative or not finite.

    Examples
    --------
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters("1:2:4", random_state=0)
    >>> data.X_train.shape, data.X_test.shape
    ((7000, 3), (3000, 3))
    >>> int((data.bayes_partition(data.X_test) != data.y_test).sum())
    4
    """
    counts = _class_sizes(sizes)
    check_value("noise", noise, Number(least=0))
    check_value("n_test", n_test, Whole(6))
    rng = check_random_state(random_state)
    X_train, y_train = _drawn(counts, noise, rng)
    even = [n_test // 3 + (c < n_test % 3) for c in range(3)]
    X_test, y_test = _drawn(even, noise, rng)
    return SubclusterData(X_train, y_train, X_test, y_test, float(noise))


def _class_sizes(sizes: str | Sequence[int]) -> Sequence[int]:
    if isinstance(sizes, str):
        if sizes not in _SIZES:
            raise InvalidInputError(
                f"sizes must be 'equal', '1:2:4' or three numbers of samples; got {sizes!r}."
            )
        return _SIZES[sizes]
    if len(sizes) != 3 or min(sizes) < 2:
        raise InvalidInputError(
            f"sizes must hold three numbers of at least 2 samples; got {sizes!r}."
        )
    return sizes


def _drawn(
    counts: Sequence[int], noise: float, rng: RandomState
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Draw points around the centers, half of each class in each sub-cluster."""
    halves = np.array([[(n + 1) // 2, n // 2] for n in counts])
    X = np.repeat(CENTERS.reshape(6, 3), halves.ravel(), axis=0)
    X += noise * rng.standard_normal(X.shape)
    return X, np.repeat(np.arange(3), halves.sum(axis=1))
