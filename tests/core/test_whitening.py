import numpy as np
import pytest

from zslearn.core.moments import Moments
from zslearn.core.whitening import WithinClassCovariance, within_class_scatter


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, 300)
    mixing = rng.standard_normal((6, 6))
    return rng.standard_normal((300, 6)) @ mixing + rng.standard_normal((4, 6))[y] * 5, y


def test_scatter_is_the_sum_over_samples_about_their_class_mean(data):
    X, y = data
    centered = X - np.array([X[y == c].mean(axis=0) for c in range(4)])[y]
    np.testing.assert_allclose(
        within_class_scatter(Moments.of(X, y)), centered.T @ centered, rtol=1e-10, atol=1e-9
    )


def shrunk_inverse(X, y, shrinkage):
    centered = X - np.array([X[y == c].mean(axis=0) for c in np.unique(y)])[y]
    covariance = centered.T @ centered / len(y)
    target = np.trace(covariance) / len(covariance)
    return np.linalg.inv(
        (1 - shrinkage) * covariance + shrinkage * target * np.eye(len(covariance))
    )


@pytest.mark.parametrize("shrinkages", [[0.0, 0.5, 1.0], [0.1, 0.5, 1.0], [0.3], [1.0]])
def test_every_road_gives_the_inverse_of_the_shrunk_covariance(data, shrinkages):
    X, y = data
    rows = X[:7]
    solved = WithinClassCovariance.of(Moments.of(X, y)).solved(rows, shrinkages)
    assert solved.shape == (len(shrinkages), 7, 6)
    for found, shrinkage in zip(solved, shrinkages, strict=True):
        np.testing.assert_allclose(found, rows @ shrunk_inverse(X, y, shrinkage), rtol=1e-8)


def test_a_singular_covariance_is_shrunk_alike_on_every_road():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 4)
    X = rng.standard_normal((12, 30)) + rng.standard_normal((3, 30))[y]
    covariance = WithinClassCovariance.of(Moments.of(X, y))
    together = covariance.solved(X, [0.01, 0.9])
    for found, shrinkage in zip(together, [0.01, 0.9], strict=True):
        np.testing.assert_allclose(found, X @ shrunk_inverse(X, y, shrinkage), rtol=1e-8)
        np.testing.assert_allclose(covariance.solved(X, [shrinkage])[0], found, rtol=1e-8)


def test_one_sample_a_class_leaves_nothing_to_whiten():
    X = np.random.default_rng(0).standard_normal((5, 3))
    covariance = WithinClassCovariance.of(Moments.of(X, np.arange(5)))
    np.testing.assert_array_equal(covariance.solved(X, [0.3])[0], X)
