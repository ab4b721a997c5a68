"""Prediction at scale: blocks of samples and of classes, and threads."""

import numpy as np
import pytest

from zslearn.core.threads import threads
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import (
    ESZSLClassifier,
    PrototypeRegression,
    RRZSLClassifier,
    SAEClassifier,
    base,
    candidates,
)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(40, 10, n_per_class=20, n_features=32, random_state=1)


def fitted(data, kind=SAEClassifier, **parameters):
    rows = data.rows(data.split("standard").seen)
    return kind(data.signatures, **parameters).fit(data.X[rows], data.y[rows])


KINDS = [
    (SAEClassifier, {"lam": 1.0}),
    (SAEClassifier, {"lam": 1.0, "direction": "both", "metric": "euclidean"}),
    (RRZSLClassifier, {"lam": 1.0}),
    (ESZSLClassifier, {"gamma": 1.0, "lam": 1.0}),
    (PrototypeRegression, {"power": 0.5, "shrinkage": 0.5, "bandwidth": 2.0, "ridge": 0.1}),
]


@pytest.mark.parametrize(("kind", "parameters"), KINDS)
@pytest.mark.parametrize("k", [1, 7])
@pytest.mark.parametrize("cut", ["CLASS_BLOCK", "CLASS_PART"])
def test_blocks_of_classes_do_not_change_the_answer(data, monkeypatch, kind, parameters, k, cut):
    model = fitted(data, kind, **parameters)
    expected, scores = model.predict_top_k(data.X, k), model.decision_function(data.X)
    monkeypatch.setattr(candidates, cut, 6)
    np.testing.assert_array_equal(model.predict_top_k(data.X, k), expected)
    np.testing.assert_allclose(model.decision_function(data.X), scores, atol=1e-12)


@pytest.mark.parametrize(("kind", "parameters"), KINDS)
def test_changes_of_candidates_prepared_in_parts(data, monkeypatch, kind, parameters):
    model = fitted(data, kind, **parameters)
    names, vector = data.signatures.names, data.signatures.vectors[:2].mean(axis=0)

    def changed(recognizer):
        return recognizer.replace(names[7], vector).replace("new", vector).without(names[3])

    whole = changed(model.recognizer())
    monkeypatch.setattr(candidates, "CLASS_PART", 4)
    parts = changed(model.recognizer())
    assert len(parts._candidates.base.prepared) > 2
    np.testing.assert_allclose(parts.scores(data.X), whole.scores(data.X), atol=1e-12)
    np.testing.assert_array_equal(parts.rank(data.X, 3).names, whole.rank(data.X, 3).names)


def test_blocks_of_samples_and_threads_do_not_change_the_answer(data, monkeypatch):
    model = fitted(data, lam=1.0)
    expected = model.predict_top_k(data.X, 3)
    monkeypatch.setattr(base, "SCORE_BYTES", 1000)
    monkeypatch.setattr("zslearn.core.threads._WORTH_THREADS", 1)
    monkeypatch.setattr(candidates, "SCORE_BYTES", 100 * 8 * data.X.shape[1])
    with threads(3):
        np.testing.assert_array_equal(model.predict_top_k(data.X, 3), expected)


@pytest.mark.parametrize("cut", ["CLASS_BLOCK", "CLASS_PART"])
def test_ties_go_to_the_first_candidate_across_blocks_of_classes(data, monkeypatch, cut):
    options = {"lam": 1.0, "metric": "dot", "feature_norm": None, "signature_norm": None}
    model = fitted(data, **options)
    # Whole numbers multiply without rounding, so scores tie exactly.
    rng = np.random.default_rng(0)
    model.coef_decode_ = rng.integers(-3, 4, model.coef_decode_.shape).astype(float)
    vector = rng.integers(0, 2, 16).astype(float)
    model.add_classes({f"twin{i}": vector for i in range(20)})
    X = rng.integers(-3, 4, (50, 32)).astype(float)
    names = [f"twin{i}" for i in range(20)]
    expected = np.tile(names[:5], (50, 1))
    np.testing.assert_array_equal(model.predict_top_k(X, 5, names), expected)
    monkeypatch.setattr(candidates, cut, 9)
    np.testing.assert_array_equal(model.predict_top_k(X, 5, names), expected)


def test_a_zero_row_of_a_large_batch_is_named_by_its_number(data, monkeypatch):
    monkeypatch.setattr(base, "SCORE_BYTES", 1000)
    monkeypatch.setattr(candidates, "SCORE_BYTES", 100 * 8 * data.X.shape[1])
    X = data.X.copy()
    X[700] = 0
    with pytest.raises(InvalidInputError, match="row 700 of X holds only zeros"):
        fitted(data, lam=1.0).predict(X)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_lower_precision_predicts_in_single(data, kind):
    model = fitted(data, lam=1.0)
    X = data.X.astype(kind)
    assert model.decision_function(X).dtype == np.float32
    assert (model.predict(X) == model.predict(X.astype(np.float64))).mean() > 0.99


@pytest.mark.parametrize(("kind", "parameters"), [*KINDS, (SAEClassifier, {})])
def test_a_memory_map_gives_the_model_of_the_array(data, tmp_path, kind, parameters):
    rows = data.rows(data.split("standard").seen)
    np.save(tmp_path / "X.npy", data.X[rows])
    X, y = np.load(tmp_path / "X.npy", mmap_mode="r"), data.y[rows]
    got = kind(data.signatures, **parameters).fit(X, y)
    expected = fitted(data, kind, **parameters)
    np.testing.assert_array_equal(got.predict(data.X), expected.predict(data.X))
    np.testing.assert_allclose(
        got.decision_function(data.X), expected.decision_function(data.X), atol=1e-9
    )
    assert got.n_features_in_ == 32


def test_bad_rows_of_a_memory_map_are_named(data, tmp_path):
    rows = data.rows(data.split("standard").seen)
    X = data.X[rows].astype(np.float32)
    X[321, 5] = np.nan
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(InvalidInputError, match="row 321 of X holds NaN in column 5"):
        SAEClassifier(data.signatures, lam=1.0).fit(mapped, data.y[rows])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SAEClassifier(data.signatures, lam=1.0).fit(mapped, data.y[:9])
