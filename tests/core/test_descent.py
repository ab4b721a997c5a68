from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from zslearn.core.descent import (
    STEPS,
    Descent,
    backward,
    batch_size_for,
    descend,
    distance_gradients,
    forward,
    squared_distances,
    start_layers,
)
from zslearn.core.losses import contrastive_pairs, hinge_pairs, logistic_pairs, squared_pairs
from zslearn.exceptions import InvalidInputError


def _least_squares(seed: int = 0):
    rng = np.random.RandomState(seed)
    A, b = rng.standard_normal((60, 4)), rng.standard_normal(60)

    def loss(parameters, rows):
        gap = A[rows] @ parameters["w"] - b[rows]
        return float((gap**2).mean()), {"w": 2 * A[rows].T @ gap / len(rows)}

    return loss, np.linalg.lstsq(A, b, rcond=None)[0]


@pytest.mark.parametrize("step", STEPS)
def test_every_step_rule_reaches_the_least_squares_solution(step):
    loss, solution = _least_squares()
    rate = {"sgd": 0.05, "adagrad": 0.5, "adam": 0.02}[step]
    how = Descent(step=step, learning_rate=rate, batch_size=60, epochs=800)
    trace = descend({"w": np.zeros(4)}, loss, 60, how, np.random.RandomState(0))
    np.testing.assert_allclose(trace.parameters["w"], solution, atol=1e-3)
    assert trace.losses[-1] < trace.losses[0]
    assert trace.best_epoch == 800


def test_one_sgd_step_is_start_minus_rate_times_gradient():
    loss, _ = _least_squares()
    how = Descent(learning_rate=0.1, weight_decay=0.5, batch_size=60, epochs=1)
    start = np.ones(4)
    trace = descend({"w": start}, loss, 60, how, np.random.RandomState(0))
    gradient = loss({"w": start * 0.95}, np.arange(60))[1]["w"]
    expected = 0.95 * start - 0.1 * loss({"w": start}, np.arange(60))[1]["w"]
    np.testing.assert_allclose(trace.parameters["w"], expected)
    assert not np.allclose(gradient, 0)
    np.testing.assert_array_equal(start, np.ones(4))


def test_best_parameters_and_patience_follow_the_validation():
    loss, _ = _least_squares()
    values = iter([1.0, 3.0, 2.0, 2.5, 9.0])
    seen = []

    def validate(parameters):
        seen.append(parameters["w"].copy())
        return next(values)

    how = Descent(learning_rate=0.01, batch_size=20, epochs=5, patience=2)
    trace = descend({"w": np.zeros(4)}, loss, 60, how, np.random.RandomState(0), validate=validate)
    assert trace.values == [1.0, 3.0, 2.0, 2.5]
    assert trace.best_epoch == 2
    np.testing.assert_array_equal(trace.parameters["w"], seen[1])


def test_average_is_the_mean_over_the_steps_of_the_epoch():
    loss, _ = _least_squares()
    states = []

    def spying(parameters, rows):
        states.append(parameters["w"].copy())
        return loss(parameters, rows)

    how = Descent(learning_rate=0.01, batch_size=20, epochs=1, average=True)
    rng = np.random.RandomState(0)
    trace = descend({"w": np.zeros(4)}, spying, 60, how, rng)
    plain = Descent(learning_rate=0.01, batch_size=20, epochs=1)
    last = descend({"w": np.zeros(4)}, loss, 60, plain, np.random.RandomState(0))
    mean = (states[1] + states[2] + last.parameters["w"]) / 3
    np.testing.assert_allclose(trace.parameters["w"], mean)


def test_progress_tells_every_epoch():
    loss, _ = _least_squares()
    told = []
    how = Descent(learning_rate=0.01, batch_size=16, epochs=3)
    descend(
        {"w": np.zeros(4)},
        loss,
        60,
        how,
        np.random.RandomState(0),
        progress=lambda *parts: told.append(parts),
    )
    assert [parts[0] for parts in told] == [1, 2, 3]
    assert all(parts[2] is None for parts in told)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"step": "newton"}, "step must be 'sgd', 'adagrad' or 'adam'"),
        ({"learning_rate": 0.0}, "learning_rate must be a positive"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"momentum": 1.0}, "momentum must be a number of at least 0 and below 1"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1"),
    ],
)
def test_unusable_choices_are_refused(wrong, match):
    with pytest.raises(InvalidInputError, match=match):
        Descent(**wrong)


def test_batch_size_lies_between_16_and_256():
    assert [batch_size_for(n) for n in (10, 3200, 10**6)] == [16, 100, 256]


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
