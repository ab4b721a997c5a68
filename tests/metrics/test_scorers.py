from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.metrics import (
    harmonic_mean,
    hit_at_k,
    make_zero_shot_scorer,
    per_class_accuracy,
    seen_unseen_curve,
)
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import SAEClassifier

METRICS = ["per_class", "unseen", "harmonic_mean", "hit_at_k"]


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        9, 3, n_per_class=10, n_features=12, n_dimensions=6, noise=1.5, random_state=0
    )


@pytest.fixture(scope="module")
def training(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


def test_each_scorer_measures_what_it_says(data, training):
    X, y = training
    clf = SAEClassifier(data.signatures, lam=1.0)
    cv = ClassKFold(3, holdout=0.3, random_state=0)
    scoring = {name: make_zero_shot_scorer(name, k=2) for name in METRICS}
    found = cross_validate(clf, X, y, cv=cv, scoring=scoring, error_score="raise")
    for i, (train, test) in enumerate(cv.split(X, y)):
        clf.fit(X[train], y[train])
        seen = np.isin(y[test], y[train])
        new, every = np.unique(y[test][~seen]), np.unique(y)
        answers = clf.predict(X[test], every)
        assert found["test_per_class"][i] == per_class_accuracy(y[test], answers)
        assert found["test_unseen"][i] == per_class_accuracy(
            y[test][~seen], clf.predict(X[test][~seen], new)
        )
        by_hand = harmonic_mean(
            per_class_accuracy(y[test][seen], answers[seen]),
            per_class_accuracy(y[test][~seen], answers[~seen]),
        )
        assert found["test_harmonic_mean"][i] == pytest.approx(by_hand)
        scores = clf.decision_function(X[test], every)
        curve = seen_unseen_curve(y[test], scores, candidates=every, seen=np.unique(y[train]))
        assert by_hand == pytest.approx(curve.at(0.0).harmonic_mean)
        assert found["test_hit_at_k"][i] == hit_at_k(
            y[test], scores, candidates=every, k=2, average="class"
        )


def test_candidates_can_be_given(data, training):
    X, y = training
    clf = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    new = data.rows(data.split("standard").unseen)
    one = new[data.y[new] == "unseen1"]
    scorer = make_zero_shot_scorer("unseen", candidates="unseen")
    assert scorer(clf, data.X[one], data.y[one]) == clf.score(data.X[one], data.y[one], "unseen")
    harder = make_zero_shot_scorer("per_class", candidates="all")
    assert harder(clf, data.X[one], data.y[one]) == clf.score(data.X[one], data.y[one], "all")


@pytest.mark.parametrize("metric", ["per_class", "unseen", "hit_at_k"])
def test_a_misspelt_label_is_refused_and_not_counted_as_wrong(data, training, metric):
    clf = SAEClassifier(data.signatures, lam=1.0).fit(*training)
    new = data.rows(data.split("standard").unseen)
    labels = np.where(data.y[new] == "unseen1", "unsen1", data.y[new])
    with pytest.raises(InvalidInputError, match=r"contains class 'unsen1', closest 'unseen1'"):
        make_zero_shot_scorer(metric, candidates="unseen", k=2)(clf, data.X[new], labels)


@pytest.mark.parametrize("name", METRICS)
def test_scorers_work_in_searches_over_pipelines_and_frames(data, training, name):
    X, y = training
    frame, labels = pd.DataFrame(X).add_prefix("f"), pd.Series(y, dtype=object)
    pipeline = make_pipeline(StandardScaler(), PCA(6), SAEClassifier(data.signatures, lam=1.0))
    search = GridSearchCV(
        pipeline,
        {"saeclassifier__lam": [0.01, 1.0, 100.0]},
        cv=ClassKFold(3, holdout=0.2, random_state=0),
        scoring=make_zero_shot_scorer(name, k=2),
        error_score="raise",
    ).fit(frame, labels)
    scores = search.cv_results_["mean_test_score"]
    assert ((scores >= 0) & (scores <= 1)).all()
    assert search.best_score_ == scores.max()
    # A search is scored as the pipeline it found; the labels of its own training are all seen.
    scorer = make_zero_shot_scorer("per_class")
    assert scorer(search, frame, labels) == scorer(search.best_estimator_, frame, labels)


def test_scorers_can_be_sent_to_other_processes():
    scorer = make_zero_shot_scorer("hit_at_k", candidates=["bat", "cow"], k=2)
    assert pickle.loads(pickle.dumps(scorer)) == scorer


def test_what_cannot_be_measured_is_refused(data, training):
    X, y = training
    clf = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    new = data.rows(data.split("standard").unseen)
    with pytest.raises(InvalidInputError, match=r"metric must be 'per_class', .*got 'per_clas'"):
        make_zero_shot_scorer("per_clas")
    with pytest.raises(InvalidInputError, match=r"k must be a whole number.*got 0"):
        make_zero_shot_scorer("hit_at_k", k=0)
    for name in ("unseen", "harmonic_mean"):
        with pytest.raises(InvalidInputError, match=r"needs samples of unseen.*ClassKFold\(\)"):
            make_zero_shot_scorer(name)(clf, X, y)
    with pytest.raises(InvalidInputError, match=r"seen classes too.*ClassKFold\(holdout=0.2\)"):
        make_zero_shot_scorer("harmonic_mean")(clf, data.X[new], data.y[new])
    one = new[data.y[new] == "unseen1"]
    with pytest.raises(InvalidInputError, match=r"one class, unseen1, .*always right"):
        make_zero_shot_scorer("unseen")(clf, data.X[one], data.y[one])
    with pytest.raises(InvalidTypeError, match=r"got LogisticRegression"):
        make_zero_shot_scorer("unseen")(LogisticRegression().fit(X, y), X, y)
