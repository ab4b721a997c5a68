"""What stands at the end of a pipeline, whatever is around it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from zslearn._pipelines import (
    features_of,
    frozen,
    last_step,
    set_signatures,
    signature_holder,
    steps_before,
    with_last_step,
)
from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import CalibratedStacking, PSTClassifier, RRZSLClassifier


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(8, 3, n_per_class=6, n_features=7, n_dimensions=5, random_state=0)


def nested(last):
    inner = Pipeline([("none", None), ("root", MinMaxScaler()), ("end", last)])
    return make_pipeline(StandardScaler(), "passthrough", inner)


def test_a_pipeline_in_a_pipeline_is_taken_apart(data):
    last = RRZSLClassifier(data.signatures, lam=1.0)
    model = nested(last)
    assert last_step(model) is last
    assert last_step(last) is last
    assert [type(step) for step in steps_before(model)] == [StandardScaler, MinMaxScaler]
    assert steps_before(last) == ()
    fitted = model.fit(data.X, data.y)
    by_hand = MinMaxScaler().fit_transform(StandardScaler().fit_transform(data.X))
    np.testing.assert_allclose(features_of(fitted, data.X), by_hand, atol=1e-12)
    assert features_of(last, data.X) is data.X
    answers = last_step(fitted).predict(features_of(fitted, data.X))
    np.testing.assert_array_equal(answers, fitted.predict(data.X))


def test_a_frozen_pipeline_fits_the_same_model(data):
    fitted = nested(RRZSLClassifier(data.signatures)).fit(data.X, data.y)
    again = frozen(fitted)
    assert last_step(again).lam == last_step(fitted).lam_
    assert not hasattr(last_step(again), "coef_")
    np.testing.assert_array_equal(again.fit(data.X, data.y).predict(data.X), fitted.predict(data.X))
    other = with_last_step(fitted, "passthrough")
    assert last_step(other) == "passthrough"
    assert isinstance(last_step(fitted), RRZSLClassifier)  # the first one is left alone


def test_signatures_are_set_where_they_are_a_parameter(data):
    stack = CalibratedStacking(make_pipeline(StandardScaler(), RRZSLClassifier()))
    for model in (make_pipeline(MinMaxScaler(), stack), stack):
        set_signatures(model, data.signatures)
        assert signature_holder(model) is last_step(stack.estimator)
        assert last_step(stack.estimator).signatures is data.signatures
    spread = PSTClassifier(estimator=RRZSLClassifier())
    set_signatures(spread, data.signatures)
    assert spread.signatures is data.signatures
    assert spread.estimator.signatures is None  # it hands them on itself
