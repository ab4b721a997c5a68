"""Contributions of semantic dimensions against a path integral by finite differences."""

import numpy as np
import pytest

from zslearn.core.kernels import (
    SignatureKernel,
    deviations_from_mean,
    dimension_contributions,
)


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
