"""Classes that are taken back, and classifiers that let seen classes win."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn import CalibratedStacking, PrototypeRegression, SAEClassifier
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    UncalibratedWarning,
    UnknownClassError,
)
from zslearn.zero_shot import AutoZeroShotClassifier


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        12, 4, n_per_class=6, n_features=10, n_dimensions=6, noise=0.3, random_state=0
    )


@pytest.fixture(scope="module")
def training(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


METHODS = {
    "sae": lambda table: SAEClassifier(table, lam=1.0),
    "prototypes": PrototypeRegression,
    "calibrated": lambda table: CalibratedStacking(SAEClassifier(table, lam=1.0)),
    "stepped": lambda table: CalibratedStacking(
        make_pipeline(StandardScaler(), SAEClassifier(table, lam=1.0))
    ),
    "auto": lambda table: AutoZeroShotClassifier(
        table, portfolio=["sae", "prototype-regression"], random_state=0
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_class_added_and_removed_leaves_every_answer_as_it_was(name, data, training):
    clf = METHODS[name](data.signatures).fit(*training)
    before = clf.decision_function(data.X)
    new = {"okapi": data.signatures.vectors[-2:].mean(axis=0)}
    assert clf.add_classes(new) is clf
    assert "okapi" in clf.classes_
    assert clf.remove_classes(["okapi"]) is clf
    np.testing.assert_array_equal(clf.classes_, data.signatures.in_order()[0])
    np.testing.assert_array_equal(clf.decision_function(data.X), before)
    left = data.split("standard").unseen[1:]
    clf.remove_classes(data.split("standard").unseen[:1])
    np.testing.assert_array_equal(clf.candidate_names("unseen"), np.sort(left))
    np.testing.assert_allclose(
        clf.decision_function(data.X),
        before[:, np.isin(data.signatures.in_order()[0], clf.classes_)],
        rtol=1e-12,
    )


def test_samples_of_a_removed_class_go_with_it(data, training):
    clf = PrototypeRegression(data.signatures).fit(*training)
    unseen = data.split("standard").unseen
    new = data.rows(unseen)
    wanted = PrototypeRegression(data.signatures).fit(*training)
    others = new[data.y[new] != unseen[0]]
    wanted.partial_fit(data.X[others], data.y[others])
    clf.partial_fit(data.X[new], data.y[new]).remove_classes([unseen[0]])
    wanted.remove_classes([unseen[0]])
    np.testing.assert_allclose(clf.decision_function(data.X), wanted.decision_function(data.X))
    assert unseen[0] not in clf.evidence_.names.tolist()


def test_what_cannot_be_removed_is_refused_and_changes_nothing(data, training):
    clf = SAEClassifier(data.signatures, lam=1.0).fit(*training)
    trained = clf.seen_classes_[0]
    with pytest.raises(InvalidInputError, match=f"class {trained} has training samples"):
        clf.remove_classes([clf.candidate_names("unseen")[0], trained])
    with pytest.raises(UnknownClassError, match="'okapi' has no signature"):
        clf.remove_classes(["okapi"])
    with pytest.raises(InvalidTypeError, match="must be a list of class names; got 'okapi'"):
        clf.remove_classes("okapi")
    assert len(clf.classes_) == len(data.signatures)
    assert clf.remove_classes([]) is clf


@pytest.mark.parametrize("name", ["sae", "prototypes"])
@pytest.mark.parametrize("ask", ["predict", "predict_proba", "predict_top_k"])
def test_choosing_among_all_classes_without_calibration_warns(name, ask, data, training):
    clf = METHODS[name](data.signatures).fit(*training)
    line = rf"{type(clf).__name__} is not calibrated.*CalibratedStacking\({type(clf).__name__}"
    with pytest.warns(UncalibratedWarning, match=line) as caught:
        getattr(clf, ask)(data.X)
    assert [one.filename for one in caught] == [__file__]  # the caller's line
    with pytest.warns(UncalibratedWarning, match=line):
        getattr(clf, ask)(data.X, candidates="all")


def test_nobody_else_is_warned(data, training):
    plain = SAEClassifier(data.signatures, lam=1.0).fit(*training)
    unseen = data.split("standard").unseen
    seen_alone = SAEClassifier(data.signatures.subset(np.unique(training[1])), lam=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UncalibratedWarning)
        plain.predict(data.X, "unseen")
        plain.predict(data.X, data.classes)  # named one by one, so meant
        plain.decision_function(data.X)
        plain.score(data.X, data.y, "all")
        seen_alone.fit(*training).predict(data.X)
        for name in ("calibrated", "stepped", "auto"):
            METHODS[name](data.signatures).fit(*training).predict(data.X)
        assert len(unseen) == 4
