"""Text models by torch: tiny ones made here, where the packages are there; messages elsewhere."""

import importlib
import importlib.util
import json
import socket
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

from zslearn.encoders import TextEncoder
from zslearn.exceptions import InvalidInputError, MissingExtraError, ZslearnWarning
from zslearn.persistence import save
from zslearn.serve import ServerSettings, create_app
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def available(*packages):
    return all(importlib.util.find_spec(package) for package in packages)


needs_transformers = pytest.mark.skipif(
    not available("torch", "transformers"), reason="needs torch and transformers"
)
needs_open_clip = pytest.mark.skipif(
    not available("torch", "open_clip"), reason="needs torch and open_clip"
)


@pytest.fixture
def no_network(monkeypatch):
    """A network that is not there, as a name that is not found."""

    def refuse(*_, **__):
        raise socket.gaierror("no network")

    monkeypatch.setattr(socket, "create_connection", refuse)
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tiny_bert(tmp_path):
    """A folder with a BERT of 16 dimensions that spells words by letters."""
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{c}" for c in LETTERS)]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"), model_max_length=32)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


@needs_transformers
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.usefixtures("no_network")
def test_a_folder_of_transformers(tiny_bert):
    import torch
    import transformers

    encoder = TextEncoder(f"hf:{tiny_bert}")
    vectors = encoder.transform(["abc", "a longer text"])
    assert vectors.shape == (2, 16)
    model = transformers.AutoModel.from_pretrained(tiny_bert).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bert)
    with torch.no_grad():
        states = model(**tokenizer(["abc"], return_tensors="pt")).last_hidden_state[0]
    mean = states.mean(dim=0).numpy()
    assert_allclose(vectors[0], mean / np.linalg.norm(mean), atol=1e-5)
    assert str(encoder.identity).startswith(f"hf:{tiny_bert} (SHA-256 ")
    with pytest.warns(ZslearnWarning, match="longer than the 32 tokens"):
        encoder.transform(["a" * 50])


@needs_transformers
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.usefixtures("no_network")
def test_a_server_takes_texts_and_classes_in_words_for_it(tiny_bert, tmp_path):
    from starlette.testclient import TestClient

    encoder = TextEncoder(f"hf:{tiny_bert}")
    kinds = {"card": "card arrival", "money": "refund of money", "number": "forgotten number"}
    table = Signatures.from_texts(kinds, encoder)
    texts = ["my card is late", "card delivery", "give me a refund", "money returned"]
    model = make_pipeline(encoder, SAEClassifier(table, lam=1.0))
    model.fit(texts, ["card", "card", "money", "money"])
    save(model, tmp_path / "made.zsl")
    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    client = TestClient(app, base_url="http://localhost")
    answers = client.post("/predict", json={"texts": texts}).json()["answers"]
    assert [answer["class"] for answer in answers] == model.predict(texts).tolist()
    put = client.put("/v2/models/made/classes/top_up", json={"text": "adding funds"})
    assert put.status_code == 201, put.text
    found = client.get("/v2/models/made/classes/top_up").json()["vector"]
    by_hand = Signatures.from_texts({"top_up": "adding funds"}, encoder)["top_up"]
    assert_allclose(list(found.values()), by_hand, atol=1e-6)


@needs_open_clip
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_network")
def test_a_tiny_clip_from_a_file_of_weights(tmp_path):
    import open_clip
    import torch

    config = {
        "embed_dim": 12,
        "vision_cfg": {"image_size": 16, "layers": 1, "width": 64, "patch_size": 8},
        "text_cfg": {
            "context_length": 20,
            "vocab_size": 49408,
            "width": 16,
            "heads": 2,
            "layers": 1,
        },
    }
    (tmp_path / "tiny-clip.json").write_text(json.dumps(config))
    open_clip.add_model_config(tmp_path / "tiny-clip.json")
    model = open_clip.create_model("tiny-clip").eval()
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    encoder = TextEncoder(f"open_clip:tiny-clip/{tmp_path / 'weights.pt'}")
    vectors = encoder.transform(["a zebra", "a horse"])
    with torch.no_grad():
        expected = model.encode_text(open_clip.get_tokenizer("tiny-clip")(["a zebra", "a horse"]))
    expected = torch.nn.functional.normalize(expected).numpy()
    assert_allclose(vectors, expected, atol=1e-5)
    assert len(encoder.get_feature_names_out()) == 12
    with pytest.warns(ZslearnWarning, match="longer than the 20 tokens"):
        encoder.transform(["zebra " * 30])


@needs_transformers
@pytest.mark.usefixtures("no_network")
def test_without_a_network_the_answer_is_quick():
    importlib.import_module("transformers")
    start = time.monotonic()
    with pytest.raises(
        InvalidInputError, match=r"'hf:nobody/nothing' cannot be loaded\. There is no"
    ):
        TextEncoder("hf:nobody/nothing").transform(["cat"])
    assert time.monotonic() - start < 20


@pytest.mark.skipif(available("torch"), reason="torch is there")
@pytest.mark.parametrize("model", ["hf:some/model", "open_clip:ViT-B-32/laion2b"])
def test_without_torch_the_extra_is_named(model):
    with pytest.raises(MissingExtraError, match=r"needs the package 'torch'.*zslearn\[hub\]"):
        TextEncoder(model).fit()


@needs_open_clip
def test_a_tag_is_needed():
    with pytest.raises(InvalidInputError, match="must be 'open_clip:NAME/TAG'"):
        TextEncoder("open_clip:ViT-B-32").fit()
