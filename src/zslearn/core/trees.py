"""Complete binary trees as arrays: grown on binned features, walked by all samples at once.

A tree of depth D has 2^D − 1 nodes in the order of a heap: the children of node i are 2i + 1 and
2i + 2, so that no array has to say where children are. A sample goes left at a node if its feature
is at most the threshold. Below a node that was not split, all leaves have the same value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Gains below this are rounding.
_LEAST_GAIN = 1e-12
# Samples × trees that are walked at once.
_BLOCK = 2**20


class Binned(NamedTuple):
    """Features as numbers of bins.

    Attributes
    ----------
    bins : ndarray of int of shape (n_samples, n_features)
        Bin of each value: how many edges are below it.
    edges : ndarray of shape (n_features, n_bins - 1)
        Ascending; the last are repeated where a feature has fewer bins.
    """

    bins: NDArray[np.intp]
    edges: NDArray

    @classmethod
    def of(cls, X: NDArray, n_bins: int) -> Binned:
        """Bin every feature: a bin for each value if there are few, else about equal counts.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        n_bins : int
            Bins of a feature at most, at least 2.

        Returns
        -------
        Binned
        """
        edges = np.stack([_edges(column, n_bins) for column in X.T])
        columns = [np.searchsorted(e, column) for e, column in zip(edges, X.T, strict=True)]
        return cls(np.stack(columns, axis=1), edges)


def _edges(column: NDArray, n_bins: int) -> NDArray:
    """Return the middles between neighboring values, or quantiles."""
    values = np.unique(column.astype(np.float64))
    if len(values) > n_bins:
        inner = np.linspace(0, 1, n_bins + 1)[1:-1]
        return np.asarray(np.quantile(column.astype(np.float64), inner))
    middles = values[:-1] / 2 + values[1:] / 2
    return np.pad(middles, (0, n_bins - 1 - len(middles)), constant_values=values[-1])


class Trees(NamedTuple):
    """Trees of one depth.

    Attributes
    ----------
    features : ndarray of int of shape (n_trees, n_nodes)
        Feature that a node looks at.
    thresholds : ndarray of shape (n_trees, n_nodes)
        Up to which value of it a sample goes left.
    values : ndarray of shape (n_trees, n_nodes + 1)
        What the leaves say, from left to right.
    """

    features: NDArray[np.intp]
    thresholds: NDArray
    values: NDArray

    def sums(self, X: NDArray) -> NDArray:
        """Return the sum of what all trees say of each sample, of shape (n_samples,)."""
        step = max(1, _BLOCK // len(self.features))
        blocks = [self._block(X[i : i + step]) for i in range(0, len(X), step)]
        return np.concatenate(blocks) if blocks else np.zeros(0)

    def _block(self, X: NDArray) -> NDArray:
        n_nodes = self.features.shape[1]
        rows, tree = np.arange(len(X))[:, None], np.arange(len(self.features))
        node = np.zeros((len(X), len(tree)), dtype=np.intp)
        for _ in range((n_nodes + 1).bit_length() - 1):
            right = X[rows, self.features[tree, node]] > self.thresholds[tree, node]
            node = 2 * node + 1 + right
        return np.asarray(self.values[tree, node - n_nodes].sum(axis=1))


def grow(
    binned: Binned, target: NDArray, weight: NDArray, *, depth: int, min_samples_leaf: int
) -> Trees:
    """Grow a tree level by level, each split where the squared error of the target falls most.

    Parameters
    ----------
    binned : Binned
        Features.
    target : ndarray of shape (n_samples,)
        What is to be said of each sample, the gradient in boosting.
    weight : ndarray of shape (n_samples,)
        A leaf says ``Σ target / Σ weight``, Newton's step if weights are second derivatives.
    depth : int
        Splits from the root to a leaf.
    min_samples_leaf : int
        Samples on either side of a split, at least.

    Returns
    -------
    Trees
        A single one.
    """
    n_samples, n_features = binned.bins.shape
    n_bins = binned.edges.shape[1] + 1
    cells = binned.bins + n_bins * np.arange(n_features)
    repeated, rows = np.repeat(target, n_features), np.arange(n_samples)
    place = np.zeros(n_samples, dtype=np.intp)  # of its node among those of the level
    features, thresholds, whole = [], [], []
    for level in range(depth):
        shape = (2**level, n_features, n_bins)
        flat = (cells + (n_features * n_bins * place)[:, None]).ravel()
        counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
        sums = np.bincount(flat, repeated, int(np.prod(shape))).reshape(shape)
        gains = _gains(sums, counts, min_samples_leaf).reshape(2**level, -1)
        best = gains.argmax(axis=1)
        split = gains[np.arange(len(best)), best] > _LEAST_GAIN
        feature, last = np.divmod(np.where(split, best, 0), n_bins - 1)
        features.append(feature)
        thresholds.append(np.where(split, binned.edges[feature, last], 0.0))
        whole.append(~split)
        place = 2 * place + (split[place] & (binned.bins[rows, feature[place]] > last[place]))
    values = _leaf_values(place, target, weight, whole)
    return Trees(np.concatenate(features)[None], np.concatenate(thresholds)[None], values[None])


def _gains(sums: NDArray, counts: NDArray, least: int) -> NDArray:
    """Return what a split after each bin takes off the squared error; 0 where it may not be.

    ``S_l² / n_l + S_r² / n_r − S² / n``, of shape (n_nodes, n_features, n_bins - 1).
    """
    total, n = (part[:, :1].sum(axis=2, keepdims=True) for part in (sums, counts))
    left, n_left = (part.cumsum(axis=2)[:, :, :-1] for part in (sums, counts))
    n_right = n - n_left
    gain = left**2 / np.maximum(n_left, 1) + (total - left) ** 2 / np.maximum(n_right, 1)
    gain -= total**2 / np.maximum(n, 1)
    return np.where(np.minimum(n_left, n_right) >= least, gain, 0.0)


def _leaf_values(
    leaf: NDArray[np.intp], target: NDArray, weight: NDArray, whole: list[NDArray]
) -> NDArray:
    """Return ``Σ target / Σ weight`` of each leaf; below a node left whole all are the same."""
    n_leaves = 2 ** len(whole)
    sums, weights = (np.bincount(leaf, part, n_leaves) for part in (target, weight))
    values = np.divide(sums, weights, out=np.zeros(n_leaves), where=weights > _LEAST_GAIN)
    for level in reversed(range(len(whole))):
        parts = values.reshape(2**level, -1)
        # Samples of a node that was not split went left all the way.
        parts[whole[level]] = parts[whole[level], :1]
    return values
