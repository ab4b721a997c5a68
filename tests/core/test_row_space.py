from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from zslearn.core import sylvester
from zslearn.core.row_space import RowBasis, reduced, subset_coordinates, triangle_gram


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_coordinates_rebuild_the_features(kind):
    X = np.random.default_rng(0).standard_normal((7, 30)).astype(kind)
    before = X.copy()
    Z, basis = RowBasis.of(X)
    np.testing.assert_array_equal(X, before)
    assert (Z.shape, Z.dtype, basis.n_features) == ((7, 7), np.float64, 30)
    np.testing.assert_allclose(basis.lifted(Z), X, atol=1e-12)


def test_the_basis_is_that_of_a_formed_decomposition():
    X = np.random.default_rng(0).standard_normal((7, 30))
    Q, R = np.linalg.qr(X.T)
    Z, basis = RowBasis.of(X)
    np.testing.assert_allclose(Z, R.T, atol=1e-13)
    np.testing.assert_allclose(basis.lifted(np.eye(7)), Q.T, atol=1e-13)
    maps = np.random.default_rng(1).standard_normal((2, 3, 7))
    np.testing.assert_allclose(basis.lifted(maps), maps @ Q.T, atol=1e-13)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_solving_in_the_row_space_is_exact(lam):
    rng = np.random.default_rng(1)
    X, S = rng.standard_normal((9, 25)), rng.standard_normal((9, 4))
    Z, basis = RowBasis.of(X)
    small = basis.lifted(sylvester.solve(S.T @ S, Z.T @ Z, S.T @ Z, lam))
    big = sylvester.solve_reference(S.T @ S, X.T @ X, S.T @ X, lam)
    np.testing.assert_allclose(small, big, atol=1e-9 * np.abs(big).max())


def test_repeated_rows_leave_the_basis_well_defined():
    X = np.ones((4, 10))
    Z, basis = RowBasis.of(X)
    np.testing.assert_allclose(basis.lifted(Z), X, atol=1e-12)


def test_only_fewer_dense_rows_than_columns_are_reduced():
    X = np.random.default_rng(0).standard_normal((4, 10))
    assert reduced(X)[0].shape == (4, 4)
    for kept in (X.T, sparse.csr_array(X)):
        assert reduced(kept) == (kept, None)


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
