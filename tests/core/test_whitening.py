import numpy as np
import pytest
from scipy import sparse

from zslearn.core.moments import Moments
from zslearn.core.row_space import reduced
from zslearn.core.whitening import (
    Leaning,
    WithinClassCovariance,
    whitened_spaces,
    within_class_scatter,
)
from zslearn.exceptions import InvalidInputError


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
    weights, which, beta = rng.normal(size=(2, 3, 4)), np.array([0, 1, 1]), np.array([0.5, 0.0, 1])
    moments = Moments.of(X, y)
    covariance = WithinClassCovariance.of(moments)
    (space,) = whitened_spaces(moments, covariance, X[:8], [0.4], (known, new))
    ((rows, found),) = space.ranked(Leaning(weights, which, beta))
    assert rows == slice(0, 8)
    inverse, means = shrunk_inverse(X, y, 0.4), moments.class_means
    center, middle = means.mean(axis=0), known.mean(axis=0)
    M, F, f = means - center, known - middle, new - middle
    b = np.trace(M @ inverse @ F.T) / np.trace(F @ inverse @ F.T)
    assert space.guesses.scale == pytest.approx(max(b, 0))
    b = max(b, 0)
    for number, (w, s) in enumerate(zip(which, beta, strict=True)):
        p = s * b * f + weights[w] @ (M - s * b * F)
        Z = X[:8] - center
        expected = Z @ inverse @ p.T - 0.5 * np.einsum("cd,de,ce->c", p, inverse, p)
        np.testing.assert_allclose(found[:, number], expected, rtol=1e-8, atol=1e-9)
    truth = rng.integers(3, size=8)
    plain = space.accuracies(weights, truth)
    assert space.accuracies(Leaning(weights, which, 0 * beta), truth) == pytest.approx(plain[which])


def test_prototypes_lean_on_guesses_only_where_there_are_some(data):
    moments = Moments.of(*data)
    (space,) = whitened_spaces(moments, WithinClassCovariance.of(moments), data[0], [0.4])
    lean = Leaning(np.zeros((1, 2, 4)), np.zeros(1, np.intp), np.ones(1))
    with pytest.raises(InvalidInputError, match="the space has none"):
        space.accuracies(lean, np.zeros(300, np.intp))
