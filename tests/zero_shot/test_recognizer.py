"""The recognizer: fixed answers from any thread, changes of one class, no hidden cache."""

import copy
import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import (
    ImmutableError,
    InvalidInputError,
    InvalidTypeError,
    UnknownClassError,
)
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    AMPClassifier,
    CalibratedStacking,
    ESZSLClassifier,
    SAEClassifier,
    base,
    candidates,
)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(12, 6, n_per_class=10, n_features=20, n_dimensions=7, random_state=3)


def fitted(data, kind=SAEClassifier, **parameters):
    rows = data.rows(data.split("standard").seen)
    parameters = {"lam": 1.0} if kind is SAEClassifier and not parameters else parameters
    return kind(data.signatures, **parameters).fit(data.X[rows], data.y[rows])


def large():
    """600 candidates and 2,048 features, of which the first 100 are seen."""
    rng = np.random.default_rng(0)
    names = np.array([f"class{i:03d}" for i in range(600)])
    table = Signatures(names, rng.standard_normal((600, 30)))
    X = rng.standard_normal((200, 2048)).astype(np.float32)
    clf = SAEClassifier(table, lam=1.0).fit(X, names[np.arange(200) % 100])
    return clf, X[:20], names


def test_a_ranking_is_the_sorted_scores(data):
    clf = fitted(data)
    names = data.signatures.names[::-1]
    recognizer = clf.recognizer(names)
    scores = clf.decision_function(data.X, names)
    ranking = recognizer.rank(data.X, k=4)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(ranking.names, names[order])
    np.testing.assert_array_equal(ranking.scores, np.take_along_axis(scores, order, 1))
    np.testing.assert_array_equal(recognizer.scores(data.X), scores)
    np.testing.assert_array_equal(ranking.names, clf.predict_top_k(data.X, 4, names))


def test_what_a_recognizer_knows_of_its_candidates(data):
    clf = fitted(data)
    names = ["unseen2", "seen0", "unseen1"]
    recognizer = clf.recognizer(names)
    assert recognizer.names.tolist() == names
    assert recognizer.seen.tolist() == [False, True, False]
    assert recognizer.signatures == data.signatures.subset(names)
    assert repr(recognizer) == "Recognizer(SAEClassifier, 3 candidates)"
    assert clf.recognizer().signatures == data.signatures.subset(clf.classes_)
    changed = recognizer.replace("seen0", np.arange(7.0)).replace("okapi", np.ones(7))
    assert changed.seen.tolist() == [False, True, False, False]
    np.testing.assert_array_equal(changed.signatures["seen0"], np.arange(7.0))
    np.testing.assert_array_equal(changed.signatures["okapi"], np.ones(7))
    np.testing.assert_array_equal(recognizer.signatures["seen0"], data.signatures["seen0"])
    assert changed.without("unseen2").names.tolist() == ["seen0", "unseen1", "okapi"]


def test_nothing_done_later_changes_a_recognizer(data):
    clf = fitted(data)
    names = np.array(["unseen0", "unseen1", "seen3"])
    recognizer = clf.recognizer(names)
    before = recognizer.scores(data.X)
    names[:] = ["seen3", "unseen0", "unseen1"]
    clf.coef_decode_ *= -1
    clf.coef_decode_[:, ::2] = 0
    clf.set_params(metric="dot", feature_norm=None)
    clf.add_classes({"okapi": np.ones(7)})
    assert recognizer.names.tolist() == ["unseen0", "unseen1", "seen3"]
    np.testing.assert_array_equal(recognizer.scores(data.X), before)
    assert np.abs(clf.recognizer(recognizer.names).scores(data.X) - before).max() > 0.1


def test_a_wrapped_classifier_is_copied_too(data):
    rows = data.rows(data.split("standard").seen)
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), gamma=0.2)
    clf.fit(data.X[rows], data.y[rows])
    recognizer = clf.recognizer()
    before = recognizer.scores(data.X)
    clf.estimator_.coef_decode_[:] = 0
    clf.gamma_ = 5.0
    np.testing.assert_array_equal(recognizer.scores(data.X), before)


def test_a_recognizer_cannot_be_written_to(data):
    recognizer = fitted(data).recognizer()
    with pytest.raises(ImmutableError, match="a recognizer never changes, so 'names' cannot"):
        recognizer.names = ["zebra"]
    with pytest.raises(ValueError, match="read-only"):
        recognizer.names[0] = "zebra"


