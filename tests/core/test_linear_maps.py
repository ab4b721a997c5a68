"""Closed forms of the linear methods against plain solvers."""

import numpy as np
import pytest

from zslearn.core.linear_maps import (
    bilinear,
    mean_eigenvalue,
    ridge_to_features,
    ridge_to_semantics,
)
from zslearn.core.moments import Moments
from zslearn.exceptions import InvalidInputError


@pytest.fixture(params=[(40, 7, 5, 6), (9, 12, 8, 3), (30, 2, 3, 4)])
def problem(request):
    n, d, k, n_classes = request.param
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d))
    y = rng.permutation(np.arange(n) % n_classes)
    S = rng.standard_normal((n_classes, k))
    rows = rng.standard_normal((4, k))
    return X, y, S, rows


def test_ridge_to_semantics_is_least_squares_on_augmented_rows(problem):
    X, y, S, rows = problem
    gammas = np.array([1e-3, 1.0, 50.0])
    got = ridge_to_semantics(Moments.of(X, y), S, rows, gammas)
    for gamma, vectors in zip(gammas, got, strict=True):
        augmented = np.vstack([X, np.sqrt(gamma) * np.eye(X.shape[1])])
        targets = np.vstack([S[y], np.zeros((X.shape[1], S.shape[1]))])
        W = np.linalg.lstsq(augmented, targets, rcond=None)[0]
        np.testing.assert_allclose(vectors, rows @ W.T, atol=1e-8)


def test_ridge_to_features_is_least_squares_on_augmented_rows(problem):
    X, y, S, rows = problem
    lams = np.array([1e-3, 1.0, 50.0])
    got = ridge_to_features(Moments.of(X, y), S, rows, lams)
    for lam, vectors in zip(lams, got, strict=True):
        k = S.shape[1]
        augmented = np.vstack([S[y], np.sqrt(lam) * np.eye(k)])
        targets = np.vstack([X, np.zeros((k, X.shape[1]))])
        M = np.linalg.lstsq(augmented, targets, rcond=None)[0]
        np.testing.assert_allclose(vectors, rows @ M, atol=1e-8)


@pytest.mark.parametrize("negative", [-1.0, 0.0])
def test_bilinear_solves_the_objective_written_as_one_least_squares(problem, negative):
    X, y, S, rows = problem
    d, k, n_classes = X.shape[1], S.shape[1], len(S)
    gamma, lam = 0.7, 2.0
    Y = np.where(y[:, None] == np.arange(n_classes), 1.0, negative)
    # vec (row-major) of A V Bᵀ is kron(A, B) vec(V); the four norms are stacked.
    design = np.vstack(
        [
            np.kron(X, S),
            np.sqrt(gamma) * np.kron(np.eye(d), S),
            np.sqrt(lam) * np.kron(X, np.eye(k)),
            np.sqrt(gamma * lam) * np.eye(d * k),
        ]
    )
    target = np.concatenate([Y.ravel(), np.zeros(len(design) - Y.size)])
    V = np.linalg.lstsq(design, target, rcond=None)[0].reshape(d, k)
    grid = (np.array([0.1, gamma]), np.array([lam, 9.0]))
    got = bilinear(Moments.of(X, y), S, rows, grid, negative)
    assert got.shape == (2, 2, len(rows), d)
    np.testing.assert_allclose(got[1, 0], rows @ V.T, atol=1e-8)


def test_zero_features_have_no_scale():
    with pytest.raises(InvalidInputError, match="nothing to learn"):
        mean_eigenvalue(np.zeros((3, 3)))
