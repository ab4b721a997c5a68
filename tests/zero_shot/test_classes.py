"""classes_ names the columns, so that scikit-learn reads them right; score says what competes."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.metrics import log_loss, top_k_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError, UnknownClassError, ZslearnWarning
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    AutoZeroShotClassifier,
    CalibratedStacking,
    PSTClassifier,
    SAEClassifier,
)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        12, 4, n_per_class=10, n_features=12, n_dimensions=6, noise=3.0, random_state=0
    )


@pytest.fixture(scope="module")
def fitted(data):
    seen = data.rows(data.split("standard").seen)
    return SAEClassifier(data.signatures, lam=1.0).fit(data.X[seen], data.y[seen])


def test_classes_are_every_predictable_class_sorted(data, fitted):
    # Twelve seen classes: "seen10" sorts before "seen2", so the order of the table is another.
    assert fitted.classes_.tolist() == sorted(data.signatures)
    assert fitted.classes_.tolist() != list(data.signatures)
    assert fitted.seen_classes_.tolist() == sorted(data.split("standard").seen)
    for method in (fitted.predict_proba, fitted.decision_function):
        columns = method(data.X)
        np.testing.assert_array_equal(
            fitted.classes_[columns.argmax(axis=1)], fitted.predict(data.X)
        )
        table_order = method(data.X, list(data.signatures))
        np.testing.assert_allclose(
            columns[:, np.searchsorted(fitted.classes_, list(data.signatures))], table_order
        )


def test_metrics_of_scikit_learn_read_the_columns_right(data, fitted):
    truth = fitted.predict(data.X)  # every sample right: any other order of columns shows
    assert set(truth) == set(fitted.classes_)
    proba = fitted.predict_proba(data.X)
    assert top_k_accuracy_score(truth, proba, k=1) == 1.0
    assert log_loss(truth, proba) == pytest.approx(-np.mean(np.log(proba.max(axis=1))))


def test_added_classes_take_their_place_in_the_order(data, fitted):
    seen = data.rows(data.split("standard").seen)
    clf = SAEClassifier(data.signatures, lam=1.0).fit(data.X[seen], data.y[seen])
    clf.add_classes({"aardvark": np.ones(6), "zebra": -np.ones(6)})
    assert clf.classes_.tolist() == sorted([*data.signatures, "aardvark", "zebra"])
    assert clf.seen_classes_.tolist() == fitted.seen_classes_.tolist()
    assert {"aardvark", "zebra"} < set(clf.candidate_names("unseen"))


def test_a_reader_never_sees_half_of_an_addition(data):
    clf = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y)
    wrong, done = [], threading.Event()

    def read():
        while not done.is_set():
            classes = clf.classes_
            n = clf.decision_function(data.X[:2]).shape[1]
            if not len(classes) <= n <= len(clf.classes_) or (np.sort(classes) != classes).any():
                wrong.append((len(classes), n))

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(60):
        clf.add_classes({f"new{i}": np.full(6, 1.0 + i)})
    done.set()
    reader.join()
    assert not wrong


def test_wrappers_and_files_keep_the_contract(data, fitted, tmp_path):
    seen = data.rows(data.split("standard").seen)
    for clf in (
        CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), gamma=0.1),
        PSTClassifier(data.signatures, estimator=SAEClassifier(lam=1.0)),
    ):
        clf.fit(data.X[seen], data.y[seen])
        save(clf, tmp_path / "model.zsl")
        for model in (clf, load(tmp_path / "model.zsl")):
            assert model.classes_.tolist() == fitted.classes_.tolist()
            assert model.seen_classes_.tolist() == fitted.seen_classes_.tolist()
            best = model.decision_function(data.X).argmax(axis=1)
            np.testing.assert_array_equal(model.classes_[best], model.predict(data.X))


def test_an_unfitted_classifier_has_no_classes(data):
    assert not hasattr(SAEClassifier(data.signatures), "classes_")
    assert not hasattr(SAEClassifier(), "classes_")


def test_settings_are_candidates_everywhere(data, fitted):
    unseen = sorted(data.split("standard").unseen)
    assert fitted.recognizer("unseen").names.tolist() == unseen
    for method in (fitted.predict_proba, fitted.decision_function):
        np.testing.assert_array_equal(method(data.X, "unseen"), method(data.X, unseen))
    assert set(fitted.predict(data.X, "seen")) <= set(fitted.seen_classes_)
    np.testing.assert_array_equal(fitted.predict(data.X, "all"), fitted.predict(data.X))
    with pytest.raises(
        InvalidInputError, match=r'must be "all", "seen", "unseen" or a list.*nusee'
    ):
        fitted.predict(data.X, "nuseen")
    everything = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y)
    with pytest.raises(InvalidInputError, match=r"every class was seen in training"):
        everything.predict(data.X, "unseen")


def test_score_infers_the_setting_aloud_and_takes_no_candidates_from_the_labels(data, fitted):
    one = data.y == "unseen2"
    with pytest.warns(
        ZslearnWarning, match=r'none of .* 4 classes as answers, candidates="unseen"'
    ):
        got = fitted.score(data.X[one], data.y[one])
    wanted = np.mean(fitted.predict(data.X[one], "unseen") == "unseen2")
    assert got == wanted < 1
    with pytest.warns(ZslearnWarning, match=r'some of .* 16 classes as answers, candidates="all"'):
        mixed = fitted.score(data.X, data.y)
    assert mixed == fitted.score(data.X, data.y, "all")
    with pytest.raises(UnknownClassError, match=r"'unsen2'.*closest is 'unseen2'"):
        fitted.score(data.X[one], np.full(one.sum(), "unsen2"))


@pytest.mark.parametrize("candidates", [None, "unseen", "all", ["unseen2", "unseen3"]])
def test_score_refuses_a_label_that_is_no_class(data, fitted, candidates):
    one = data.y == "unseen2"
    y = np.where(np.arange(one.sum()) == 0, "unsen2", "unseen2")
    with pytest.raises(UnknownClassError, match=r"'unsen2'.*closest is 'unseen2'"):
        fitted.score(data.X[one], y, candidates)


def test_score_refuses_samples_that_could_never_be_right(data, fitted):
    with pytest.raises(InvalidInputError, match="y holds class seen0, which is none of the 4"):
        fitted.score(data.X, data.y, "unseen")
    with pytest.raises(InvalidInputError, match="y holds class unseen1, which is none of the 12"):
        fitted.score(data.X[data.y == "unseen1"], data.y[data.y == "unseen1"], "seen")


def test_score_is_silent_where_there_is_one_setting(data):
    table = data.signatures
    for clf in (SAEClassifier(lam=1.0), SAEClassifier(table, lam=1.0)):
        clf.fit(data.X, data.y)
        assert clf.score(data.X, data.y) == clf.score(data.X, data.y, "all")


@pytest.mark.parametrize("kind", ["plain", "calibrated", "auto"])
def test_another_table_gives_a_copy_that_answers_with_its_classes(data, kind):
    seen = data.rows(data.split("standard").seen)
    plain = SAEClassifier(data.signatures, lam=1.0)
    clf = {
        "plain": plain,
        "calibrated": CalibratedStacking(make_pipeline(StandardScaler(), plain), gamma=0.1),
        "auto": AutoZeroShotClassifier(data.signatures, portfolio={"sae": plain}),
    }[kind].fit(data.X[seen], data.y[seen])
    before, names = clf.predict(data.X), clf.classes_.tolist()
    rows = {name: data.signatures[name] for name in data.split("standard").seen}
    table = Signatures.from_dict(rows | {"new": np.ones(6)}, data.signatures.dimensions)
    twin = clf.with_signatures(table)
    assert twin.classes_.tolist() == sorted(table)
    wanted = clf.recognizer(list(rows)).replace("new", np.ones(6))
    np.testing.assert_allclose(
        twin.recognizer([*rows, "new"]).scores(data.X), wanted.scores(data.X)
    )
    assert (clf.predict(data.X) == before).all()
    assert clf.classes_.tolist() == names


def test_another_table_keeps_dimensions_and_training_classes(data, fitted):
    with pytest.raises(InvalidInputError, match="one with the same dimensions"):
        fitted.with_signatures(Signatures(["a"], [[1.0]]))
    with pytest.raises(UnknownClassError, match=r"'seen3' has no sig.* Training classes stay"):
        fitted.with_signatures(data.signatures.drop(["seen3"]))
