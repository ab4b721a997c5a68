from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from zslearn.core import sylvester
from zslearn.exceptions import InvalidInputError

SOLVERS = ["auto", "spectral", "tridiagonal"]


def algorithm_1(X, S, lam):
    """The paper's Algorithm 1, letter by letter: X is d×N, S is k×N."""
    A = S @ S.T
    B = lam * X @ X.T
    C = (1 + lam) * S @ X.T
    return linalg.solve_sylvester(A, B, C)


def paired(seed, n=40, d=12, k=5):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((n, k))


def grams(X, S):
    return S.T @ S, X.T @ X, S.T @ X


def relative_error(got, wanted):
    return np.linalg.norm(got - wanted) / np.linalg.norm(wanted)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    d=st.integers(1, 20),
    k=st.integers(1, 20),
    log_lam=st.floats(-5, 5),
    solver=st.sampled_from(SOLVERS),
)
def test_every_solver_agrees_with_algorithm_1(seed, d, k, log_lam, solver):
    X, S = paired(seed, n=60, d=d, k=k)
    lam = 10.0**log_lam
    W = sylvester.solve(*grams(X, S), lam, solver)
    assert relative_error(W, algorithm_1(X.T, S.T, lam)) < 1e-9


@pytest.mark.parametrize("lam", [1e-3, 1.0, 500.0])
def test_the_reference_solver_is_algorithm_1(lam):
    X, S = paired(0)
    W = sylvester.solve_reference(*grams(X, S), lam)
    assert relative_error(W, algorithm_1(X.T, S.T, lam)) < 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("lam", [1e-4, 0.2, 1.0, 1e4])
def test_the_gradient_of_the_objective_is_zero(solver, lam):
    X, S = paired(1)

    def objective(W):  # eq. 5 with rows as samples
        return np.sum((X - S @ W) ** 2) + lam * np.sum((X @ W.T - S) ** 2)

    W = sylvester.solve(*grams(X, S), lam, solver)
    gradient = -2 * S.T @ (X - S @ W) + 2 * lam * (X @ W.T - S).T @ X
    assert np.linalg.norm(gradient) < 1e-10 * (1 + lam) * np.linalg.norm(S.T @ X)
    rng = np.random.default_rng(0)
    for _ in range(5):
        step = 1e-3 * rng.standard_normal(W.shape)
        assert objective(W + step) > objective(W)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_limits_are_least_squares_both_ways(solver):
    X, S = paired(2)
    decoder = np.linalg.lstsq(S, X, rcond=None)[0]
    encoder = np.linalg.lstsq(X, S, rcond=None)[0].T
    assert relative_error(sylvester.solve(*grams(X, S), 1e-12, solver), decoder) < 1e-9
    assert relative_error(sylvester.solve(*grams(X, S), 1e12, solver), encoder) < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("lam", [1e-300, 1e300])
def test_no_lam_overflows(solver, lam):
    X, S = paired(2)
    W = sylvester.solve(*grams(X, S), lam, solver)
    wanted = (
        np.linalg.lstsq(S, X, rcond=None)[0] if lam < 1 else np.linalg.lstsq(X, S, rcond=None)[0].T
    )
    assert relative_error(W, wanted) < 1e-8


@pytest.mark.parametrize("solver", ["auto", "spectral"])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_the_open_case_takes_the_smallest_norm(solver, lam):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 5))  # rank 2 of 5
    S = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 4))  # rank 2 of 4
    A, G, C = grams(X, S)
    # vec by rows: (A ⊗ I + λ I ⊗ G) vec(W) = (1 + λ) vec(C)
    system = np.kron(A, np.eye(5)) + lam * np.kron(np.eye(4), G)
    wanted = (np.linalg.pinv(system, rcond=1e-10) @ ((1 + lam) * C).ravel()).reshape(4, 5)
    W = sylvester.solve(A, G, C, lam, solver)
    assert relative_error(W, wanted) < 1e-8
    np.testing.assert_allclose(A @ W + lam * W @ G, (1 + lam) * C, atol=1e-9 * np.abs(C).max())