def test_a_fitted_array_changed_in_place_changes_the_next_scores():
    clf, X, _ = large()
    before = clf.decision_function(X)
    clf.coef_decode_[:, 1::2] = 0
    after = clf.decision_function(X)
    assert np.abs(after - before).max() > 1e-3
    fresh = copy.deepcopy(clf)
    np.testing.assert_array_equal(after, fresh.decision_function(X))


def test_candidates_changed_in_place_between_calls_give_the_right_labels():
    clf, X, names = large()
    scores = clf.decision_function(X)
    given = names.copy()
    clf.predict(X, given)
    given[:] = names[::-1]
    np.testing.assert_array_equal(clf.predict(X, given), names[scores.argmax(axis=1)])


def counting(monkeypatch, kind):
    """Record how many classes each preparation takes."""
    calls = []
    prepare = kind.prepare

    def counted(scorer, names, vectors):
        calls.append(len(names))
        return prepare(scorer, names, vectors)

    monkeypatch.setattr(kind, "prepare", counted)
    return calls


def test_a_change_prepares_one_class_and_shares_the_others(data, monkeypatch):
    clf = fitted(data)
    calls = counting(monkeypatch, SAEClassifier)
    recognizer = clf.recognizer()
    for _ in range(3):
        recognizer.rank(data.X, 2)
    changed = recognizer.replace("seen0", np.ones(7)).replace("okapi", np.ones(7)).without("seen1")
    changed = changed.replace("seen0", np.arange(7.0))
    changed.rank(data.X, 2)
    assert calls == [18, 1, 1, 1]
    shared = changed._candidates.base.prepared[0][1]["decode"].vectors
    assert shared is recognizer._candidates.base.prepared[0][1]["decode"].vectors
    assert len(changed._candidates.changed.vectors) == 2


def test_a_method_that_looks_at_all_candidates_prepares_them_all(data, monkeypatch):
    rows = data.rows(data.split("standard").seen)
    options = {"n_neighbors": 4, "width": 1.0, "center": False, "balance": True, "temperature": 1.0}
    clf = AMPClassifier(data.signatures, **options).fit(data.X[rows], data.y[rows])
    calls = counting(monkeypatch, AMPClassifier)
    clf.recognizer().replace("okapi", np.ones(7)).without("okapi")
    assert calls == [18, 19, 18]


@pytest.mark.parametrize("kind", [SAEClassifier, ESZSLClassifier])
def test_many_candidates_are_prepared_in_blocks_and_change_alike(data, monkeypatch, kind):
    clf = fitted(data, kind)

    def changed(recognizer):
        vector = data.signatures["unseen3"]
        return (
            recognizer.replace("seen2", vector)
            .replace("okapi", -vector)
            .without("seen5")
            .replace("seen2", 2 * vector + 1)
        )

    small = changed(clf.recognizer())
    monkeypatch.setattr(candidates, "CLASS_BLOCK", 4)
    calls = counting(monkeypatch, kind)
    big = changed(clf.recognizer())
    assert calls == []
    np.testing.assert_allclose(big.scores(data.X), small.scores(data.X), atol=1e-12)
    assert calls == [4, 4, 4, 4, 2]
    np.testing.assert_array_equal(big.rank(data.X, 5).names, small.rank(data.X, 5).names)
    assert big.signatures == small.signatures


def test_what_cannot_be_changed_is_refused(data):
    recognizer = fitted(data).recognizer(["seen0", "unseen1"])
    with pytest.raises(UnknownClassError, match=r"'unseen2' .*closest is 'unseen1'.*by replace"):
        recognizer.without("unseen2")
    with pytest.raises(InvalidInputError, match="7 dimension names but vectors of length 6"):
        recognizer.replace("okapi", np.ones(6))
    with pytest.raises(InvalidInputError, match=r"'okapi' has the value nan"):
        recognizer.replace("okapi", np.full(7, np.nan))
    with pytest.raises(InvalidInputError, match="class okapi holds only zeros"):
        recognizer.replace("okapi", np.zeros(7))
    with pytest.raises(InvalidTypeError, match="class names of this recognizer are text; got 3"):
        recognizer.replace(3, np.ones(7))
    with pytest.raises(InvalidInputError, match="seen0 is the only candidate"):
        recognizer.without("unseen1").without("seen0")
    with pytest.raises(InvalidInputError, match="one-hot signatures knows its training classes"):
        SAEClassifier(lam=1.0).fit(data.X, data.y).recognizer().replace("seen0", np.ones(18))


