from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from zslearn.zero_shot.synthesized.sse import project_to_simplex, simplex_codes


def _slsqp(objective, n):
    constraint = {"type": "eq", "fun": lambda z: z.sum() - 1.0}
    options = {"ftol": 1e-14, "maxiter": 500}
    start = np.full(n, 1.0 / n)
    return minimize(
        objective,
        start,
        method="SLSQP",
        bounds=[(0, 1)] * n,
        constraints=constraint,
        options=options,
    ).x


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8))
def test_projection_satisfies_the_optimality_conditions(point):
    v = np.array(point)
    z = project_to_simplex(v[None])[0]
    assert z.min() >= 0.0
    assert z.sum() == pytest.approx(1.0)
    # v − z is one constant where z is positive, and not above it elsewhere
    gap = v - z
    constant = gap[z > 0].mean()
    np.testing.assert_allclose(gap[z > 0], constant, atol=1e-9)
    assert (gap[z == 0] <= constant + 1e-9).all()


def test_projection_agrees_with_slsqp():
    v = np.random.RandomState(0).standard_normal(6)
    expected = _slsqp(lambda z: ((z - v) ** 2).sum(), 6)
    np.testing.assert_allclose(project_to_simplex(v[None])[0], expected, atol=1e-6)


@pytest.mark.parametrize("gamma", [0.01, 0.5])
def test_codes_agree_with_slsqp(gamma):
    rng = np.random.RandomState(1)
    A, B = rng.standard_normal((3, 4)), rng.standard_normal((6, 4))
    codes = simplex_codes(A, B, gamma)
    for a, code in zip(A, codes, strict=True):
        expected = _slsqp(lambda z, a=a: 0.5 * ((a - z @ B) ** 2).sum() + gamma / 2 * (z @ z), 6)
        np.testing.assert_allclose(code, expected, atol=1e-5)


def test_an_atom_is_coded_by_itself_when_gamma_vanishes():
    B = np.eye(4)
    np.testing.assert_allclose(simplex_codes(B, B, 1e-6), B, atol=1e-5)


def test_a_code_does_not_depend_on_the_vectors_coded_with_it():
    rng = np.random.RandomState(0)
    B = rng.standard_normal((12, 4))
    B[6:] = B[:6] + 1e-3 * rng.standard_normal((6, 4))  # nearly equal atoms converge slowly
    A = rng.standard_normal((20, 4))
    alone = np.concatenate([simplex_codes(A[i : i + 1], B, 1e-2) for i in range(20)])
    np.testing.assert_allclose(simplex_codes(A, B, 1e-2), alone, atol=1e-10)
