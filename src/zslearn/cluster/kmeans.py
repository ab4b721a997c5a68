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

from zslearn.cluster.two_means import two_means
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import clustering_loss

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
