from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from zslearn.core.rows import FEW, is_small_finite_array
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    TransductiveBatchError,
    UnknownClassError,
)
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    PrototypeRegression,
    SAEClassifier,
    ZeroShotClassifier,
    ZeroShotMethod,
    ZeroShotTags,
)
from zslearn.zero_shot.base import as_signatures, dense


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        8, 4, n_per_class=10, n_features=12, n_dimensions=6, noise=0.3, random_state=0
    )


@pytest.fixture(scope="module")
def fitted(data):
    seen = data.rows(data.split("standard").seen)
    return SAEClassifier(data.signatures, lam=1.0).fit(data.X[seen], data.y[seen])


class Constant(ZeroShotMethod):
    """Scores a candidate by its place, so that everything else can be told apart from scores."""

    def __init__(self, signatures=None, *, tie=False):
        self.signatures = signatures
        self.tie = tie

    def _fit(self, X, y):
        self.n_rows_ = X.shape[0]

    def compare(self, queries, classes):
        values = np.zeros(len(classes)) if self.tie else np.arange(len(classes), dtype=float)
        return np.tile(values, (queries.shape[0], 1))


class Whole(Constant):
    zero_shot_tags = ZeroShotTags(transductive=True, min_batch=5)

    def compare(self, queries, classes):
        Whole.batch = queries.shape[0]
        return super().compare(queries, classes)


def test_a_dict_a_frame_and_a_table_are_the_same(data):
    table = data.signatures
    as_dict = {name: table[name] for name in table}
    frame = pd.DataFrame(table.vectors, index=table.names, columns=table.dimensions)
    for given in (as_dict, frame, table):
        got = as_signatures(given)
        assert list(got) == list(table)
        np.testing.assert_array_equal(got.vectors, table.vectors)
    with pytest.raises(
        InvalidInputError, match=r"dict of class to vector or a DataFrame.*got \[\[1"
    ):
        as_signatures([[1.0]])


@pytest.mark.parametrize("kind", [list, np.array, lambda y: np.array(y, dtype=object), pd.Series])
def test_labels_of_any_kind(data, fitted, kind):
    seen, unseen = (data.rows(c) for c in (fitted.seen_classes_, data.split("standard").unseen))
    clf = SAEClassifier(data.signatures, lam=1.0).fit(data.X[seen], kind(data.y[seen].tolist()))
    np.testing.assert_array_equal(clf.predict(data.X[unseen]), fitted.predict(data.X[unseen]))
    assert clf.score(data.X[unseen], kind(data.y[unseen].tolist()), "unseen") == fitted.score(
        data.X[unseen], data.y[unseen], "unseen"
    )
    names = kind(["unseen1", "seen2"])
    assert set(clf.predict(data.X[unseen], names)) <= {"unseen1", "seen2"}


def test_classes_named_by_numbers(data, fitted):
    number = {name: i * 10 for i, name in enumerate(data.signatures)}
    table = data.signatures.renamed(number)
    y = np.array([number[name] for name in data.y])
    seen = np.isin(data.y, fitted.seen_classes_)
    clf = SAEClassifier(table, lam=1.0).fit(data.X[seen], y[seen])
    wanted = [number[name] for name in fitted.predict(data.X[~seen])]
    assert clf.predict(data.X[~seen]).tolist() == wanted
    with pytest.raises(UnknownClassError, match="Class 7 has no signature"):
        clf.predict(data.X, [0, 7])
    with pytest.raises(UnknownClassError, match="Class '10' has no signature"):
        clf.predict(data.X, ["10"])


def test_text_that_looks_like_a_number_is_not_the_number():
    X = np.random.default_rng(0).standard_normal((8, 3))
    table = {"1": [1.0, 0.0], "2": [0.0, 1.0]}
    with pytest.raises(UnknownClassError, match=r"Class 1 .*closest is '1'"):
        SAEClassifier(table, lam=1.0).fit(X, [1, 2] * 4)


def test_ties_go_to_the_first_candidate(data):
    clf = Constant(data.signatures, tie=True).fit(data.X, data.y)
    names = ["unseen3", "seen1", "unseen0"]
    assert set(clf.predict(data.X, names)) == {"unseen3"}
    assert clf.predict_top_k(data.X[:1], 3, names).tolist() == [names]


