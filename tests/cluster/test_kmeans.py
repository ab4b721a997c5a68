"""Two clusters: exact on a line, as good as many restarts in space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from zslearn.cluster.kmeans import two_means, two_means_line

numbers = st.lists(st.integers(-20, 20), min_size=2, max_size=8)


def inertia(points, labels):
    parts = [points[labels == c] for c in np.unique(labels)]
    return sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts)


@settings(deadline=None, max_examples=60)
@given(numbers)
def test_line_equals_every_subset_tried(values):
    points = np.array(values, dtype=float)[:, None]
    subsets = (np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1
    best = min(inertia(points, labels) for labels in subsets)
    assert inertia(points, two_means_line(points[:, 0])) == pytest.approx(best, abs=1e-9)


def test_line_keeps_equal_values_together_and_digits_at_a_large_offset():
    assert two_means_line(np.full(5, 3.0)).tolist() == [0] * 5
    values = np.array([1.0, 1.0, 2.0, 2.0, 2.0])
    assert two_means_line(values + 1e9).tolist() == [0, 0, 1, 1, 1]


def test_points_on_a_line_in_space_are_split_exactly():
    rng = np.random.default_rng(0)
    t = rng.standard_normal(200) ** 3
    points = 4.0 + np.outer(t, [1.0, -2.0, 0.5])
    found = two_means(points, restarts=0, rng=np.random.RandomState(0))
    assert inertia(points, found) == pytest.approx(inertia(points, two_means_line(t)))


@pytest.mark.parametrize("seed", range(5))
def test_space_equals_sklearn_with_restarts(seed):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((400, 3)) + 2.5 * rng.integers(2, size=(400, 1))
    found = two_means(points, restarts=3, rng=np.random.RandomState(0))
    reference = KMeans(2, n_init=20, random_state=0).fit(points)
    assert inertia(points, found) <= reference.inertia_ * (1 + 1e-9)


def test_restarts_escape_a_bad_principal_axis():
    rng = np.random.default_rng(4)
    points = rng.standard_normal((60, 2))
    few = two_means(points, restarts=0, rng=np.random.RandomState(0))
    many = two_means(points, restarts=50, rng=np.random.RandomState(0))
    assert inertia(points, many) <= inertia(points, few)
    best = KMeans(2, n_init=200, random_state=0).fit(points).inertia_
    assert inertia(points, many) <= best * (1 + 1e-9)


def test_identical_points_are_one_cluster():
    assert two_means(np.ones((4, 2)), restarts=2, rng=np.random.RandomState(0)).tolist() == [0] * 4


def test_wide_float32_codes_give_the_split_of_float64_codes():
    rng = np.random.default_rng(5)
    for _ in range(5):
        codes = rng.normal(size=(400, 30)) + rng.normal(size=30) * rng.integers(0, 2, (400, 1))
        codes += 100  # far from the origin, where float32 has few digits
        narrow = codes.astype(np.float32)
        expected = two_means(narrow.astype(np.float64), restarts=2, rng=np.random.RandomState(0))
        found = two_means(narrow, restarts=2, rng=np.random.RandomState(0))
        assert np.array_equal(found, expected) or np.array_equal(found, 1 - expected)
