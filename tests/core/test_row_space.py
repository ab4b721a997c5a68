from __future__ import annotations

import numpy as np
import pytest

from zslearn.core import sylvester
from zslearn.core.row_space import RowBasis, row_space, subset_coordinates, triangle_gram


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_coordinates_rebuild_the_features(kind):
    X = np.random.default_rng(0).standard_normal((7, 30)).astype(kind)
    Z, Q = row_space(X)
    assert (Z.shape, Q.shape, Z.dtype) == ((7, 7), (30, 7), np.float64)
    np.testing.assert_allclose(Z @ Q.T, X, atol=1e-12)
    np.testing.assert_allclose(Q.T @ Q, np.eye(7), atol=1e-12)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_solving_in_the_row_space_is_exact(lam):
    rng = np.random.default_rng(1)
    X, S = rng.standard_normal((9, 25)), rng.standard_normal((9, 4))
    Z, Q = row_space(X)
    small = sylvester.solve(S.T @ S, Z.T @ Z, S.T @ Z, lam) @ Q.T
    big = sylvester.solve_reference(S.T @ S, X.T @ X, S.T @ X, lam)
    np.testing.assert_allclose(small, big, atol=1e-9 * np.abs(big).max())


def test_repeated_rows_leave_the_basis_well_defined():
    X = np.ones((4, 10))
    Z, Q = row_space(X)
    np.testing.assert_allclose(Z @ Q.T, X, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_basis_of_reflectors_is_the_one_that_is_formed(kind):
    X = np.random.default_rng(0).standard_normal((7, 30)).astype(kind)
    before = X.copy()
    Z, Q = row_space(X)
    coordinates, basis = RowBasis.of(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(coordinates, Z, atol=1e-13)
    assert basis.n_features == 30
    np.testing.assert_allclose(basis.lifted(np.eye(7)), Q.T, atol=1e-13)
    maps = np.random.default_rng(1).standard_normal((2, 3, 7))
    np.testing.assert_allclose(basis.lifted(maps), maps @ Q.T, atol=1e-13)


def test_coordinates_of_a_subset_keep_every_inner_product():
    X = np.random.default_rng(2).standard_normal((8, 20))
    rows, others = np.array([1, 3, 4, 6, 7]), np.array([0, 2, 5])
    L, H = subset_coordinates(X @ X.T, rows, others)
    assert (L.shape, H.shape) == ((5, 5), (3, 5))
    np.testing.assert_allclose(L @ L.T, X[rows] @ X[rows].T, atol=1e-12)
    np.testing.assert_allclose(H @ L.T, X[others] @ X[rows].T, atol=1e-12)
    np.testing.assert_array_equal(L, np.tril(L))


def test_dependent_rows_have_no_coordinates_of_their_own():
    X = np.random.default_rng(2).standard_normal((4, 20))
    X[2] = X[0]
    assert subset_coordinates(X @ X.T, np.array([0, 1, 2]), np.array([3])) is None
    X[2] = 0.0
    assert subset_coordinates(X @ X.T, np.array([0, 1, 2]), np.array([3])) is None


def test_the_gram_matrix_of_a_triangle():
    L = np.tril(np.random.default_rng(3).standard_normal((6, 6)))
    np.testing.assert_allclose(triangle_gram(L), L.T @ L, atol=1e-14)
