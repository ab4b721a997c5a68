import numpy as np
import pytest

from zslearn.core.moments import Moments
from zslearn.core.whitening import WithinClassSpectrum, within_class_scatter


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


def test_without_shrinkage_the_within_class_covariance_becomes_the_identity(data):
    X, y = data
    spectrum = WithinClassSpectrum.of(Moments.of(X, y))
    Z = X @ spectrum.V * spectrum.scale(0.0)
    scatter = within_class_scatter(Moments.of(Z, y)) / len(y)
    np.testing.assert_allclose(scatter, np.eye(6), atol=1e-9)


def test_full_shrinkage_only_rescales(data):
    X, y = data
    spectrum = WithinClassSpectrum.of(Moments.of(X, y))
    assert np.ptp(spectrum.scale(1.0)) == 0.0


def test_one_sample_a_class_leaves_nothing_to_whiten():
    X = np.random.default_rng(0).standard_normal((5, 3))
    spectrum = WithinClassSpectrum.of(Moments.of(X, np.arange(5)))
    np.testing.assert_array_equal(spectrum.scale(0.3), np.ones(3))
