"""Encoders of one's own, models by name, and texts that are encoded once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from tests.encoders.tiny_text import LetterCounts, unit
from zslearn.encoders import (
    EncoderIdentity,
    ImageEncoder,
    TextEncoder,
    encoder_names,
    encoder_of,
    register_encoder,
    registry,
)
from zslearn.exceptions import InvalidInputError, InvalidTypeError, ZslearnError, ZslearnWarning
from zslearn.model_selection import ClassKFold
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier


@pytest.fixture
def letters(monkeypatch):
    """The model behind TextEncoder("letters")."""
    monkeypatch.setattr(registry, "_OPENERS", {k: dict(v) for k, v in registry._OPENERS.items()})
    register_encoder("text", "letters", LetterCounts)
    yield TextEncoder("letters").opened.model
    registry._open_once.cache_clear()


def test_a_model_of_ones_own(letters):
    encoder = TextEncoder("letters")
    texts = ["zebra", "a horse", "an otter"]
    np.testing.assert_allclose(encoder.transform(texts), unit(texts), rtol=1e-6)
    assert encoder.identity == EncoderIdentity("letters", "a" * 64, {}, "text")
    assert encoder.get_feature_names_out()[-1] == "letters25"
    assert letters.name == "letters"
    assert "letters" in encoder_names("text")
    assert encoder_of(encoder.identity).transform(texts[:1]).shape == (1, 26)
    with pytest.raises(InvalidInputError, match=r"the encoder letters \(SHA-256 bbbbbbbbbbbb\) is"):
        encoder_of(EncoderIdentity("letters", "b" * 64, {}, "text"))


@pytest.mark.usefixtures("letters")
def test_a_family_of_models():
    register_encoder("text", "count:WHAT", LetterCounts)
    assert TextEncoder("count:all").opened.model.name == "all"
    for name in ("count", "count:", "letters:x"):
        with pytest.raises(InvalidInputError, match=f"no text encoder '{name}'.*'count:WHAT'"):
            TextEncoder(name).fit()
    register_encoder("text", "count", LetterCounts)  # in place of the family
    assert TextEncoder("count").opened.model.name == "count"


@pytest.mark.usefixtures("letters")
def test_a_model_of_pictures(tmp_path):
    class Means:
        sha256, n_features = "b" * 64, 3

        def prepare(self, sample):
            return np.asarray(sample).reshape(-1, 3).mean(axis=0)

        def size(self, prepared):
            return 0

        def run(self, batch):
            return np.array(batch, np.float32)

    register_encoder("image", "means", lambda name: Means())
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert_array_equal(ImageEncoder("means").transform([pixels]), [[10.5, 11.5, 12.5]])
    assert encoder_of(ImageEncoder("means").identity).kind == "image"


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize(
    ("kind", "name", "opener", "message"),
    [
        ("sound", "mine", LetterCounts, "kind must be 'image' or 'text'; got 'sound'"),
        ("text", "minilm", LetterCounts, "'minilm' is a built-in text encoder"),
        ("text", "hf:MINE", LetterCounts, "'hf:NAME' is a built-in text encoder"),
        ("text", "", LetterCounts, "name must be as 'mine' or 'mine:FILE'; got ''"),
        ("text", "mine:", LetterCounts, "name must be as"),
        ("text", 7, LetterCounts, "name must be as"),
        ("text", "mine", "LetterCounts", "opener must be a function.*got str"),
    ],
)
def test_what_cannot_be_registered(kind, name, opener, message):
    with pytest.raises(ZslearnError, match=message):
        register_encoder(kind, name, opener)


def test_texts_of_like_length_run_together_and_come_back_in_order(letters):
    rng = np.random.default_rng(0)
    texts = [f"{i} " + "x" * int(n) for i, n in enumerate(rng.integers(1, 50, 50))]
    vectors = TextEncoder("letters", batch_size=4).transform(texts)
    np.testing.assert_allclose(vectors, unit(texts), rtol=1e-6)
    assert max(map(len, letters.batches)) == 4
    spread = [max(sizes) - min(sizes) for sizes in letters.batches]
    assert np.mean(spread) < 6  # 30 where batches are cut as texts come


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_one_warning_counts_the_long_texts_of_all_blocks(letters, n_jobs):
    encoder = TextEncoder("letters", batch_size=2, n_jobs=n_jobs)
    texts = [f"text {i} " + "y" * (70 if i in (5, 50, 70) else 7) for i in range(90)]
    with pytest.warns(ZslearnWarning, match="3 texts are longer than the 60 tokens") as caught:
        encoder.transform(texts)
    assert len(caught) == 1


def problem(n=72, n_classes=6):
    names = ["apple", "banana", "cherry", "damson", "elder", "fig"][:n_classes]
    rng = np.random.default_rng(0)
    y = np.array(names)[np.arange(n) % n_classes]
    texts = [f"{name} {rng.integers(10**6)}" for name in y]
    return texts, y, Signatures(names, unit(names))


@pytest.mark.filterwarnings("ignore:none of the classes in y were seen")
@pytest.mark.parametrize("n_folds", [3, 6])
def test_cross_validation_encodes_each_text_once(letters, n_folds):
    texts, y, table = problem()
    pipeline = make_pipeline(TextEncoder("letters"), SAEClassifier(table, lam=1.0))
    scores = cross_val_score(pipeline, texts, y, cv=ClassKFold(n_folds))
    assert len(scores) == n_folds
    assert sorted(letters.asked) == sorted(texts)


@pytest.mark.filterwarnings("ignore:none of the classes in y were seen")
def test_a_grid_search_encodes_each_text_once(letters):
    texts, y, table = problem()
    pipeline = make_pipeline(TextEncoder("letters"), SAEClassifier(table))
    grid = {"saeclassifier__lam": [0.1, 1.0, 10.0], "textencoder__batch_size": [4, 32]}
    search = GridSearchCV(pipeline, grid, cv=ClassKFold(3)).fit(texts, y)
    assert search.predict(texts[:4]).shape == (4,)
    assert sorted(letters.asked) == sorted(texts)


def test_a_text_that_comes_twice_is_encoded_once(letters):
    vectors = TextEncoder("letters").transform(["cat", "dog", "cat"])
    assert_array_equal(vectors[0], vectors[2])
    assert sorted(letters.asked) == ["cat", "dog"]


def test_what_is_remembered_is_bounded_and_the_oldest_goes_first(letters, monkeypatch):
    row = registry._size("text 000", np.zeros(26, np.float32))
    monkeypatch.setattr(registry, "RECENT_BYTES", 10 * row)
    encoder = TextEncoder("letters")
    for i in range(0, 100, 5):
        encoder.transform([f"text {j:03d}" for j in range(i, i + 5)])
    recent = encoder.opened.recent
    assert list(recent._rows) == [f"text {j:03d}" for j in range(90, 100)]
    assert recent._bytes == 10 * row
    before = len(letters.asked)
    encoder.transform(["text 095", "text 089"])
    assert letters.asked[before:] == ["text 089"]


def test_more_texts_than_are_remembered(letters, monkeypatch):
    monkeypatch.setattr(registry, "RECENT_BYTES", 1000)
    texts = [f"text {j}" for j in range(200)]
    for _ in range(2):
        np.testing.assert_allclose(TextEncoder("letters").transform(texts), unit(texts), rtol=1e-6)


@pytest.mark.usefixtures("letters")
def test_a_change_of_what_came_back_does_not_reach_the_memory():
    encoder = TextEncoder("letters")
    vectors = encoder.transform(["cat", "dog"])
    expected = vectors.copy()
    vectors[:] = 0
    assert_array_equal(encoder.transform(["cat", "dog"]), expected)


@pytest.mark.usefixtures("letters")
def test_threads_share_a_model():
    encoder = TextEncoder("letters")
    texts = [f"text {j % 40}" for j in range(400)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: encoder.transform(texts[i : i + 10]), range(0, 400, 10)))
    np.testing.assert_allclose(np.concatenate(found), unit(texts), rtol=1e-6)


TEXTS = ["where is my card", "money back", "a new address"]


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize(
    "given",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        np.array(TEXTS, dtype=object)[:, None],
        pd.Series(TEXTS, index=[5, 3, 1]),
        pd.Series(TEXTS, dtype="string"),
        pd.Series(TEXTS, dtype="category"),
        pd.DataFrame({"text": TEXTS}, index=["a", "b", "c"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_texts_come_in_many_kinds_of_list(given):
    np.testing.assert_allclose(TextEncoder("letters").transform(given), unit(TEXTS), rtol=1e-6)


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            pd.DataFrame({"id": [1, 2], "text": ["a", "b"]}),
            "one column, of texts; got 2: id",
        ),
        (pd.Series(["a", None]), r"Text 1 is missing \((nan|None)\)"),
        (pd.DataFrame({"text": ["a", np.nan]}), r"Text 1 is missing \(nan\)"),
        (pd.Series([1.5, 2.5]), "Text 0 is a float, 1.5; every item must be text"),
        (np.array([["a", "b"]], dtype=object), "Text 0 is a ndarray"),
        (pd.DataFrame({"text": []}), "there are no texts"),
        (iter(["a"]), "texts must come as a list; got list_iterator"),
    ],
    ids=range(7),
)
def test_what_is_no_list_of_texts_is_one_line(given, message):
    with pytest.raises(ZslearnError, match=message) as caught:
        TextEncoder("letters").transform(given)
    assert "\n" not in str(caught.value)


def test_identities_of_pictures_and_texts_differ():
    pictures = EncoderIdentity("clip", "c" * 64)
    texts = EncoderIdentity("clip", "c" * 64, kind="text")
    assert not pictures.matches(texts)
    assert EncoderIdentity.from_dict({"model": "clip", "sha256": "c" * 64}) == pictures
    with pytest.raises(InvalidInputError, match="encodes neither pictures nor texts"):
        EncoderIdentity.from_dict(texts.as_dict() | {"kind": "sound"})
    with pytest.raises(InvalidInputError, match=r"x\.store was made by .* on the texts\.$"):
        texts.check(EncoderIdentity("other", "d" * 64, kind="text"), "x.store")


def test_old_names_of_methods_warn(tmp_path):
    from tests.encoders.tiny_onnx import write_onnx

    encoder = ImageEncoder(write_onnx(tmp_path / "net.onnx"))
    pixels = np.zeros((4, 4, 3), np.uint8)
    with pytest.warns(FutureWarning, match="encode_blocks now"):
        (block,) = encoder.encode([pixels])
    with pytest.warns(FutureWarning, match="encode_batch now"):
        assert_array_equal(encoder.encode_pixels([pixels]), block)
    with pytest.warns(FutureWarning, match="encoder_of now"):
        again = ImageEncoder.from_identity(encoder.identity)
    assert again.identity == encoder.identity
    with pytest.raises(InvalidTypeError, match="pictures must come as a list"):
        encoder.transform("a.png")
