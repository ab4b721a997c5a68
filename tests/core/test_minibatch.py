from __future__ import annotations

import numpy as np
import pytest

from zslearn.core.descent import STEPS, Descent, batch_size_for, descend
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
