from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from zslearn.core.losses import (
    hinge_sum,
    structured_hinge,
    symmetric_hinge,
    violations,
    warp_loss,
    warp_weights,
)

LOSSES = (structured_hinge, hinge_sum, warp_loss, symmetric_hinge)


def _scores(seed: int = 0, n: int = 7, classes: int = 5):
    rng = np.random.RandomState(seed)
    return rng.standard_normal((n, classes)), rng.randint(classes, size=n)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_agrees_with_finite_differences(loss):
    F, y = _scores()
    error = check_grad(
        lambda f: loss(f.reshape(F.shape), y, 0.7)[0],
        lambda f: loss(f.reshape(F.shape), y, 0.7)[1].ravel(),
        F.ravel(),
    )
    assert error < 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_clear_winners_cost_nothing(loss):
    y = np.array([0, 1, 2])
    value, gradient = loss(5.0 * np.eye(3), y, 1.0)
    assert value == 0.0
    assert not gradient.any()


def test_warp_is_the_literal_double_sum():
    F, y = _scores(1)
    total = 0.0
    for scores, true in zip(F, y, strict=True):
        hinges = [max(0.0, 1.0 + scores[c] - scores[true]) for c in range(5) if c != true]
        r = sum(h > 0 for h in hinges)
        total += sum(1.0 / i for i in range(1, r + 1)) / max(r, 1) * sum(hinges)
    assert warp_loss(F, y)[0] == pytest.approx(total / len(y))


def test_warp_weights_follow_their_definition():
    expected = [0.0] + [sum(1 / i for i in range(1, r + 1)) / r for r in range(1, 9)]
    np.testing.assert_allclose(warp_weights(np.arange(9), 8), expected)


def test_structured_hinge_takes_a_margin_for_each_pair_of_classes():
    F, y = _scores(2)
    margins = np.random.RandomState(0).uniform(size=(5, 5))
    rows = zip(F, y, strict=True)
    expected = [
        max(0.0, *(margins[t, c] + f[c] - f[t] for c in range(5) if c != t)) for f, t in rows
    ]
    assert structured_hinge(F, y, margins)[0] == pytest.approx(np.mean(expected))


def test_symmetric_hinge_is_the_literal_sum_over_both_sides():
    F, y = _scores(3)
    n, classes = F.shape
    image = sum(
        max(0.0, 1 + F[i, c] - F[i, y[i]]) for i in range(n) for c in range(classes) if c != y[i]
    )
    text = sum(
        max(0.0, 1 + F[j, y[i]] - F[i, y[i]]) for i in range(n) for j in range(n) if y[j] != y[i]
    )
    expected = (image / (n * classes) + text / (n * n)) / 2
    assert symmetric_hinge(F, y)[0] == pytest.approx(expected)


def test_violations_keep_single_precision():
    F, y = _scores()
    assert violations(F.astype(np.float32), y, np.ones((5, 5))).dtype == np.float32