def test_candidates_give_the_columns(data):
    clf = Constant(data.signatures).fit(data.X, data.y)
    assert clf.decision_function(data.X[:2], ["seen3", "unseen1"]).tolist() == [[0.0, 1.0]] * 2
    assert set(clf.predict(data.X, ["seen3", "unseen1"])) == {"unseen1"}
    assert clf.decision_function(data.X).shape == (120, 12)


def test_score_is_the_accuracy_among_the_candidates(data, fitted):
    seen, unseen = fitted.seen_classes_, np.array(data.split("standard").unseen)
    X, y = data.X, data.y
    everything = np.union1d(seen, unseen)
    for truth, setting, names in (
        (unseen, "unseen", unseen),
        (seen, "seen", seen),
        (everything, "all", everything),
        (unseen, "all", everything),
    ):
        rows = np.isin(y, truth)
        by_hand = np.mean([np.mean(fitted.predict(X[y == c], names) == c) for c in truth])
        assert fitted.score(X[rows], y[rows], setting) == pytest.approx(by_hand)


def test_a_transductive_method_gets_the_batch_whole_or_not_at_all(data, monkeypatch):
    monkeypatch.setattr("zslearn.zero_shot.candidates.SCORE_BYTES", 200)
    clf = Whole(data.signatures).fit(data.X, data.y)
    clf.predict(data.X)
    assert Whole.batch == len(data.X)
    with pytest.raises(TransductiveBatchError, match=r"Whole .* 4 sample\(s\); .* at least 5"):
        clf.predict(data.X[:4])


def test_large_batches_are_cut_into_blocks(data, fitted, monkeypatch):
    wanted = fitted.decision_function(data.X), fitted.predict_top_k(data.X, 3)
    monkeypatch.setattr("zslearn.zero_shot.candidates.SCORE_BYTES", 7 * 8 * data.X.shape[1])
    sizes, represent = [], SAEClassifier.represent
    monkeypatch.setattr(
        SAEClassifier, "represent", lambda *args: sizes.append(len(args[1])) or represent(*args)
    )
    np.testing.assert_allclose(fitted.decision_function(data.X), wanted[0], atol=1e-12)
    np.testing.assert_array_equal(fitted.predict_top_k(data.X, 3), wanted[1])
    assert set(sizes) == {7, len(data.X) % 7}


def test_one_hot_signatures_make_an_ordinary_classifier(data):
    X, y = data.X, data.y
    clf = SAEClassifier(lam=1.0).fit(X, y)
    assert clf.decision_function(X).shape == (120, 12)
    assert clf.score(X, y) > 0.9
    with pytest.raises(InvalidInputError, match="training classes only; pass signatures="):
        clf.add_classes({"okapi": np.ones(12)})
    two = np.isin(y, ["seen0", "seen1"])
    binary = SAEClassifier(lam=1.0).fit(X[two], y[two])
    margin = binary.decision_function(X[two])
    assert margin.shape == (20,)
    np.testing.assert_array_equal(np.where(margin > 0, "seen1", "seen0"), binary.predict(X[two]))
    assert binary.decision_function(X[two], ["seen1", "seen0"]).shape == (20, 2)


def test_an_added_class_is_a_candidate(data):
    table = data.signatures.drop(["unseen2"])
    seen = data.rows(data.split("standard").seen)
    clf = SAEClassifier(table, lam=1.0).fit(data.X[seen], data.y[seen])
    before = clf.decision_function(data.X)
    assert clf.add_classes({"unseen2": data.signatures["unseen2"]}) is clf
    assert clf.signatures is table
    assert "unseen2" not in table
    np.testing.assert_allclose(clf.decision_function(data.X, list(table)), before)
    okapi = Signatures(["okapi"], np.ones((1, 6)), table.dimensions)
    assert "okapi" in clf.add_classes(okapi).signatures_
    with pytest.raises(InvalidInputError, match="already have a signature: 'okapi'"):
        clf.add_classes(okapi)
    clf.fit(data.X[seen], data.y[seen])
    assert "okapi" not in clf.signatures_


@pytest.mark.parametrize(
    ("candidates", "says"),
    [
        ([], "list of class names"),
        ("seen0", "list of class names; got 'seen0'"),
        ([["seen0"]], "list of class names"),
        (["seen0", "unseen1", "seen0"], "seen0 is named twice"),
        (["seen0", "unseen11"], "'unseen11' .*closest is 'unseen1'.*add_classes"),
    ],
)
def test_bad_candidates_are_refused(data, fitted, candidates, says):
    for method in (fitted.predict, fitted.decision_function, fitted.predict_proba):
        with pytest.raises(InvalidInputError, match=says):
            method(data.X, candidates)


