import numpy as np
import pytest

from zslearn.core.learner import smallest_keys
from zslearn.core.moment_pass import Reservoir, random_keys
from zslearn.exceptions import InvalidInputError


def stream(n=5000, n_classes=7):
    y = np.random.default_rng(0).integers(0, n_classes, n)
    return np.arange(n, dtype=float)[:, None], y


def filled(X, y, size, per_class=20):
    kept = Reservoir(per_class)
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        kept.add(X[rows], y[rows], np.arange(len(y))[rows])
    return kept


@pytest.mark.parametrize("size", [13, 700])
def test_the_sample_does_not_depend_on_blocks(size):
    X, y = stream()
    np.testing.assert_array_equal(filled(X, y, size).rows[0], filled(X, y, 5000).rows[0])


def test_two_halves_merge_to_the_sample_of_all():
    X, y = stream()
    numbers = np.arange(len(y))
    halves = Reservoir(20), Reservoir(20)
    halves[0].add(X[:2000], y[:2000], numbers[:2000])
    halves[1].add(X[2000:], y[2000:], numbers[2000:])
    rows, labels, keys = map(np.concatenate, zip(*(half.rows for half in halves), strict=True))
    chosen = smallest_keys(labels, keys, 20)
    np.testing.assert_array_equal(rows[chosen], filled(X, y, 5000).rows[0])


def test_small_classes_are_kept_whole_and_large_ones_cut():
    X, y = stream()
    y[y == 3] = 2
    y[:5] = 3
    kept = filled(X, y, 100)
    assert (kept.rows[1] == 3).sum() == 5
    assert (kept.rows[1] == 2).sum() == 20


def test_samples_are_spread_evenly_over_the_stream():
    X, y = stream(40000, 1)
    kept = filled(X, y, 1000, per_class=2000)
    counts = np.histogram(kept.rows[0], bins=10, range=(0, 40000))[0]
    assert counts.min() > 140
    assert counts.max() < 260


def test_seeds_give_other_keys():
    keys = random_keys(np.arange(100), 0)
    assert len(np.unique(keys)) == 100
    assert not np.array_equal(keys, random_keys(np.arange(100), 1))


def test_state_restores_and_nothing_kept_is_none():
    X, y = stream()
    half, again = filled(X[:2500], y[:2500], 100), Reservoir(20)
    again.restore(half.state())
    again.add(X[2500:], y[2500:], np.arange(2500, 5000))
    np.testing.assert_array_equal(again.rows[0], filled(X, y, 5000).rows[0])
    assert Reservoir(2).rows is None
    with pytest.raises(InvalidInputError, match="per_class must be a whole number of at least 1"):
        Reservoir(0)
