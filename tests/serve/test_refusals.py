import gzip
import json

import numpy as np
import pytest

from zslearn.serve import Limits

GOOD = {"name": "features", "shape": [1, 10], "datatype": "FP32", "data": [1.0] * 10}


def body(**changes):
    """A request with its input changed."""
    return {"inputs": [GOOD | changes]}


WRONG = {
    "no object": [],
    "no inputs": {},
    "inputs no list": {"inputs": 7},
    "input no object": {"inputs": [7]},
    "no name": {"inputs": [{"shape": [1], "datatype": "FP32", "data": [1]}]},
    "another name": body(name="x"),
    "twice": {"inputs": [GOOD, GOOD]},
    "shape no list": body(shape="1,10"),
    "shape negative": body(shape=[-1, 10]),
    "shape of fractions": body(shape=[1.0, 10]),
    "shape huge": body(shape=[2**40, 2**40]),
    "too few features": body(shape=[1, 9], data=[1.0] * 9),
    "one axis": body(shape=[10]),
    "three axes": body(shape=[1, 1, 10]),
    "no samples": body(shape=[0, 10], data=[]),
    "too few values": body(data=[1.0] * 9),
    "ragged": body(data=[[1.0] * 4, [1.0] * 6]),
    "texts": body(data=["1"] * 10),
    "null": body(data=[None] * 10),
    "no data": {"inputs": [{k: v for k, v in GOOD.items() if k != "data"}]},
    "type unknown": body(datatype="FP99"),
    "type no text": body(datatype=[1]),
    "type too small": body(datatype="UINT8", data=[300] * 10),
    "bytes": body(datatype="BYTES", data=["a"] * 10),
    "image for features": body(name="image", datatype="BYTES", data=["a"] * 10),
    "zeros": body(data=[0.0] * 10),
    "overflow": body(data=[1e39] * 10),
    "id no text": body() | {"id": 7},
    "parameters no object": body() | {"parameters": [1]},
    "outputs no list": body() | {"outputs": "scores"},
    "output unknown": body() | {"outputs": [{"name": "score"}]},
    "classification of names": body()
    | {"outputs": [{"name": "predict", "parameters": {"classification": 3}}]},
    "classification negative": body()
    | {"outputs": [{"name": "scores", "parameters": {"classification": -1}}]},
    "binary_data no flag": body()
    | {"outputs": [{"name": "scores", "parameters": {"binary_data": 1}}]},
    "unknown candidate": body() | {"parameters": {"candidates": ["unicorn"]}},
    "candidate twice": body() | {"parameters": {"candidates": ["seen0", "seen0"]}},
    "no candidates": body() | {"parameters": {"candidates": []}},
    "candidates a word": body() | {"parameters": {"candidates": "some"}},
    "top_k zero": body() | {"parameters": {"top_k": 0}},
    "top_k true": body() | {"parameters": {"top_k": True}},
    "bias text": body() | {"parameters": {"bias": "high"}},
    "reject": body() | {"parameters": {"reject": True}},
    "binary size without a body": body(parameters={"binary_data_size": 40}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_request_is_refused_in_one_line(client, name):
    response = client.post("/v2/models/made/infer", json=WRONG[name])
    assert response.status_code == 400, response.text
    assert response.headers["content-type"] == "application/json"
    assert list(response.json()) == ["error"]
    assert "\n" not in response.json()["error"]


@pytest.mark.parametrize("text", [b"", b"{", b'{"inputs": NaN}', b"\xff", b"[" * 5000])
def test_what_is_not_json_is_refused(client, text):
    response = client.post("/v2/models/made/infer", content=text)
    assert (response.status_code, "not JSON" in response.json()["error"]) == (400, True)


def test_messages_name_what_is_wrong(client):
    def error(**changes):
        return client.post("/v2/models/made/infer", json=body(**changes)).json()["error"]

    assert error(shape=[1, 9], data=[1.0] * 9) == (
        "features must have the shape [n, 10]; got [1, 9]."
    )
    assert error(name="x") == "made takes one input, features; got x."
    unknown = body() | {"parameters": {"candidates": ["sen0"]}}
    assert "by PUT" in client.post("/v2/models/made/infer", json=unknown).json()["error"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_finite_are_refused(client, value):
    raw = np.full(10, value, np.float32).tobytes()
    part = {"name": "features", "shape": [1, 10], "datatype": "FP32"}
    text = json.dumps({"inputs": [part | {"parameters": {"binary_data_size": 40}}]}).encode()
    headers = {"inference-header-content-length": str(len(text))}
    response = client.post("/v2/models/made/infer", content=text + raw, headers=headers)
    assert response.status_code == 400
    assert response.json()["error"].startswith("row 0 of X holds")


@pytest.mark.parametrize("length", ["9999", "-1", "ten", "", "1" * 30])
def test_a_wrong_length_of_the_json_is_refused(client, length):
    headers = {"inference-header-content-length": length}
    response = client.post("/v2/models/made/infer", content=b"{}", headers=headers)
    assert response.status_code == 400


@pytest.mark.parametrize(
    ("limits", "content", "headers"),
    [
        (Limits(body=100), b"x" * 101, {}),
        (Limits(decompressed=1000), gzip.compress(b" " * 1001), {"content-encoding": "gzip"}),
        (Limits(rows=1), json.dumps(body(shape=[2, 10], data=[1.0] * 20)).encode(), {}),
    ],
    ids=["body", "decompressed", "rows"],
)
def test_too_much_is_refused_with_413(make_client, limits, content, headers):
    response = make_client(limits=limits).post(
        "/v2/models/made/infer", content=content, headers=headers
    )
    assert response.status_code == 413


def test_as_many_rows_as_are_allowed_are_answered(make_client):
    two = body(shape=[2, 10], data=[1.0, -1.0] * 10)
    client = make_client(limits=Limits(rows=2))
    assert client.post("/v2/models/made/infer", json=two).status_code == 200


def test_a_body_without_a_length_is_bounded_too(make_client):
    client = make_client(limits=Limits(body=1000))
    sent = []

    def parts():
        for i in range(1000):
            sent.append(i)
            yield b"x" * 100

    assert client.post("/v2/models/made/infer", content=parts()).status_code == 413


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_what_is_not_compressed_is_refused(client, encoding):
    for content in (b"plain text", gzip.compress(b"{}")[:-4], gzip.compress(b"{}") * 2, b""):
        response = client.post(
            "/v2/models/made/infer", content=content, headers={"content-encoding": encoding}
        )
        assert response.status_code == 400


def test_an_unknown_compression_is_refused(client):
    response = client.post(
        "/v2/models/made/infer", content=b"{}", headers={"content-encoding": "br"}
    )
    assert response.status_code == 415


def test_an_answer_that_would_be_too_large_is_refused(make_client):
    client = make_client(limits=Limits(decompressed=2000))
    many = body(shape=[50, 10], data=[1.0] * 500) | {"outputs": [{"name": "scores"}]}
    response = client.post("/v2/models/made/infer", json=many)
    assert "more than the limit" in response.json()["error"]
    assert client.post("/v2/models/made/infer", json=many | {"outputs": []}).status_code == 200
