"""All attributes at once, against scikit-learn's own fit of each of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from zslearn.zero_shot.posterior.attributes import GivenAttributeClassifiers


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("smoothing", [1e-9, 0.1])
def test_it_equals_a_fit_of_each_attribute(offset, smoothing):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) * [1, 10, 0.1, 1, 3] + offset
    X[:, 3] = 7.0  # a column that never varies
    targets = (rng.random((60, 4)) < 0.4).astype(float)
    targets[:, 2] = 1.0  # an attribute that all have
    model = GivenAttributeClassifiers.fit(GaussianNB(var_smoothing=smoothing), X, targets)
    assert [one is None for one in model.fitted] == [False, False, True, False]
    P = model.probabilities(X)
    np.testing.assert_array_equal(P[:, 2], 0.5)
    for i in (0, 1, 3):
        own = GaussianNB(var_smoothing=smoothing).fit(X, targets[:, i].astype(int))
        np.testing.assert_allclose(model.fitted[i].theta_, own.theta_, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.fitted[i].var_, own.var_, rtol=1e-6)
        np.testing.assert_allclose(P[:, i], own.predict_proba(X)[:, 1], rtol=1e-5, atol=1e-7)


def test_priors_that_were_given_are_kept():
    rng = np.random.default_rng(1)
    X, targets = rng.standard_normal((40, 3)), (rng.random((40, 2)) < 0.5).astype(float)
    given = GaussianNB(priors=[0.9, 0.1])
    P = GivenAttributeClassifiers.fit(given, X, targets).probabilities(X)
    own = GaussianNB(priors=[0.9, 0.1]).fit(X, targets[:, 0].astype(int))
    np.testing.assert_allclose(P[:, 0], own.predict_proba(X)[:, 1])
