"""Kernels and regression against scikit-learn's, contributions against finite differences."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

from zslearn.core.kernels import (
    KernelSpectrum,
    SignatureKernel,
    deviations_from_mean,
    dimension_contributions,
    distance_unit,
    gaussian_kernel,
    kernel_ridge,
    median_scales,
    rbf,
    relative_distances,
)


def test_distances_are_those_of_unit_rows_a_block_each():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((4, 7)), rng.standard_normal((3, 7))
    blocks = [slice(0, 3), slice(3, 7)]
    found = relative_distances(A, B, blocks, [2.0, 0.5])
    for part, block, scale in zip(found, blocks, [2.0, 0.5], strict=True):
        a = A[:, block] / np.linalg.norm(A[:, block], axis=1, keepdims=True)
        b = B[:, block] / np.linalg.norm(B[:, block], axis=1, keepdims=True)
        np.testing.assert_allclose(part, cdist(a, b, "sqeuclidean") / scale, atol=1e-12)


def test_scales_are_medians_over_pairs_of_different_classes():
    S = np.eye(3)  # every pair of unit vectors is at squared distance 2
    assert median_scales(S, [slice(None)]) == [2.0]


def test_equal_signatures_do_not_divide_by_zero():
    assert median_scales(np.ones((3, 2)), [slice(None)]) == [1.0]


def test_a_space_given_twice_has_the_kernel_of_one():
    S = np.random.default_rng(2).standard_normal((5, 4))
    once = relative_distances(S, S, [slice(None)], [1.0])
    twice = relative_distances(
        np.hstack([S, S]), np.hstack([S, S]), [slice(0, 4), slice(4, 8)], [1.0, 1.0]
    )
    np.testing.assert_allclose(gaussian_kernel(once, 0.7), gaussian_kernel(twice, 0.7), atol=1e-12)


def test_kernel_ridge_equals_scikit_learn_on_centered_targets():
    rng = np.random.default_rng(0)
    S, T, new = rng.standard_normal((9, 4)), rng.standard_normal((9, 3)), rng.random((2, 4))
    K = rbf(S, S, 2.0)
    dual, mean = kernel_ridge(K, T, 0.3)
    gamma = 1 / (2.0 * distance_unit(S))
    other = KernelRidge(alpha=0.3, kernel="rbf", gamma=gamma).fit(S, T - T.mean(axis=0))
    np.testing.assert_allclose(rbf(new, S, 2.0) @ dual + mean, other.predict(new) + mean)


@pytest.fixture
def regression():
    rng = np.random.default_rng(4)
    S, new, F = rng.normal(size=(8, 3)), rng.normal(size=(3, 3)), rng.normal(size=(8, 5))
    return rbf(S, S, 1.5), rbf(new, S, 1.5), F, 0.7 * F + rng.normal(size=(8, 5))


def test_a_spectrum_serves_every_ridge(regression):
    K, k, _, _ = regression
    ridges = np.array([0.1, 2.0])
    for found, ridge in zip(KernelSpectrum.of(K).weights(k, ridges), ridges, strict=True):
        np.testing.assert_allclose(found, k @ np.linalg.inv(K + ridge * np.eye(8)), atol=1e-12)


def test_trends_are_those_of_generalized_least_squares(regression):
    K, _, F, M = regression
    ridges = np.array([0.1, 2.0, 1e9])
    for found, ridge in zip(
        KernelSpectrum.of(K).trends(M @ F.T, F @ F.T, ridges), ridges, strict=True
    ):
        # Rows are correlated as the kernel says; without that, the regression is an ordinary one.
        white = np.linalg.inv(np.linalg.cholesky(K + ridge * np.eye(8)))
        a, b = (white @ F).reshape(-1, 1), (white @ M).ravel()
        assert found == pytest.approx(np.linalg.lstsq(a, b, rcond=None)[0][0])
    plain = np.vdot(M, F) / np.vdot(F, F)
    assert found == pytest.approx(plain, rel=1e-6)


def test_guesses_that_say_nothing_or_the_opposite_have_no_trend(regression):
    K, _, _, M = regression
    spectrum, ridges = KernelSpectrum.of(K), np.array([0.1, 1.0])
    for F in (np.zeros_like(M), -M):
        np.testing.assert_array_equal(spectrum.trends(M @ F.T, F @ F.T, ridges), [0.0, 0.0])


def test_the_unit_is_the_mean_squared_distance_of_pairs():
    S = np.random.default_rng(1).standard_normal((6, 3))
    pairs = [np.sum((a - b) ** 2) for i, a in enumerate(S) for b in S[:i]]
    assert np.isclose(distance_unit(S), np.mean(pairs))
    assert distance_unit(S[:1]) == 1.0
    assert distance_unit(np.ones((3, 2))) == 1.0
    length = np.sqrt(distance_unit(S))
    np.testing.assert_allclose(rbf(S, S, 2.0), RBF(length_scale=length)(S), atol=1e-12)


def unit(M):
    return M / np.linalg.norm(M, axis=-1, keepdims=True)


@pytest.fixture
def case():
    """Two semantic spaces, of 3 and 4 dimensions, and 6 seen classes."""
    rng = np.random.default_rng(0)
    blocks = [slice(0, 3), slice(3, 7)]
    seen, s = rng.random((6, 7)), rng.random(7)
    root = rng.standard_normal((6, 6))
    kernel = SignatureKernel(seen, blocks, [0.3, 0.5], 1.2)
    return s, kernel, rng.standard_normal(6), root @ root.T / 6


def scaled(s, blocks):
    return np.concatenate([unit(s[..., block]) for block in blocks], axis=-1)


def value(v, kernel, a, gram):
    """The score of signatures whose blocks have been scaled already."""
    U = scaled(kernel.seen, kernel.blocks)
    parts = [
        np.exp(-((v[b] - U[:, b]) ** 2).sum(axis=1) / (scale * kernel.bandwidth))
        for b, scale in zip(kernel.blocks, kernel.scales, strict=True)
    ]
    k = np.mean(parts, axis=0)
    return a @ k - k @ gram @ k / 2


def test_contributions_are_the_path_integral(case):
    s, kernel, a, gram = case
    end = scaled(s, kernel.blocks)
    start = scaled(kernel.seen, kernel.blocks).mean(axis=0)
    steps = (np.arange(400) + 0.5) / 400
    expected = np.zeros(7)
    for j, bump in enumerate(1e-5 * np.eye(7)):
        slopes = [
            value(start + t * (end - start) + bump, kernel, a, gram)
            - value(start + t * (end - start) - bump, kernel, a, gram)
            for t in steps
        ]
        expected[j] = (end - start)[j] * np.mean(slopes) / 2e-5
    found = dimension_contributions(s, kernel, a, gram)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(deviations_from_mean(s, kernel), end - start)


def test_contributions_sum_to_the_difference_from_the_mean_class(case):
    s, kernel, a, gram = case
    end = scaled(s, kernel.blocks)
    start = scaled(kernel.seen, kernel.blocks).mean(axis=0)
    gained = value(end, kernel, a, gram) - value(start, kernel, a, gram)
    assert dimension_contributions(s, kernel, a, gram).sum() == pytest.approx(gained, rel=1e-12)


def test_a_dimension_like_the_mean_adds_nothing(case):
    _, kernel, a, gram = case
    start = unit(kernel.seen).mean(axis=0)
    rest = np.sqrt(1 - start[0] ** 2) * unit(np.arange(1.0, 7.0))
    whole = kernel._replace(blocks=[slice(0, 7)], scales=[0.3])
    found = dimension_contributions(np.append(start[0], rest), whole, a, gram)
    assert found[0] == pytest.approx(0, abs=1e-15)
    assert np.abs(found[1:]).min() > 1e-6
