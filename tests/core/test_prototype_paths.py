"""Prototypes judged by inner products, against explicit distances and the public curve."""

import numpy as np
import pytest

from zslearn.core.moments import Moments
from zslearn.core.whitening import (
    WithinClassCovariance,
    best_harmonic_means,
    class_shares,
    whitened_spaces,
)
from zslearn.metrics import seen_unseen_curve


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 20)
    X = rng.standard_normal((6, 9))[y] + rng.standard_normal((120, 9)) @ rng.standard_normal((9, 9))
    truth = rng.integers(0, 8, 50)
    return X, y, rng.standard_normal((50, 9)), truth, rng.standard_normal((4, 8, 6))


def explicit(X, y, Z, prototypes, shrinkage):
    """Negative half squared distances in the whitened space, for every set of prototypes."""
    means = np.array([X[y == c].mean(axis=0) for c in range(6)])
    inner = X - means[y]
    covariance = inner.T @ inner / len(X)
    shrunk = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / 9 * np.eye(9)
    center = means.mean(axis=0)
    difference = Z[:, None, None] - (center + prototypes @ (means - center))
    return -0.5 * np.einsum("nscd,de,nsce->nsc", difference, np.linalg.inv(shrunk), difference)


@pytest.mark.parametrize("weighted", [False, True])
def test_judgments_are_those_of_explicit_distances(problem, weighted):
    X, y, Z, truth, prototypes = problem
    weights = np.random.default_rng(1).integers(1, 4, 50) if weighted else None
    repeats = np.ones(50, int) if weights is None else weights
    train = Moments.of(X, y)
    covariance = WithinClassCovariance.of(train)
    for shrinkage, space in zip(
        (0.4, 0.8, 1.0), whitened_spaces(train, covariance, Z, (0.4, 0.8, 1.0)), strict=True
    ):
        scores = explicit(X, y, Z, prototypes, shrinkage)
        right = scores.argmax(axis=2) == truth[:, None]
        classes = np.unique(truth)
        recalls = [
            np.average(right[truth == c], axis=0, weights=repeats[truth == c]) for c in classes
        ]
        np.testing.assert_allclose(
            space.accuracies(prototypes, truth, weights), np.mean(recalls, axis=0)
        )
        expected = [
            seen_unseen_curve(
                np.repeat(truth, repeats),
                np.repeat(scores[:, i], repeats, axis=0),
                candidates=np.arange(8),
                seen=np.arange(6),
            ).oracle.harmonic_mean
            for i in range(4)
        ]
        np.testing.assert_allclose(space.harmonic_means(prototypes, truth, weights), expected)


def test_samples_with_equal_gaps_move_together():
    gaps = np.zeros((2, 1))
    seen, unseen = np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]])
    assert best_harmonic_means(gaps, seen, unseen) == 0.0
    apart = np.array([[1.0], [-1.0]])
    assert best_harmonic_means(apart, seen, unseen) == 1.0


def test_shares_add_up_to_one_per_class():
    truth, weights = np.array([3, 3, 5, 5, 5]), np.array([1.0, 3.0, 1.0, 1.0, 2.0])
    share = class_shares(truth, weights)
    np.testing.assert_allclose([share[truth == 3].sum(), share[truth == 5].sum()], 0.5)
    np.testing.assert_allclose(share[1] / share[0], 3.0)
