"""The synthetic data of supervised clustering."""

import numpy as np
import pytest

from zslearn.datasets import make_subclusters
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import clustering_loss


def test_centers_are_those_of_the_original():
    data = make_subclusters(noise=0.0, random_state=0)
    expected = {
        0: {(-6, 0, 0), (0, 60, 0)},
        1: {(6, 0, 0), (6, 60, 0)},
        2: {(3, 60, 6), (-6, 0, 6)},
    }
    for c, centers in expected.items():
        assert set(map(tuple, data.X_train[data.y_train == c])) == centers
    assert clustering_loss(data.y_test, data.bayes_partition(data.X_test)) == 0


@pytest.mark.parametrize(
    ("sizes", "counts"),
    [("equal", [1000] * 3), ("1:2:4", [1000, 2000, 4000]), ([3, 4, 5], [3, 4, 5])],
)
def test_sizes_and_balanced_test(sizes, counts):
    data = make_subclusters(sizes, n_test=3001, random_state=0)
    assert np.bincount(data.y_train).tolist() == counts
    assert np.bincount(data.y_test).tolist() == [1001, 1000, 1000]


def test_noise_is_isotropic_and_seeded():
    data = make_subclusters(n_test=60_000, noise=0.5, random_state=3)
    near = data.X_test[(data.y_test == 1) & (data.X_test[:, 1] > 30)]
    assert np.allclose(np.cov(near.T), 0.25 * np.eye(3), atol=0.015)
    again = make_subclusters(n_test=60_000, noise=0.5, random_state=3)
    assert np.array_equal(data.X_test, again.X_test)


def test_floor_is_that_of_the_population():
    data = make_subclusters([2, 2, 2], n_test=300_000, random_state=0)
    floor = clustering_loss(data.y_test, data.bayes_partition(data.X_test))
    assert floor == pytest.approx(0.0134, abs=0.001)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": "1:2:3"}, "'equal', '1:2:4'"),
        ({"sizes": [5, 1, 5]}, "at least 2 samples"),
        ({"noise": -1.0}, "noise must be"),
        ({"n_test": 5}, "n_test must be a whole number of at least 6"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InvalidInputError, match=message):
        make_subclusters(**options)
