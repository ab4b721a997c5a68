"""The softmax over real and synthesised samples, against scikit-learn's."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from zslearn.zero_shot.deep.generators.softmax import fit_softmax


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