def test_one_hot_classes_of_any_kind_have_a_recognizer(data):
    numbers = np.unique(data.y, return_inverse=True)[1] * 0.5
    clf = SAEClassifier(lam=1.0).fit(data.X, np.where(numbers > 4, True, False))
    recognizer = clf.recognizer()
    np.testing.assert_array_equal(recognizer.rank(data.X, 1).names[:, 0], clf.predict(data.X))
    assert recognizer.signatures.names.tolist() == ["False", "True"]
    assert recognizer.without(True).names.tolist() == [False]


def test_a_recognizer_survives_pickling(data):
    recognizer = fitted(data).recognizer().replace("okapi", np.ones(7))
    again = pickle.loads(pickle.dumps(recognizer))
    np.testing.assert_array_equal(again.scores(data.X), recognizer.scores(data.X))


def test_threads_share_a_recognizer(data):
    recognizer = fitted(data).recognizer().replace("okapi", np.ones(7))
    X = data.X.astype(np.float32)
    expected = recognizer.rank(X, 3)
    with ThreadPoolExecutor(8) as pool:
        for ranking in pool.map(lambda _: recognizer.rank(X, 3), range(64)):
            np.testing.assert_array_equal(ranking.names, expected.names)


def test_classes_added_by_many_threads_are_all_there(data):
    clf = fitted(data)
    rng = np.random.default_rng(0)
    vectors = {f"new{i}": rng.random(7) + 0.1 for i in range(200)}
    allowed = set(range(18, 219))
    stop, wrong = threading.Event(), []

    def watch():
        while not stop.is_set():
            n = clf.decision_function(data.X[:2]).shape[1]
            if n not in allowed:
                wrong.append(n)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: clf.add_classes({name: vectors[name]}), vectors))
    stop.set()
    watcher.join()
    assert not wrong
    assert set(vectors) <= set(clf.signatures_)
    for name, vector in vectors.items():
        np.testing.assert_array_equal(clf.signatures_[name], vector)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_classes_are_added_does_not_hang_the_child(data):
    clf = fitted(data)
    with base._growing:
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends a child that hangs
            clf.add_classes({"okapi": np.ones(7)})
            os._exit(0 if "okapi" in clf.signatures_ else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("kind", [SAEClassifier, AMPClassifier])
def test_some_of_the_candidates_answer_as_if_they_were_the_only_ones(data, kind):
    clf = fitted(data, kind)
    names = data.signatures.names
    new = np.full(7, 0.5)
    some = [names[9], "new", names[2]]
    found = clf.recognizer().replace("new", new).among(some)
    alone = clf.add_classes({"new": new}).recognizer(some)
    assert found.names.tolist() == some
    np.testing.assert_allclose(found.scores(data.X), alone.scores(data.X), rtol=1e-12, atol=1e-12)


def test_candidates_must_be_known_and_named_once(data):
    recognizer = fitted(data).recognizer()
    for wrong in ([], [recognizer.names[0]] * 2):
        with pytest.raises(InvalidInputError, match="at least one, and each once"):
            recognizer.among(wrong)
    with pytest.raises(UnknownClassError, match="'unicorn' has no signature"):
        recognizer.among(["unicorn"])


def test_classes_that_come_and_go_leave_nothing_behind(data):
    clf = fitted(data)
    recognizer = clf.recognizer()
    first, second = data.signatures.names[:2]
    changed = recognizer.replace(first, np.ones(7)).replace("stays", np.arange(7.0))
    for i in range(20):
        changed = changed.replace(f"new{i}", np.full(7, i + 1.0)).without(f"new{i}")
    assert len(changed._candidates.changed.vectors) == 2
    left = changed.without(first).without(second)
    want = clf.add_classes({"stays": np.arange(7.0)}).decision_function(data.X, left.names)
    np.testing.assert_allclose(left.scores(data.X), want, rtol=1e-12)
    assert left.without("stays")._candidates.changed is None


def test_samples_are_encoded_by_methods_that_can(data):
    clf = fitted(data)
    unit = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    encoded = clf.recognizer().encode(data.X)
    np.testing.assert_allclose(encoded, unit @ clf.coef_encode_.T)
    wrapped = fitted_calibrated(data).recognizer()
    assert wrapped.encode(data.X[:2]).shape == (2, 7)
    with pytest.raises(InvalidInputError, match="does not map features to semantics"):
        fitted(data, ESZSLClassifier).recognizer().encode(data.X)


def fitted_calibrated(data):
    rows = data.rows(data.split("standard").seen)
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), gamma=0.1)
    return clf.fit(data.X[rows], data.y[rows])