@pytest.mark.parametrize("k", [0, 13, -1, 1.5, True, "2"])
def test_a_bad_k_is_refused(data, fitted, k):
    with pytest.raises(InvalidInputError, match=r"whole number from 1 to 12, .*; got"):
        fitted.predict_top_k(data.X, k)


def test_a_refused_class_is_named_with_its_neighbor(data):
    with pytest.raises(UnknownClassError, match=r"'sen0'.* 12 classes .* closest is 'seen0'"):
        SAEClassifier(data.signatures).fit(data.X, np.where(data.y == "seen0", "sen0", data.y))


def test_vectors_of_zeros_have_no_direction(data, fitted):
    X = data.X.copy()
    X[5] = 0.0
    for method in (fitted.predict, lambda X: SAEClassifier(data.signatures).fit(X, data.y)):
        with pytest.raises(InvalidInputError, match="row 5 of X holds only zeros"):
            method(X)
        with pytest.raises(InvalidInputError, match="row 5 of X holds only zeros"):
            method(sparse.csr_array(X))
    vectors = data.signatures.vectors.copy()
    vectors[3] = 0.0
    table = Signatures(data.signatures.names, vectors)
    with pytest.raises(InvalidInputError, match="signature of class seen3 holds only zeros"):
        SAEClassifier(table).fit(data.X, data.y)
    with pytest.raises(InvalidInputError, match="class okapi holds only zeros"):
        SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y).add_classes(
            {"okapi": np.zeros(6)}
        ).predict(data.X)


@pytest.mark.parametrize("zero", [3, 12])
def test_one_class_without_any_attribute_is_recognized_like_the_others(zero):
    # "Nothing is wrong" is a class of its own in many tables.
    rng = np.random.default_rng(0)
    has = (1 + np.arange(13)[:, None] >> np.arange(4) & 1).astype(float)
    has[zero] = 0.0
    index = np.repeat(np.arange(13), 12)
    X = (2.0 * has - 1)[index] @ rng.standard_normal((4, 12)) + rng.standard_normal((156, 12)) / 3
    names = np.array([f"machine {i:02d}" for i in range(13)])
    y, seen = names[index], index < 10
    clf = PrototypeRegression(Signatures(names, has)).fit(X[seen], y[seen])
    assert clf.score(X[~seen], y[~seen], candidates=names[10:]) > 0.9
    unit = clf._unit_signatures(names, has)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), np.where(names == names[zero], 0, 1))
    with pytest.raises(InvalidInputError, match=f"class {names[zero]} and class well holds only"):
        clf.add_classes({"well": np.zeros(4)}).predict(X[:1])


@pytest.mark.parametrize("parameter", ["feature_norm", "signature_norm"])
def test_an_unknown_norm_is_refused(data, parameter):
    with pytest.raises(InvalidInputError, match=f"{parameter} must be 'l2' or None; got 'l1'"):
        SAEClassifier(data.signatures, **{parameter: "l1"}).fit(data.X, data.y)


def test_a_method_must_bring_its_parts(data):
    with pytest.raises(NotImplementedError, match="must provide _fit"):
        type("Empty", (Constant,), {"_fit": ZeroShotMethod._fit})(data.signatures).fit(
            data.X, data.y
        )
    hollow = type("Hollow", (Constant,), {"compare": ZeroShotMethod.compare})
    with pytest.raises(NotImplementedError, match="must provide compare"):
        hollow(data.signatures).fit(data.X, data.y).predict(data.X)


OLD_HOOKS = {
    "_prepare": r"prepare\(names, vectors\)",
    "_score": r"represent\(rows\) and compare\(queries, classes\)",
    "_queries": r"represent\(rows\)",
    "_explain": r"decompose\(rows, name, vector\)",
    "_form": r"linear_form\(classes\)",
    "_ready_rows": r"check_rows\(X\)",
    "_encode": r"encode_rows\(rows\)",
    "_rejects": "calibration",
    "_snapshot": r"scorer\(\)",
}


