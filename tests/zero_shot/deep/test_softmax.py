"""The softmax over real and synthesized samples, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from zslearn.zero_shot.deep import generators
from zslearn.zero_shot.deep.generators import (
    fit_softmax,
    fit_softmax_by_steps,
    fit_softmaxes_by_steps,
)


def test_it_answers_as_the_logistic_regression_of_scikit_learn():
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((n, 3)) + mean for n, mean in ((30, 0.0), (80, 1.0), (50, -1.5))]
    X, y = np.concatenate(parts), np.repeat([0, 1, 2], [30, 80, 50])
    # The penalty is in units of the mean squared length of a sample.
    weight = 1e-4 * np.mean((X**2).sum(axis=1))
    wanted = LogisticRegression(C=1 / (len(X) * weight), tol=1e-8, max_iter=1000).fit(X, y)
    got = fit_softmax(parts, 1e-4).scores(X)
    got, reference = (Z - Z.mean(axis=1, keepdims=True) for Z in (got, wanted.decision_function(X)))
    np.testing.assert_allclose(got, reference, atol=0.02 * np.abs(reference).max())


def test_more_samples_of_a_class_favor_it():
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((40, 2)), rng.standard_normal((40, 2)) + 0.5
    X = rng.standard_normal((500, 2)) + 0.25
    few, many = (
        np.mean(fit_softmax([one, np.tile(other, (times, 1))], 1e-4).scores(X).argmax(axis=1))
        for times in (1, 5)
    )
    assert many > few + 0.2


def test_by_steps_it_is_the_adam_of_torch():
    torch = pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((n, 3)) for n in (12, 20)]  # one batch, so no order of samples
    X, y = torch.tensor(np.concatenate(parts)), torch.tensor(np.repeat([0, 1], [12, 20]))
    W, b = torch.zeros(3, 2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    adam = torch.optim.Adam([W.requires_grad_(), b.requires_grad_()], lr=1e-3, betas=(0.5, 0.999))
    for _ in range(2000):
        adam.zero_grad()
        torch.nn.functional.cross_entropy(X @ W + b, y).backward()
        adam.step()
    got = fit_softmax_by_steps(parts, 25)
    np.testing.assert_allclose(got.coef.T, W.detach().numpy(), atol=1e-7)
    np.testing.assert_allclose(got.intercept, b.detach().numpy(), atol=1e-7)


def test_by_steps_common_noise_does_not_hide_classes_with_fewer_samples():
    """Codes of CADA-VAE: noise along one direction, many classes, twice as many unseen samples."""
    rng = np.random.default_rng(0)
    means = 0.5 * rng.standard_normal((60, 16))
    parts = [
        mean + 2 * rng.standard_normal((n, 1)) * np.ones(16)
        for mean, n in zip(means, [200] * 40 + [400] * 20, strict=True)
    ]
    few, penalized = (
        np.mean(fitted.scores(means[:40]).argmax(axis=1) == np.arange(40))
        for fitted in (fit_softmax_by_steps(parts, 25), fit_softmax(parts, 1e-3))
    )
    assert few > 0.95
    assert penalized < 0.5  # what a penalty in units of the length of a sample does here


def test_several_numbers_of_epochs_cost_one_fit(monkeypatch):
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((900, 3)) + mean for mean in (0.0, 0.5)]
    single = [fit_softmax_by_steps(parts, epochs) for epochs in (40, 2, 50)]
    descents, descend = [], generators.descend

    def counted(*given, **named):
        descents.append(given[3].epochs)
        return descend(*given, **named)

    monkeypatch.setattr(generators, "descend", counted)
    for got, wanted in zip(fit_softmaxes_by_steps(parts, [40, 2, 50]), single, strict=True):
        np.testing.assert_array_equal(got.coef, wanted.coef)
        np.testing.assert_array_equal(got.intercept, wanted.intercept)
    assert descents == [50]
