"""Features that do not vary are fitted with a warning: every answer would be the same class."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from zslearn.core import Moments
from zslearn.exceptions import ZslearnWarning
from zslearn.scale import fit_batches
from zslearn.zero_shot import make_classifier

TABLE = {"cat": [1.0, 0.0], "dog": [0.0, 1.0], "eel": [1.0, 1.0]}
Y = np.array(["cat", "dog"] * 6)
EQUAL = r"all training samples are equal.*, so every sample will get the same class\. Check which"


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["sae", "prototype-regression", "conse", "exem"])
def test_constant_columns_are_warned_of(name, kind):
    X = kind(np.tile([0.1, 0.7, 3.0], (12, 1)))
    with pytest.warns(ZslearnWarning, match=EQUAL):
        clf = make_classifier(name, TABLE).fit(X, Y)
    assert len(set(clf.predict(X, ["cat", "dog"]))) == 1


def test_samples_of_one_direction_are_equal_once_scaled():
    X = np.outer(np.arange(1.0, 13.0), [0.1, 0.7, 3.0])
    with pytest.warns(ZslearnWarning, match="equal once scaled to unit length"):
        make_classifier("sae", TABLE, lam=1.0).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_classifier("sae", TABLE, lam=1.0, feature_norm=None).fit(X, Y)


def test_moments_and_batches_are_warned_of_too():
    X = np.tile([0.1, 0.7, 3.0], (12, 1))
    with pytest.warns(ZslearnWarning, match=EQUAL):
        make_classifier("sae", TABLE, lam=1.0, feature_norm=None).learn(Moments.of(X, Y))
    with pytest.warns(ZslearnWarning, match=EQUAL):
        fit_batches(make_classifier("sae", TABLE, lam=1.0), X, Y)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_features_that_vary_little_are_not_constant(offset):
    X = offset + 1e-2 * np.random.default_rng(0).standard_normal((12, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_classifier("sae", TABLE, lam=1.0, feature_norm=None).fit(X, Y).learn(Moments.of(X, Y))