@pytest.mark.parametrize("old", OLD_HOOKS)
def test_a_method_written_for_the_hooks_of_before_is_told_what_to_provide(old):
    with pytest.raises(InvalidTypeError, match=f"Mine defines {old}, .* provide {OLD_HOOKS[old]} "):
        type("Mine", (SAEClassifier,), {old: lambda self, *given: None})


def test_a_method_that_derives_from_the_face_is_told_its_base():
    with pytest.raises(InvalidTypeError, match="Mine provides _fit, so it must derive from ZeroSh"):
        type("Mine", (ZeroShotClassifier,), {"_fit": lambda self, X, y: None})
    hollow = type("Hollow", (ZeroShotClassifier,), {})
    with pytest.raises(NotImplementedError, match="Hollow must provide scorer"):
        hollow().scorer()


def test_dense_leaves_arrays_alone():
    X = np.eye(3)
    assert dense(X) is X
    np.testing.assert_array_equal(dense(sparse.csr_array(X)), X)


def test_tags_in_words():
    assert ZeroShotTags().kind == "inductive, closed form, deterministic"
    tags = ZeroShotTags(transductive=True, closed_form=False, deterministic=False)
    assert tags.kind == "transductive, iterative, random"


def test_a_frozen_copy_fits_the_same_model_without_choosing_again():
    data = make_zero_shot(12, 4, n_per_class=8, n_features=16, n_dimensions=6, random_state=1)
    rows = data.rows(data.split("standard").seen)
    clf = SAEClassifier(data.signatures).fit(data.X[rows], data.y[rows])
    frozen = clf.frozen()
    assert frozen.lam == clf.lam_["decode"]
    assert not hasattr(frozen, "coef_decode_")
    again = frozen.fit(data.X[rows], data.y[rows])
    np.testing.assert_allclose(again.coef_decode_, clf.coef_decode_, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_few_plain_rows_are_answered_without_the_checks_of_scikit_learn(
    fitted, data, kind, monkeypatch
):
    X = data.X[:3].astype(kind)
    recognizer, many = fitted.recognizer(), fitted.recognizer().scores(np.tile(X, (500, 1)))
    assert 1500 * 12 > FEW  # so the many rows were checked by scikit-learn
    monkeypatch.setattr("zslearn.core.rows.validate_data", None)
    for rows in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        np.testing.assert_allclose(recognizer.scores(rows), many[:3], rtol=1e-5)


ODD_ROWS = {
    "nan": lambda X: np.where(X == X[0, 0], np.nan, X),
    "inf": lambda X: np.where(X == X[0, 0], -np.inf, X),
    "half": lambda X: X.astype(np.float16),
    "whole": lambda X: X.astype(int),
    "objects": lambda X: X.astype(object),
    "swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "flat": lambda X: X[0],
    "none": lambda X: X[:0],
    "wide": lambda X: np.hstack([X, X]),
    "many": lambda X: np.tile(X, (FEW, 1)),
    "list": lambda X: X.tolist(),
    "sparse": sparse.csr_array,
    "frame": pd.DataFrame,
    "kind of array": lambda X: X.view(np.recarray),
}


@pytest.mark.parametrize("odd", ODD_ROWS)
def test_all_other_rows_are_checked_by_scikit_learn(fitted, data, odd):
    assert is_small_finite_array(data.X[:3], fitted)
    assert not is_small_finite_array(ODD_ROWS[odd](data.X[:3]), fitted)


def test_rows_without_names_are_checked_where_the_features_have_names(data):
    frame = pd.DataFrame(data.X, columns=[f"x{i}" for i in range(data.X.shape[1])])
    named = SAEClassifier(data.signatures, lam=1.0).fit(frame, data.y)
    assert not is_small_finite_array(data.X[:3], named)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(data.X[:3])


def test_plain_arrays_are_checked_as_lists_are(data, fitted):
    X = data.X[:5].copy()
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict(X.tolist()))
    # The sum overflows, no entry does: a direction like any other.
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict(X / np.abs(X).max() * 1e308))
    for wrong, words in (
        (X[:, 1:], "features"),
        (X[:0], "minimum of 1|2D array"),
        (X[0], "2D array"),
        (np.where(X == X.max(), np.nan, X), r"row \d+ of X holds NaN in column"),
        (np.where(X == X.max(), np.inf, X), r"row \d+ of X holds infinity in column"),
    ):
        for form in (wrong, wrong.tolist()):
            with pytest.raises(ValueError, match=words):
                fitted.predict(form)
