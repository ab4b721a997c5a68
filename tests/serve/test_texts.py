"""Texts at the server: in plain words, in tensors, and as descriptions of classes."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from starlette.testclient import TestClient

from tests.encoders.tiny_text import letter_encoder, unit
from zslearn.encoders import TextEncoder, remember_encoder
from zslearn.persistence import save
from zslearn.serve import Limits, ServerSettings, create_app
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, SAEClassifier

CLASSES = "/v2/models/made/classes"
INFER = "/v2/models/made/infer"
REQUESTS = ["Where is my card?", "I want my money back", "My card has not come: überfällig"]
KINDS = {"card": "card arrival", "money": "refund of money", "PIN": "forgotten number"}


def fitted_on_texts(encoder=None, wrap=lambda model: model):
    """A pipeline of an encoder and a classifier that has seen two classes of three."""
    encoder = encoder or TextEncoder()
    table = Signatures.from_texts(KINDS, encoder)
    texts = ["my card is late", "card delivery", "give me a refund", "money returned"] * 2
    y = ["card", "card", "money", "money"] * 2
    return wrap(make_pipeline(encoder, SAEClassifier(table, lam=1.0))).fit(texts, y)


@pytest.fixture(params=["pipeline", "calibrated", "vectors"])
def model(request):
    """A model of texts in each of the forms that a file may have."""
    encoder = letter_encoder()
    if request.param == "vectors":  # as zslearn fit saves it
        classifier = fitted_on_texts(encoder)[-1]
        remember_encoder(classifier, encoder.identity)
        return classifier
    if request.param == "pipeline":
        return fitted_on_texts(encoder)
    return fitted_on_texts(encoder, lambda m: CalibratedStacking(m, gamma=0.1, temperature=1.0))


@pytest.fixture
def make_client(model, tmp_path):
    save(model, tmp_path / "made.zsl")

    def make(**settings):
        app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}, **settings))
        return TestClient(app, base_url="http://localhost")

    return make


@pytest.fixture
def wanted(model):
    """Names and scores, found without a server."""
    X = unit(REQUESTS).astype(np.float32) if isinstance(model, SAEClassifier) else REQUESTS
    return model.predict(X).tolist(), model.decision_function(X)


def tensor(texts, **more):
    part = {"name": "text", "shape": [len(texts)], "datatype": "BYTES", "data": texts}
    return {"inputs": [part], **more}


def test_texts_are_answered_in_words(make_client, wanted):
    client = make_client()
    answers = client.post("/predict", json={"texts": REQUESTS}).json()["answers"]
    assert [one["class"] for one in answers] == wanted[0]
    assert_allclose([one["score"] for one in answers], wanted[1].max(axis=1), atol=1e-5)
    [single] = client.post("/predict", json={"texts": REQUESTS[1]}).json()["answers"]
    assert single["class"] == wanted[0][1]
    rows = client.post("/predict", json={"rows": unit(REQUESTS).tolist()}).json()["answers"]
    assert [one["class"] for one in rows] == wanted[0]


def test_texts_come_in_tensors(make_client, wanted):
    client = make_client()
    inputs = client.get("/v2/models/made").json()["inputs"]
    assert [one["name"] for one in inputs] == ["features", "text"]
    assert inputs[1] == {"name": "text", "datatype": "BYTES", "shape": [-1]}
    outputs = [{"name": "predict"}, {"name": "scores"}]
    found = client.post(INFER, json=tensor(REQUESTS, outputs=outputs)).json()["outputs"]
    assert found[0]["data"] == wanted[0]
    assert_allclose(np.reshape(found[1]["data"], (3, 3)), wanted[1], atol=1e-5)


def test_raw_bytes_are_texts_in_utf_8(make_client, wanted):
    items = [text.encode() for text in REQUESTS]
    raw = b"".join(len(item).to_bytes(4, "little") + item for item in items)
    part = {"name": "text", "shape": [3], "datatype": "BYTES"}
    head = json.dumps({"inputs": [part | {"parameters": {"binary_data_size": len(raw)}}]}).encode()
    length = {"Inference-Header-Content-Length": str(len(head))}
    found = make_client().post(INFER, content=head + raw, headers=length).json()
    assert found["outputs"][0]["data"] == wanted[0]
    broken = head + raw[:-3] + b"\xff\xfe\xfd"
    answer = make_client().post(INFER, content=broken, headers=length)
    assert (answer.status_code, "a text is not UTF-8" in answer.json()["error"]) == (400, True)
    # The last item says that it is longer than what is left.
    place = len(raw) - len(items[-1]) - 4
    longer = raw[:place] + (len(items[-1]) + 1).to_bytes(4, "little") + items[-1]
    answer = make_client().post(INFER, content=head + longer, headers=length)
    assert (answer.status_code, "ends inside an item" in answer.json()["error"]) == (400, True)


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"texts": []}, 400, r'or {"texts": ["..."]}'),
        ({"texts": ["a", " "]}, 400, "text 1: the text is empty"),
        ({"texts": ["a", "x" * 10_001]}, 413, "text 1 has 10001 letters, more than 10000"),
        ({"texts": [7]}, 400, "Expected `str`, got `int`"),
        ({"texts": ["a"], "rows": [[1.0]]}, 400, "send"),
        ({"texts": ["a"] * 6}, 413, "text holds 6 samples, more than 5"),
        ({"texts": None}, 400, "got `null`"),
    ],
)
def test_texts_that_cannot_be_answered(make_client, body, status, reason):
    answer = make_client(limits=Limits(rows=5)).post("/predict", json=body)
    assert (answer.status_code, reason in answer.json()["error"]) == (status, True), answer.text


def test_half_a_character_is_refused(make_client):
    body = b'{"texts": ["half \\ud800"]}'
    answer = make_client().post("/predict", content=body)
    assert answer.status_code == 400, answer.text


def test_a_tensor_of_numbers_is_no_text(make_client):
    part = {"name": "text", "shape": [1], "datatype": "FP32", "data": [1.0]}
    answer = make_client().post(INFER, json={"inputs": [part]})
    assert (answer.status_code, "of type BYTES" in answer.json()["error"]) == (400, True)
    picture = {"name": "image", "shape": [1], "datatype": "BYTES", "data": ["x"]}
    answer = make_client().post(INFER, json={"inputs": [picture]})
    assert "takes one input, features or text; got image" in answer.json()["error"]


def test_a_class_is_put_by_a_sentence(make_client):
    client = make_client()
    assert client.get(CLASSES).json()["text_encoder"] == "letters"
    answer = client.put(f"{CLASSES}/top_up", json={"text": "adding funds"})
    assert (answer.status_code, answer.json()["created"]) == (201, True)
    by_hand = Signatures.from_texts({"top_up": "adding funds"}, letter_encoder())["top_up"]
    found = client.get(f"{CLASSES}/top_up").json()["vector"]
    assert_allclose(list(found.values()), by_hand, atol=1e-9)
    asked = {"texts": "top up adding funds", "candidates": ["top_up", "PIN"]}
    assert client.post("/predict", json=asked).json()["answers"][0]["class"] == "top_up"


def test_a_model_of_features_takes_no_texts(tmp_path):
    table = Signatures(["a", "b"], np.eye(2))
    fitted = SAEClassifier(table, lam=1.0).fit(np.eye(2), ["a", "b"])
    save(fitted, tmp_path / "made.zsl")
    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    client = TestClient(app, base_url="http://localhost")
    answer = client.post("/predict", json={"texts": ["a"]})
    assert answer.status_code == 400
    assert "made was not trained on texts; send it features" in answer.json()["error"]