@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_given_twice_change_nothing(solver):
    X, S = paired(4)
    twice = sylvester.solve(*grams(np.vstack([X, X]), np.vstack([S, S])), 0.7, solver)
    assert relative_error(twice, sylvester.solve(*grams(X, S), 0.7, solver)) < 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_rotated_features_rotate_the_answer(solver):
    X, S = paired(5)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 12)))[0]
    W = sylvester.solve(*grams(X, S), 0.7, solver)
    assert relative_error(sylvester.solve(*grams(X @ Q, S), 0.7, solver), W @ Q) < 1e-11


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_lam_relative_to_the_data_does_not_depend_on_its_scale(scale):
    X, S = paired(6)
    A, G, C = grams(X, S)
    lam = 0.2 * sylvester.relative_lam(np.trace(A), np.trace(G))
    lam_scaled = 0.2 * sylvester.relative_lam(np.trace(A), scale**2 * np.trace(G))
    W = sylvester.solve(A, G, C, lam)
    scaled = sylvester.solve(A, scale**2 * G, scale * C, lam_scaled)
    # (a + λ b) is the same, so W differs by the scale of C and by 1 + λ.
    assert relative_error(scaled / (1 + lam_scaled), scale * W / (1 + lam)) < 1e-10


def test_all_lams_come_from_one_preparation():
    X, S = paired(7)
    A, G, C = grams(X, S)
    lams = np.logspace(-4, 4, 9)
    for method in SOLVERS:
        equation = sylvester.prepare(sylvester.semantic_spectrum(A), G, C, 1e4, method)
        decoded = equation.prototypes(S[:6], lams)
        assert decoded.shape == (9, 6, 12)
        for lam, prototypes in zip(lams, decoded, strict=True):
            W = algorithm_1(X.T, S.T, lam)
            assert relative_error(equation.coef(lam), W) < 1e-9
            assert relative_error(prototypes, S[:6] @ W) < 1e-9


def test_the_spectrum_of_the_classes_is_that_of_their_gram_matrix():
    rng = np.random.default_rng(8)
    counts, table = np.array([3.0, 1.0, 7.0, 2.0]), rng.standard_normal((4, 6))
    a, U = sylvester.class_spectrum(counts, table)
    A = table.T @ (counts[:, None] * table)
    assert len(a) == 4
    np.testing.assert_allclose(U * a @ U.T, A, atol=1e-12)
    b, V = sylvester.semantic_spectrum(A)
    np.testing.assert_allclose(np.sort(a), np.sort(b))
    np.testing.assert_allclose(V * b @ V.T, A, atol=1e-12)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e5, 1e9])
def test_the_choice_of_solver_is_safe_with_a_singular_gram_matrix(lam):
    rng = np.random.default_rng(9)
    X = rng.standard_normal((30, 6)) @ rng.standard_normal((6, 20))
    S = rng.standard_normal((30, 4))
    A, G, C = grams(X, S)
    W = sylvester.solve(A, G, C, lam)
    assert relative_error(W, sylvester.solve(A, G, C, lam, "spectral")) < 1e-8


def test_auto_takes_the_tridiagonal_reduction_where_it_is_safe():
    X, S = paired(10)
    A, G, C = grams(X, S)
    spectrum = sylvester.semantic_spectrum(A)
    for lam_max in (1.0, 1e9):
        chosen = sylvester.prepare(spectrum, G, C, lam_max).reduction
        assert isinstance(chosen, sylvester.Tridiagonal)
    singular = X[:5].T @ X[:5]
    chosen = sylvester.prepare(spectrum, singular, C, 1e9).reduction
    assert isinstance(chosen, sylvester.Spectral)
    assert chosen.singular


@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_to_learn_from_gives_zeros(solver):
    A, G = np.zeros((3, 3)), np.eye(5)
    np.testing.assert_array_equal(sylvester.solve(A, G, np.zeros((3, 5)), 1.0, solver), 0.0)
    with pytest.raises(InvalidInputError, match="nothing to learn"):
        sylvester.relative_lam(0.0, 1.0)


def test_the_reductions_rebuild_the_matrix():
    X, _ = paired(11)
    G = X.T @ X
    for kind in (sylvester.Spectral, sylvester.Tridiagonal):
        reduction = kind.of(G)
        np.testing.assert_allclose(reduction.restore(reduction.rotate(X)), X, atol=1e-12)
        assert reduction.largest >= np.linalg.eigvalsh(G)[-1] * (1 - 1e-12)
        assert not reduction.singular
