"""Logistic regression against scikit-learn's, and its gradient against finite differences."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from zslearn.core.logistic import Axes, Objective, fit_logistic, sigmoid_loss, softmax_loss


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    X = rng.standard_normal((60, 6)) + rng.standard_normal((4, 6))[y] + 3.0
    return X, y


def test_axes_are_a_rotation_about_the_mean(samples):
    X, _ = samples
    axes = Axes.of(X)
    Z = axes.coordinates(X)
    np.testing.assert_allclose(Z @ axes.rotation.T + axes.mean, X)
    np.testing.assert_allclose(Z.T @ Z / len(Z), np.diag(axes.variance), atol=1e-10)
    assert np.all(np.diff(axes.variance) <= 0)


def test_axes_of_fewer_samples_than_features():
    X = np.random.default_rng(1).standard_normal((5, 30))
    axes = Axes.of(X)
    assert axes.rotation.shape == (30, 4)
    np.testing.assert_allclose(axes.rotation.T @ axes.rotation, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(axes.coordinates(X) @ axes.rotation.T + axes.mean, X)
    np.testing.assert_allclose(axes.restricted(2).coordinates(X), axes.coordinates(X)[:, :2])


@pytest.mark.parametrize("kind", ["softmax", "sigmoid"])
def test_the_gradient_is_that_of_the_value(samples, kind):
    X, y = samples
    loss = softmax_loss(y) if kind == "softmax" else sigmoid_loss(np.eye(4)[y])
    objective = Objective(X, loss, 0.3, np.linspace(0.5, 2.0, 6))
    start = np.random.default_rng(2).standard_normal(7 * 4)
    error = check_grad(
        lambda v: objective(v.reshape(7, 4))[0], lambda v: objective(v.reshape(7, 4))[1], start
    )
    assert error < 1e-5


def test_softmax_equals_scikit_learn(samples):
    X, y = samples
    axes, penalty = Axes.of(X), 0.01
    Z = axes.coordinates(X)
    model = fit_logistic(Z, y, "softmax", axes, penalty=penalty, max_iter=500, tol=1e-14)
    other = LogisticRegression(C=1 / (len(y) * penalty * axes.scale), tol=1e-10, max_iter=5000)
    other.fit(X, y)
    np.testing.assert_allclose(model.in_features(axes).coef.T, other.coef_, atol=1e-4)
    mine = model.logits(Z) - model.logits(Z).mean(axis=1, keepdims=True)
    theirs = other.decision_function(X)
    np.testing.assert_allclose(mine, theirs - theirs.mean(axis=1, keepdims=True), atol=1e-3)


def test_sigmoids_equal_one_binary_regression_each(samples):
    X, y = samples
    B = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0]])[y]
    axes, penalty = Axes.of(X), 0.02
    Z = axes.coordinates(X)
    model = fit_logistic(Z, B, "sigmoid", axes, penalty=penalty, max_iter=500, tol=1e-14)
    got = model.in_features(axes)
    for m in range(3):
        other = LogisticRegression(C=1 / (len(y) * penalty * axes.scale), tol=1e-10, max_iter=5000)
        other.fit(X, B[:, m])
        np.testing.assert_allclose(got.coef[:, m], other.coef_[0], atol=1e-4)
        np.testing.assert_allclose(got.intercept[m], other.intercept_[0], atol=1e-3)


def test_progress_gets_every_iteration_and_nothing_is_printed(samples, capsys):
    X, y = samples
    axes, seen = Axes.of(X), []
    options = {"penalty": 1e-4, "tol": 1e-12, "progress": lambda *step: seen.append(step)}
    model = fit_logistic(axes.coordinates(X), y, "softmax", axes, **options)
    assert [iteration for iteration, _ in seen] == list(range(1, model.n_iter + 1))
    losses = [loss for _, loss in seen]
    assert losses == sorted(losses, reverse=True)
    assert capsys.readouterr() == ("", "")
