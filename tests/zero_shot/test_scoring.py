"""Scorers around scorers answer as the classifiers they are made of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.datasets import make_zero_shot
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    AMPClassifier,
    AutoZeroShotClassifier,
    CalibratedStacking,
    LegacyAwA,
    PrototypeRegression,
    PSTClassifier,
    SAEClassifier,
)

AMP = {"n_neighbors": 4, "width": 1.0, "center": False, "balance": True, "temperature": 1.0}


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        n_seen=12,
        n_unseen=5,
        n_per_class=12,
        n_features=10,
        n_dimensions=6,
        noise=2.0,
        random_state=0,
    )


def fit(clf, data):
    rows = data.rows(data.split("standard").seen)
    return clf.fit(data.X[rows], data.y[rows])


# Methods that look at all candidates at once, and what may stand around them.
AROUND = {
    "auto": lambda table, member: AutoZeroShotClassifier(table, portfolio=[member], cv=None),
    "calibrated": lambda table, member: CalibratedStacking(
        member.set_params(signatures=table), gamma=0.5, temperature=1.0, threshold=0.0, cv=2
    ),
    "pst": lambda table, member: PSTClassifier(table, estimator=member),
}
MEMBERS = {"amp": lambda: AMPClassifier(**AMP), "legacy": lambda: LegacyAwA(lam=1.0)}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("around", AROUND)
def test_a_change_of_candidates_is_the_same_as_other_candidates(data, around, member):
    """Whatever stands around a method that is not separable is not separable either."""
    table, name = data.signatures, "unseen3"
    clf = fit(AROUND[around](table, MEMBERS[member]()), data)
    recognizer = clf.recognizer()
    fewer = [other for other in recognizer.names if other != name]
    np.testing.assert_allclose(
        recognizer.without(name).scores(data.X), clf.decision_function(data.X, fewer), atol=1e-12
    )
    some = ["unseen1", "seen2", "seen5"]
    np.testing.assert_allclose(
        recognizer.among(some).scores(data.X), clf.decision_function(data.X, some), atol=1e-12
    )
    vectors = table.vectors.copy()
    vectors[table.index_of([name])] = table.vectors[:2].mean(axis=0)
    other = Signatures(table.names, vectors, table.dimensions)
    expected = fit(AROUND[around](other, MEMBERS[member]()), data).decision_function(data.X)
    changed = recognizer.replace(name, table.vectors[:2].mean(axis=0)).scores(data.X)
    np.testing.assert_allclose(changed, expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore:samples of classes that nobody described")
def test_an_automatic_classifier_has_the_probabilities_of_a_calibrated_member(data):
    member = CalibratedStacking(SAEClassifier(lam=1.0), reject_label="?")
    clf = fit(AutoZeroShotClassifier(data.signatures, portfolio=[member], cv=None), data)
    for candidates in (None, "unseen"):
        np.testing.assert_array_equal(
            clf.predict_proba(data.X, candidates), clf.estimator_.predict_proba(data.X, candidates)
        )
        answers = clf.predict(data.X, candidates, reject=True)
        expected = clf.estimator_.predict(data.X, candidates, reject=True)
        np.testing.assert_array_equal(answers, expected)
    assert (answers == "?").any()


def test_the_tags_of_an_automatic_classifier_are_those_of_the_member_taken(data):
    clf = AutoZeroShotClassifier(data.signatures, portfolio=[AMPClassifier(**AMP)], cv=None)
    assert clf.zero_shot_tags.separable  # nothing is taken yet
    assert not fit(clf, data).zero_shot_tags.separable


STEPPED = {
    "auto": lambda table: AutoZeroShotClassifier(
        table, portfolio=["standardize > prototype-regression"]
    ),
    "auto calibrated": lambda table: AutoZeroShotClassifier(
        table,
        portfolio=[make_pipeline(StandardScaler(), CalibratedStacking(SAEClassifier(lam=1.0)))],
        cv=None,
    ),
    "calibrated pipeline": lambda table: CalibratedStacking(
        make_pipeline(StandardScaler(), "passthrough", PrototypeRegression(table, n_repeats=1))
    ),
}


@pytest.mark.parametrize("name", STEPPED)
def test_a_linear_form_has_the_preparation_steps(data, name):
    recognizer = fit(STEPPED[name](data.signatures), data).recognizer()
    form = recognizer.linear_form()
    assert [type(step) for step in form.steps] == [StandardScaler]
    np.testing.assert_allclose(form.scores(data.X), recognizer.scores(data.X), atol=1e-10)


def test_the_old_name_of_the_linear_form_warns(data):
    recognizer = fit(SAEClassifier(data.signatures, lam=1.0), data).recognizer()
    with pytest.warns(FutureWarning, match=r"form\(\) is called linear_form\(\) now"):
        form = recognizer.form()
    np.testing.assert_array_equal(form.scores(data.X), recognizer.linear_form().scores(data.X))
    from zslearn.zero_shot import scoring

    with pytest.warns(FutureWarning, match="ScoreForm is called LinearForm now"):
        assert scoring.ScoreForm is scoring.LinearForm


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_bias_changes_nothing_but_scores_of_seen_classes(data, wrapped):
    inner = SAEClassifier(data.signatures, lam=1.0)
    inner = CalibratedStacking(inner, gamma=0.25) if wrapped else inner
    plain, biased = fit(inner, data), fit(CalibratedStacking(inner, gamma=0.5), data)
    seen = np.isin(plain.classes_, plain.seen_classes_)
    expected = plain.decision_function(data.X) - 0.5 * seen
    np.testing.assert_allclose(biased.decision_function(data.X), expected, atol=1e-12)
    for name in ("seen1", "unseen1"):
        place = list(plain.classes_).index(name)
        assert biased.explain(data.X[0], name).score == pytest.approx(expected[0, place])
    form = biased.recognizer().linear_form()
    np.testing.assert_allclose(form.scores(data.X), expected, atol=1e-10)
    np.testing.assert_array_equal(biased.encode(data.X), plain.encode(data.X))


def test_a_scorer_shares_the_arrays_and_a_recognizer_does_not(data):
    clf = fit(SAEClassifier(data.signatures), data)
    scorer = clf.scorer()
    assert scorer.coef_decode_ is clf.coef_decode_
    assert not hasattr(scorer, "cv_results_")
    recognizer = clf.recognizer()
    before = recognizer.scores(data.X)
    clf.coef_decode_ *= -1.0
    np.testing.assert_array_equal(recognizer.scores(data.X), before)
    assert np.abs(clf.decision_function(data.X) - before).max() > 0.1


def test_a_wrapper_names_itself_where_it_refuses_samples(data):
    clf = fit(CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), gamma=0.5), data)
    with pytest.raises(ValueError, match="CalibratedStacking is expecting 10 features"):
        clf.predict(data.X[:, :4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.predict(data.X.astype(np.float16))
