"""Texts as samples: pipelines that begin with an encoder, wherever estimators go."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.encoders.tiny_text import LetterCounts, unit
from zslearn.encoders import (
    TextEncoder,
    encoder_of_model,
    register_encoder,
    registry,
    split_encoder,
    text_encoder_of,
)
from zslearn.exceptions import InvalidInputError, ModelFileError, ZslearnError
from zslearn.model_selection import ClassKFold
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, SAEClassifier

# Classes whose texts are made of the letters of their names.
NAMES = ["abcd", "cdef", "efgh", "ghij", "ijkl", "klmn", "mnop", "opqr", "qrst", "stuv"]
UNSEEN = ["aceg", "moqs"]


def texts_of(names, n, seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(names, n)
    X = ["".join(rng.choice(list(name + "z"), 12)) for name in y]
    return np.array(X, dtype=object), y


@pytest.fixture
def model():
    """The model behind the encoder, with nothing remembered."""
    made = []

    def opener(name):
        made.append(LetterCounts(name))
        return made[-1]

    register_encoder("text", "letters", opener)
    TextEncoder("letters").fit()
    return made[0]


@pytest.fixture
def table(model):
    return Signatures.from_texts({name: name for name in NAMES + UNSEEN}, TextEncoder("letters"))


@pytest.fixture
def texts():
    return texts_of(NAMES, 8, seed=0)


def pipeline(table, **settings):
    return make_pipeline(TextEncoder("letters"), SAEClassifier(table, lam=1.0, **settings))


def test_a_pipeline_on_texts_is_the_classifier_on_their_vectors(table, texts):
    X, y = texts
    new, true = texts_of(UNSEEN, 8, seed=1)
    by_texts = pipeline(table).fit(X, y)
    by_hand = SAEClassifier(table, lam=1.0).fit(unit(X).astype(np.float32), y)
    given = by_hand.predict(unit(new).astype(np.float32), candidates=UNSEEN)
    assert_array_equal(by_texts.predict(new, candidates=UNSEEN), given)
    assert np.mean(given == true) > 0.9


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        lambda X: np.array(X)[:, None],
        lambda X: pd.DataFrame({"text": X}),
        lambda X: pd.Series(X, index=np.arange(len(X))[::-1] + 7),
        lambda X: pd.Series(X, dtype="string"),
        lambda X: pd.Series(X, dtype="category"),
    ],
)
def test_texts_may_come_in_any_form(table, texts, form):
    X, y = texts
    expected = pipeline(table).fit(X, y).decision_function(X)
    found = pipeline(table).fit(form(X), y).decision_function(form(X))
    assert_array_equal(found, expected)


def test_a_cross_validation_encodes_each_text_once(model, table, texts):
    X, y = texts
    model.asked.clear()
    scores = cross_val_score(
        pipeline(table), X, y, cv=ClassKFold(5), scoring="accuracy", error_score="raise"
    )
    assert len(scores) == 5
    assert sorted(model.asked) == sorted(set(X))


def test_a_grid_and_a_calibration_encode_each_text_once(model, table, texts):
    X, y = texts
    model.asked.clear()
    grid = {"saeclassifier__lam": [0.1, 1.0, 10.0]}
    search = GridSearchCV(
        pipeline(table), grid, cv=ClassKFold(5), scoring="accuracy", error_score="raise"
    ).fit(X, y)
    stack = CalibratedStacking(pipeline(table), random_state=0).fit(X, y)
    search.predict(X)
    stack.predict(X)
    assert sorted(model.asked) == sorted(set(X))


def test_vectors_that_are_kept_need_no_more_than_their_share(model, monkeypatch):
    encoder = TextEncoder("letters")
    first = encoder.transform(["some text"])
    monkeypatch.setattr(registry, "RECENT_BYTES", 4000)
    encoder.transform([f"another {i}" for i in range(50)])
    recent = encoder.opened.recent
    assert recent._bytes <= 4000
    assert "some text" not in recent.find(["some text"])
    assert_array_equal(encoder.transform(["some text"]), first)


def test_what_one_does_to_vectors_is_not_remembered(model):
    encoder = TextEncoder("letters")
    vectors = encoder.transform(["abc", "def"])
    vectors[:] = 0
    assert_allclose(encoder.transform(["abc", "def"]), unit(["abc", "def"]), rtol=1e-6)


def test_a_calibrated_pipeline_is_the_calibration_of_vectors(table, texts):
    X, y = texts
    vectors = unit(X).astype(np.float32)
    on_texts = CalibratedStacking(pipeline(table), random_state=0).fit(X, y)
    on_vectors = CalibratedStacking(SAEClassifier(table, lam=1.0), random_state=0).fit(vectors, y)
    assert on_texts.gamma_ == pytest.approx(on_vectors.gamma_)
    scores = on_vectors.decision_function(vectors)
    assert_allclose(on_texts.decision_function(X), scores, atol=1e-6)
    assert_allclose(on_texts.predict_proba(X), on_vectors.predict_proba(vectors), atol=1e-5)
    assert on_texts.explain(X[0], y[0]) is not None


def test_an_outer_pipeline_is_calibrated_alike(table, texts):
    X, y = texts
    inner = make_pipeline(TextEncoder("letters"), StandardScaler(), SAEClassifier(table, lam=1.0))
    stack = CalibratedStacking(inner, random_state=0).fit(X, y)
    encoder, rest = split_encoder(stack)
    assert encoder.model == "letters"
    scores = rest.decision_function(unit(X).astype(np.float32))
    assert_allclose(scores, stack.decision_function(X), atol=1e-5)


def test_classes_are_added_by_sentences(table, texts):
    X, y = texts
    for classifier in (
        SAEClassifier(table, lam=1.0).fit(unit(X).astype(np.float32), y),
        PrototypeRegression(table).fit(unit(X).astype(np.float32), y),
        CalibratedStacking(pipeline(table), random_state=0).fit(X, y),
    ):
        classifier.add_classes({"bdfh": ["b d f h", "hfdb"], "lnpr": "lnpr nplr"})
        grown = classifier.signatures_
        by_hand = Signatures.from_texts(
            {"bdfh": ["b d f h", "hfdb"], "lnpr": "lnpr nplr"}, TextEncoder("letters")
        )
        assert_allclose(grown["bdfh"], by_hand["bdfh"])
        assert grown.texts["lnpr"] == ("lnpr nplr",)
    new, true = texts_of(["bdfh", "lnpr"], 8, seed=3)
    assert np.mean(classifier.predict(new, candidates=["bdfh", "lnpr"]) == true) > 0.9


def test_a_sentence_needs_a_text_encoder(table, texts):
    X, y = texts
    plain = Signatures(table.names, table.vectors)
    classifier = SAEClassifier(plain, lam=1.0).fit(unit(X).astype(np.float32), y)
    with pytest.raises(InvalidInputError, match=r"'bdfh' is given by a text.*vector of 26 numbers"):
        classifier.add_classes({"bdfh": "a text"})
    classifier = SAEClassifier(table, lam=1.0).fit(unit(X).astype(np.float32), y)
    with pytest.raises(InvalidInputError, match="'bdfh' is given by a text and class 'x' is not"):
        classifier.add_classes({"bdfh": "a text", "x": np.ones(26)})
    with pytest.raises(ZslearnError, match="'bdfh' needs one or several texts, none empty"):
        classifier.add_classes({"bdfh": " "})
    scaled = table.normalized("zscore-seen", seen=NAMES)
    assert text_encoder_of(scaled) is None


def test_a_pipeline_is_saved_with_its_encoder(table, texts, tmp_path):
    X, y = texts
    for number, fitted in enumerate(
        (
            pipeline(table).fit(X, y),
            CalibratedStacking(pipeline(table), random_state=0).fit(X, y),
        )
    ):
        path = tmp_path / f"{number}.zsl"
        save(fitted, path)
        again = load(path)
        assert_array_equal(again.predict(X), fitted.predict(X))
        assert_array_equal(again.decision_function(X), fitted.decision_function(X))
        assert encoder_of_model(again).matches(TextEncoder("letters").identity)


def test_an_encoder_of_other_weights_is_refused_when_it_is_used(table, texts, tmp_path):
    X, y = texts
    save(pipeline(table).fit(X, y), tmp_path / "m.zsl")

    class Other(LetterCounts):
        sha256 = "b" * 64

    register_encoder("text", "letters", Other)
    again = load(tmp_path / "m.zsl")  # the weights are not looked for
    _, rest = split_encoder(again)
    assert rest.predict(unit(X).astype(np.float32)).shape == y.shape
    with pytest.raises(
        InvalidInputError, match=r"letters \(SHA-256 aaaaaaaaaaaa\) is needed; here"
    ):
        again.predict(X)


def test_a_file_whose_encoder_is_of_another_kind_is_refused(table, texts, tmp_path):
    X, y = texts
    fitted = pipeline(table).fit(X, y)
    fitted.steps[0][1].identity_["kind"] = "image"
    save(fitted, tmp_path / "m.zsl")
    with pytest.raises(ModelFileError, match="identity of the encoder"):
        load(tmp_path / "m.zsl")


def test_a_saved_table_knows_its_encoder(table, texts, tmp_path):
    X, y = texts
    save(SAEClassifier(table, lam=1.0).fit(unit(X).astype(np.float32), y), tmp_path / "m.zsl")
    again = load(tmp_path / "m.zsl")
    assert text_encoder_of(again.signatures_).model == "letters"
    assert again.signatures_.texts["abcd"] == ("abcd",)
    again.add_classes({"bdfh": "b d f h"})
    assert "bdfh" in again.classes_


def test_texts_that_cannot_be_encoded_name_their_row(table, texts):
    X, y = texts
    frame = pd.DataFrame({"text": X, "part": "train"})
    with pytest.raises(
        InvalidInputError, match="must have one column, of texts; got 2: text, part"
    ):
        pipeline(table).fit(frame, y)
    for value, said in (
        (np.nan, "Text 3 is missing"),
        (" ", "Text 3: the text is empty"),
        (7, "3 is a int"),
    ):
        wrong = X.copy()
        wrong[3] = value
        with pytest.raises(ZslearnError, match=said):
            pipeline(table).fit(wrong, y)
