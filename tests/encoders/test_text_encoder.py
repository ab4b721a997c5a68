"""The text encoder with the weights of the extra `text`."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from zslearn.encoders import EncoderIdentity, TextEncoder, onnx_models, registry
from zslearn.exceptions import InvalidInputError, MissingExtraError, ZslearnError, ZslearnWarning
from zslearn.signatures import Signatures

TEXTS = ["a striped horse", "like a horse, with black and white stripes", "Zebra"]


@pytest.fixture(scope="module")
def encoder():
    pytest.importorskip("tokenizers")
    return TextEncoder()


def test_vectors_agree_with_a_torch_run_of_the_same_model(encoder):
    """Reference: transformers 5.22 and torch 2.13, the model's own safetensors, mean of tokens."""
    vectors = encoder.transform(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((3, 384), np.float32)
    first = [-0.05531358, 0.06014708, -0.03152234, 0.01899259, -0.13730317, 0.00636370]
    assert_allclose(vectors[0, :6], first, atol=1e-6)
    products = [
        [1, 0.69678998, 0.44095451],
        [0.69678998, 1, 0.42353699],
        [0.44095451, 0.42353699, 1],
    ]
    assert_allclose(vectors @ vectors.T, products, atol=1e-6)


def test_neither_company_nor_batches_change_a_vector(encoder):
    texts = [*TEXTS, "a long description of an animal that lives in the sea " * 4, "cat"]
    together = encoder.transform(texts)
    alone = np.vstack([encoder.transform([text]) for text in texts])
    assert_allclose(together, alone, atol=1e-6)
    assert_allclose(TextEncoder(batch_size=2).transform(texts), alone, atol=1e-6)


def test_a_mark_for_padding_in_a_text_is_a_token_like_any(encoder):
    product = (encoder.transform(["[PAD] odd"]) @ encoder.transform(["a striped horse"]).T).item()
    assert product == pytest.approx(0.14011090, abs=1e-6)  # as by torch


def test_identity_and_names(encoder):
    identity = encoder.identity
    assert (identity.model, len(identity.sha256), dict(identity.settings)) == ("minilm", 64, {})
    assert EncoderIdentity.from_dict(identity.as_dict()).matches(identity)
    names = encoder.get_feature_names_out()
    assert (len(names), names[0], names[-1]) == (384, "minilm0", "minilm383")


def test_a_copy_and_a_pickle_are_small_and_alike(encoder):
    stored = pickle.dumps(encoder)
    assert len(stored) < 1000
    for other in (clone(encoder), pickle.loads(stored), encoder.fit(TEXTS)):
        assert_allclose(other.transform(TEXTS[:1]), encoder.transform(TEXTS[:1]))


def test_long_texts_are_cut_with_a_warning(encoder):
    words = ["horse"] * 254 + ["submarine"] * 50
    with pytest.warns(ZslearnWarning, match=r"One text is longer than the 256 tokens.*'horse"):
        cut = encoder.transform([" ".join(words), "cat"])
    assert_allclose(cut[0], encoder.transform([" ".join(words[:254])])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("zebra", "texts must come as a list; got str"),
        (7, "texts must come as a list; got int"),
        ([], "there are no texts"),
        (["cat", ""], "Text 1: the text is empty"),
        (["\n\t "], "Text 0: the text is empty"),
        (["half \ud800"], "Text 0: the text holds half a character"),
        ([b"cat"], "Text 0 is a bytes, b'cat'; every item must be text"),
        ([None], r"Text 0 is missing \(None\)"),
        (["cat", float("nan")], r"Text 1 is missing \(nan\)"),
        (["cat", 7], "Text 1 is a int, 7; every item must be text"),
    ],
)
def test_what_is_no_text_is_refused(texts, message):
    with pytest.raises(ZslearnError, match=message):
        TextEncoder().transform(texts)


@pytest.mark.parametrize("model", ["minilmm", "hf:", "minilm:x", "", "clip:ViT"])
def test_an_unknown_model_is_refused(model):
    with pytest.raises(InvalidInputError, match=f"no text encoder {model!r}; choose 'minilm'"):
        TextEncoder(model).transform(["cat"])


@pytest.mark.parametrize("parameters", [{"batch_size": 0}, {"batch_size": 2.5}, {"model": 7}])
def test_parameters_are_checked(parameters):
    with pytest.raises(InvalidInputError, match=f"{next(iter(parameters))} must be"):
        TextEncoder().set_params(**parameters).transform(["cat"])


def test_a_package_that_is_not_there_is_named():
    missing = replace(onnx_models.MINILM, name="no-such-package")
    with pytest.raises(MissingExtraError, match=r"'no-such-package'.*zslearn\[text\]"):
        onnx_models.MiniLM(missing, "minilm")


def test_rounded_weights_give_nearly_the_same_vectors_one_by_one_or_together():
    texts = ["a striped horse of the savanna", "Where is my card?", "a submarine", "money back"] * 3
    exact, rounded = (TextEncoder(model).transform(texts) for model in ("minilm", "minilm-int8"))
    cosines = (exact * rounded).sum(axis=1) / (
        np.linalg.norm(exact, axis=1) * np.linalg.norm(rounded, axis=1)
    )
    assert cosines.min() > 0.999
    assert cosines.max() < 0.99999
    alone = TextEncoder("minilm-int8", batch_size=1).transform(texts)
    np.testing.assert_allclose(alone, rounded, atol=1e-6)
    # What one of them made is not compared with what the other did.
    assert TextEncoder("minilm").identity != TextEncoder("minilm-int8").identity


def test_weights_that_were_changed_are_not_opened(monkeypatch, tmp_path):
    (tmp_path / "onnx").mkdir()
    for name in ("onnx/model.onnx", "onnx/model.onnx_data", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"changed")
    monkeypatch.setattr(onnx_models, "find_in_package", lambda *_, **__: tmp_path)
    with pytest.raises(InvalidInputError, match=r"model\.onnx cannot be loaded.*SHA-256 begins"):
        onnx_models.open_minilm("minilm")


def test_weights_are_loaded_once():
    assert registry.open_model("text", "minilm") is registry.open_model("text", "minilm")


def test_descriptions_become_a_class_table(encoder):
    texts = {
        "zebra": ["like a horse, with black and white stripes", "a striped African grazer"],
        "horse": "a large animal that people ride",
        "submarine": "a ship that dives",
    }
    table = Signatures.from_texts(texts, encoder)
    assert table.dimensions[:2] == ("minilm0", "minilm1")
    assert_allclose(np.linalg.norm(table.vectors, axis=1), 1)
    assert table["zebra"] @ table["horse"] > table["zebra"] @ table["submarine"]
