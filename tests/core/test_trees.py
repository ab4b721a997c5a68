"""Trees as arrays: bins, growth, and the walk of all samples at once."""

from __future__ import annotations

import numpy as np
import pytest

from zslearn.core.trees import Binned, grow


def test_a_tree_says_the_same_as_a_walk_by_hand():
    rng = np.random.default_rng(0)
    X, target = rng.standard_normal((200, 4)), rng.standard_normal(200)
    binned = Binned.of(X, 16)
    # Some nodes are too small to be split at this depth.
    trees = grow(binned, target, np.ones(200), depth=6, min_samples_leaf=9)
    features, thresholds, values = (part[0] for part in trees)

    def walk(x, node=0):
        if node >= 63:
            return values[node - 63]
        return walk(x, 2 * node + (1 if x[features[node]] <= thresholds[node] else 2))

    others = 3 * rng.standard_normal((300, 4))
    np.testing.assert_array_equal(trees.sums(others), [walk(x) for x in others])
    said = trees.sums(X)
    for value in np.unique(said):
        same = said == value
        assert same.sum() >= 9
        assert value == pytest.approx(target[same].mean())
    assert 10 < len(np.unique(said)) < 64


def test_bins_hold_about_as_many_samples_and_few_values_one_each():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_t(2, 900), rng.integers(0, 3, 900), np.full(900, 7.0)])
    binned = Binned.of(X, 10)
    assert np.bincount(binned.bins[:, 0]).tolist() == [90] * 10
    np.testing.assert_array_equal(binned.bins[:, 1], X[:, 1])
    np.testing.assert_array_equal(binned.bins[:, 2], 0)
