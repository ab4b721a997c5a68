"""k-means of codes, all together or by group, in the cheapest way that is exact enough."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from zslearn.exceptions import InvalidInputError
from zslearn.metrics import clustering_loss

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


# Below this many multiplications per round, threads cost more than they save.
_SMALL = 2e7


def one_thread(wanted: bool) -> AbstractContextManager:
    """Keep libraries to one thread inside the block, if wanted."""
    return _controller().limit(limits=1) if wanted else nullcontext()


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes longer than solving many of the problems.
    return ThreadpoolController()


@dataclass(frozen=True)
class KMeansOptions:
    """How codes are clustered.

    Attributes
    ----------
    n_clusters : int
        Number of clusters of each problem.
    n_init : int
        Starts of scikit-learn's KMeans, used for three clusters or more.
    restarts : int
        Random starts of 2-means beyond the one along the principal axis.
    """

    n_clusters: int
    n_init: int = 20
    restarts: int = 0


def cluster_codes(
    codes: NDArray, groups: NDArray | None, options: KMeansOptions, rng: RandomState
) -> NDArray[np.intp]:
    """Label every row with its cluster.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_dimensions)
        Points.
    groups : ndarray of shape (n_samples,), optional
        Rows with the same value are clustered by themselves; None takes all rows together.
    options : KMeansOptions
        How to cluster.
    rng : RandomState
        Source of random starts.

    Returns
    -------
    ndarray of shape (n_samples,)
        Clusters 0 .. n_clusters - 1 of each group, by decreasing mean of the first code.
    """
    return map_groups(lambda rows: _kmeans(codes[rows], options, rng), len(codes), groups, options)


def map_groups(
    cluster: Callable[[NDArray | slice], NDArray],
    n_rows: int,
    groups: NDArray | None,
    options: KMeansOptions,
) -> NDArray[np.intp]:
    """Apply `cluster` to the rows of each group and put the labels in their place."""
    labels = np.zeros(n_rows, dtype=np.intp)
    with one_thread(groups is not None):
        for name, rows in group_rows(groups):
            size = n_rows if isinstance(rows, slice) else len(rows)
            if size < options.n_clusters:
                where = "" if groups is None else f" of group {name!r}"
                raise InvalidInputError(
                    f"the {size} row(s){where} cannot be split into {options.n_clusters} clusters."
                )
            labels[rows] = cluster(rows)
    return labels


def group_rows(groups: NDArray | None) -> Iterator[tuple[object, NDArray | slice]]:
    """Name and rows of each group; one group of all rows if there are none."""
    if groups is None:
        yield None, slice(None)
        return
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    ends = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    for rows in np.split(order, ends):
        yield groups[rows[0]].item(), rows


def mean_loss(y: NDArray, labels: NDArray, groups: NDArray | None) -> float:
    """Clustering loss, averaged over groups if there are any."""
    losses = [clustering_loss(y[rows], labels[rows]) for _, rows in group_rows(groups)]
    return float(np.mean(losses))


def check_groups(groups: object, n_rows: int) -> NDArray | None:
    """Return groups as an array with one entry per row."""
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.shape != (n_rows,):
        raise InvalidInputError(
            f"groups must name the group of each of the {n_rows} rows; got shape {array.shape}."
        )
    return array


def _kmeans(codes: NDArray, options: KMeansOptions, rng: RandomState) -> NDArray[np.intp]:
    if options.n_clusters == 1:
        return np.zeros(len(codes), dtype=np.intp)
    if options.n_clusters == 2:
        labels = two_means(codes, restarts=options.restarts, rng=rng)
    else:
        labels = _sklearn_kmeans(codes, options, rng)
    return _ordered(labels, codes[:, 0], options.n_clusters)


def _sklearn_kmeans(codes: NDArray, options: KMeansOptions, rng: RandomState) -> NDArray[np.intp]:
    model = KMeans(options.n_clusters, n_init=options.n_init, random_state=rng)
    small = codes.size * options.n_clusters < _SMALL
    with one_thread(small), warnings.catch_warnings():
        # With fewer distinct points than clusters some clusters stay empty, which is a valid
        # result.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(codes).labels_


def _ordered(labels: NDArray, first_code: NDArray, n_clusters: int) -> NDArray[np.intp]:
    """Sort clusters by decreasing mean of the first code, so that labels do not depend on luck."""
    counts = np.bincount(labels, minlength=n_clusters)
    sums = np.bincount(labels, weights=first_code, minlength=n_clusters)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)
    rank = np.empty(n_clusters, dtype=np.intp)
    rank[np.argsort(-means, kind="stable")] = np.arange(n_clusters)
    return rank[labels]
