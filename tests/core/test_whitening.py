"""Prototypes judged by inner products, against explicit distances and the public curve."""

import numpy as np
import pytest
from scipy import sparse

from zslearn.core.moments import Moments
from zslearn.core.row_space import reduced
from zslearn.core.whitening import (
    WithinClassCovariance,
    best_harmonic_means,
    class_shares,
    leaning,
    whitened_spaces,
    within_class_scatter,
)
from zslearn.metrics import seen_unseen_curve


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


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 0.9, 1.0])
def test_whitening_squares_to_the_inverse_of_the_shrunk_covariance(data, shrinkage):
    X, y = data
    covariance = WithinClassCovariance.of(Moments.of(X, y))
    W = covariance.whitening(shrinkage)
    whitened, inverse = W.applied(X[:9]), shrunk_inverse(X, y, max(shrinkage, 1e-6))
    np.testing.assert_allclose(whitened @ whitened.T, X[:9] @ inverse @ X[:9].T, rtol=1e-7)
    np.testing.assert_allclose(W.pulled_back(whitened), X[:9] @ inverse, rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(W.applied(sparse.csr_array(X[:9])), whitened)
    spread = np.trace(inverse @ covariance.matrix)
    assert covariance.spread(W, shrinkage) == pytest.approx(spread)


@pytest.mark.parametrize("shrinkage", [0.2, 1.0])
def test_whitening_in_the_row_space_also_holds_outside_of_it(shrinkage):
    rng = np.random.default_rng(0)
    X, y, new = rng.standard_normal((12, 30)), np.repeat(np.arange(3), 4), rng.normal(size=(5, 30))
    rows, basis = reduced(X)
    covariance = WithinClassCovariance.of(Moments.of(rows, y), 30)
    W = covariance.whitening(shrinkage, basis)
    inverse = shrunk_inverse(X, y, shrinkage)
    whitened = W.applied(new)
    np.testing.assert_allclose(whitened @ whitened.T, new @ inverse @ new.T, rtol=1e-9)
    np.testing.assert_allclose(W.applied(sparse.csr_array(new)), whitened)
    np.testing.assert_allclose(W.pulled_back(whitened), new @ inverse, rtol=1e-9)
    spread = np.trace(inverse @ WithinClassCovariance.of(Moments.of(X, y)).matrix)
    assert covariance.spread(W, shrinkage) == pytest.approx(spread)


def test_a_spread_that_was_not_measured_is_none():
    X = np.random.default_rng(0).standard_normal((5, 3))
    covariance = WithinClassCovariance.of(Moments.of(X, np.arange(5)))
    assert covariance.spread(covariance.whitening(0.5), 0.5) == 0.0


def test_leaning_prototypes_are_ranked_by_their_distances(data):
    X, y = data
    rng = np.random.default_rng(1)
    known, new = rng.normal(size=(4, 6)), rng.normal(size=(3, 6))
    weights, lean = rng.normal(size=(3, 3, 4)), np.array([0.5, 0.0, 1.3])
    moments = Moments.of(X, y)
    covariance = WithinClassCovariance.of(moments)
    (space,) = whitened_spaces(moments, covariance, X[:8], [0.4], (known, new))
    ((rows, found),) = space.ranked(leaning(weights, lean))
    assert rows == slice(0, 8)
    inverse, means = shrunk_inverse(X, y, 0.4), moments.class_means
    center, middle = means.mean(axis=0), known.mean(axis=0)
    M, F, f = means - center, known - middle, new - middle
    for mine, theirs in zip(space.guesses, (M @ inverse @ F.T, F @ inverse @ F.T), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)
    for number, (w, share) in enumerate(zip(weights, lean, strict=True)):
        p = share * f + w @ (M - share * F)
        Z = X[:8] - center
        expected = Z @ inverse @ p.T - 0.5 * np.einsum("cd,de,ce->c", p, inverse, p)
        np.testing.assert_allclose(found[:, number], expected, rtol=1e-8, atol=1e-9)
    truth = rng.integers(3, size=8)
    plain = space.accuracies(weights, truth)  # of the means alone
    assert space.accuracies(leaning(weights, 0 * lean), truth) == pytest.approx(plain)


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
