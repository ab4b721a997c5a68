from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from zslearn.core.descent import (
    backward,
    distance_gradients,
    forward,
    squared_distances,
    start_layers,
)
from zslearn.core.losses import contrastive_pairs, hinge_pairs, logistic_pairs, squared_pairs


def _flat_check(parameters, loss):
    names = list(parameters)
    stops = np.cumsum([parameters[name].size for name in names])[:-1]

    def unpacked(flat):
        parts = np.split(flat, stops)
        return {n: p.reshape(parameters[n].shape) for n, p in zip(names, parts, strict=True)}

    def gradient(flat):
        found = loss(unpacked(flat))[1]
        return np.concatenate([found[name].ravel() for name in names])

    flat = np.concatenate([parameters[name].ravel() for name in names])
    return check_grad(lambda f: loss(unpacked(f))[0], gradient, flat)


@pytest.mark.parametrize("relu_last", [False, True])
def test_backward_agrees_with_finite_differences(relu_last):
    rng = np.random.RandomState(0)
    X, T = rng.standard_normal((6, 3)), rng.standard_normal((6, 2))
    layers = start_layers(rng, "f", (3, 4, 2), np.float64)
    layers = {name: value + 0.1 for name, value in layers.items()}

    def loss(parameters):
        outputs = forward(parameters, "f", X, relu_last=relu_last)
        gap = outputs[-1] - T
        gradients = backward(parameters, "f", outputs, 2 * gap, relu_last=relu_last)
        return float((gap**2).sum()), gradients

    assert _flat_check(layers, loss) < 1e-5


@pytest.mark.parametrize("pairs", [logistic_pairs, hinge_pairs, squared_pairs])
def test_gradient_of_pair_losses(pairs):
    rng = np.random.RandomState(0)
    F, y = rng.standard_normal((5, 4)), rng.randint(4, size=5)
    error = check_grad(
        lambda f: pairs(f.reshape(5, 4), y)[0],
        lambda f: pairs(f.reshape(5, 4), y)[1].ravel(),
        F.ravel(),
    )
    assert error < 1e-6


def test_contrastive_pairs_and_distances_together():
    rng = np.random.RandomState(1)
    y = rng.randint(4, size=5)

    def loss(parameters):
        P, Q = parameters["P"], parameters["Q"]
        value, G = contrastive_pairs(squared_distances(P, Q), y, 3.0)
        return value, dict(zip("PQ", distance_gradients(P, Q, G), strict=True))

    start = {"P": rng.standard_normal((5, 3)), "Q": rng.standard_normal((4, 3))}
    assert _flat_check(start, loss) < 1e-6


def test_logistic_pairs_is_the_literal_balanced_sum():
    F, y = np.array([[0.3, -0.2, 1.0]]), np.array([2])
    expected = 0.5 * np.log1p(np.exp(-1.0)) + 0.25 * (
        np.log1p(np.exp(0.3)) + np.log1p(np.exp(-0.2))
    )
    assert logistic_pairs(F, y)[0] == pytest.approx(expected)


def test_squared_distances_are_those_of_the_rows():
    rng = np.random.RandomState(2)
    P, Q = rng.standard_normal((3, 4)), rng.standard_normal((5, 4))
    expected = ((P[:, None] - Q[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(P, Q), expected)
