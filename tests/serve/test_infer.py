import gzip
import json
import zlib

import numpy as np
import pytest


def tensor(X, **parameters):
    """The input `features` with its values in JSON."""
    part = {"name": "features", "shape": list(X.shape), "datatype": "FP32"}
    part["data"] = X.ravel().tolist()
    return part | ({"parameters": parameters} if parameters else {})


def binary_body(X, outputs=(), **parameters):
    """A request with the samples behind the JSON, as tritonclient sends it."""
    raw = X.tobytes()
    part = {"name": "features", "shape": list(X.shape), "datatype": "FP32"}
    part["parameters"] = {"binary_data_size": len(raw)}
    document = {"inputs": [part], "outputs": list(outputs), "parameters": parameters}
    text = json.dumps(document).encode()
    return text + raw, {"inference-header-content-length": str(len(text))}


def read_binary(response):
    """The outputs of an answer with raw tensors."""
    length = int(response.headers["inference-header-content-length"])
    document, raw = json.loads(response.content[:length]), response.content[length:]
    arrays = {}
    for output in document["outputs"]:
        size = output["parameters"]["binary_data_size"]
        arrays[output["name"]], raw = raw[:size], raw[size:]
    assert raw == b""
    return arrays


def ask(client, X, outputs=(), **parameters):
    """The outputs of a JSON request by name, as arrays."""
    body = {"inputs": [tensor(X)], "outputs": [{"name": name} for name in outputs]}
    response = client.post("/v2/models/made/infer", json=body | {"parameters": parameters})
    assert response.status_code == 200, response.text
    return {
        one["name"]: np.array(one["data"]).reshape(one["shape"])
        for one in response.json()["outputs"]
    }


def test_json_samples_get_the_answers_of_the_classifier(client, classifier, rows):
    found = ask(client, rows, ["predict", "scores", "probabilities", "classes"])
    assert found["predict"].tolist() == classifier.predict(rows).tolist()
    assert np.allclose(found["scores"], classifier.decision_function(rows), atol=1e-6)
    assert np.allclose(found["probabilities"], classifier.predict_proba(rows), atol=1e-6)
    assert found["classes"].tolist() == classifier.classes_.tolist()


def test_the_answer_names_model_version_and_id(client, rows):
    body = {"id": "seven", "inputs": [tensor(rows)]}
    answer = client.post("/v2/models/made/versions/1/infer", json=body).json()
    assert {key: answer[key] for key in ("model_name", "model_version", "id")} == {
        "model_name": "made",
        "model_version": "1",
        "id": "seven",
    }
    assert [one["name"] for one in answer["outputs"]] == ["predict"]


def test_binary_samples_come_back_binary(client, classifier, rows):
    wanted = [{"name": name, "parameters": {"binary_data": True}} for name in ("scores", "predict")]
    content, headers = binary_body(rows, wanted)
    response = client.post("/v2/models/made/infer", content=content, headers=headers)
    assert response.headers["content-type"] == "application/octet-stream"
    found = read_binary(response)
    scores = np.frombuffer(found["scores"], np.float32).reshape(4, -1)
    assert np.array_equal(scores, classifier.decision_function(rows))
    first = classifier.predict(rows)[0].encode()
    assert found["predict"].startswith(len(first).to_bytes(4, "little") + first)


def test_binary_data_output_asks_for_raw_bytes_of_all_outputs(client, rows):
    content, headers = binary_body(rows, binary_data_output=True)
    response = client.post("/v2/models/made/infer", content=content, headers=headers)
    assert list(read_binary(response)) == ["predict"]


@pytest.mark.parametrize("kind", ["application/json", "application/octet-stream", "x", None])
def test_the_length_of_the_json_decides_and_not_the_content_type(client, rows, kind):
    content, headers = binary_body(rows)
    headers |= {} if kind is None else {"content-type": kind}
    response = client.post("/v2/models/made/infer", content=content, headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda content: zlib.compress(content, wbits=-15)),
    ],
    ids=["gzip", "deflate", "raw deflate"],
)
def test_bodies_are_decompressed_before_they_are_split(client, rows, encoding, compress):
    content, headers = binary_body(rows)
    headers |= {"content-encoding": encoding}
    response = client.post("/v2/models/made/infer", content=compress(content), headers=headers)
    assert response.status_code == 200


def test_classification_gives_score_index_and_name(client, classifier, rows):
    outputs = [{"name": "scores", "parameters": {"classification": 2}}]
    body = {"inputs": [tensor(rows)], "outputs": outputs}
    [output] = client.post("/v2/models/made/infer", json=body).json()["outputs"]
    assert (output["datatype"], output["shape"]) == ("BYTES", [4, 2])
    score, index, name = output["data"][0].split(":")
    assert name == classifier.predict(rows)[0] == classifier.classes_[int(index)]
    assert float(score) == pytest.approx(classifier.decision_function(rows)[0].max(), abs=1e-6)


def test_top_k_gives_names_with_their_scores_best_first(client, classifier, rows):
    found = ask(client, rows, ["predict", "scores", "probabilities"], top_k=3)
    assert found["predict"].tolist() == classifier.predict_top_k(rows, 3).tolist()
    every = classifier.decision_function(rows)
    assert np.allclose(found["scores"], -np.sort(-every, axis=1)[:, :3], atol=1e-6)
    likely = -np.sort(-classifier.predict_proba(rows), axis=1)[:, :3]
    assert np.allclose(found["probabilities"], likely, atol=1e-6)


@pytest.mark.parametrize("text", [False, True], ids=["list", "list as text"])
def test_candidates_limit_the_answers(client, classifier, rows, text):
    names = classifier.classes_[[5, 1]].tolist()
    given = json.dumps(names) if text else names
    found = ask(client, rows, ["predict", "scores", "classes"], candidates=given)
    assert found["classes"].tolist() == names
    assert np.allclose(found["scores"], classifier.decision_function(rows, names), atol=1e-6)
    assert found["predict"].tolist() == classifier.predict(rows, names).tolist()


@pytest.mark.parametrize("setting", ["seen", "unseen"])
def test_candidates_in_one_word(client, classifier, rows, setting):
    found = ask(client, rows, ["classes", "predict"], candidates=setting)
    assert found["classes"].tolist() == classifier.candidate_names(setting).tolist()
    assert found["predict"].tolist() == classifier.predict(rows, setting).tolist()


def test_a_bias_is_taken_from_the_scores_of_seen_classes(client, classifier, rows):
    found = ask(client, rows, ["predict", "scores"], bias=0.25)
    seen = np.isin(classifier.classes_, classifier.seen_classes_)
    scores = classifier.decision_function(rows) - 0.25 * seen
    assert np.allclose(found["scores"], scores, atol=1e-6)
    assert found["predict"].tolist() == classifier.classes_[scores.argmax(axis=1)].tolist()


def test_contributions_and_offsets_add_up_to_the_score(client, classifier, rows):
    names = ["contributions", "offsets", "dimensions", "scores"]
    found = ask(client, rows, names, bias=0.1)
    total = found["contributions"].sum(axis=1) + found["offsets"]
    assert np.allclose(total, found["scores"].max(axis=1), atol=1e-6)
    assert found["dimensions"].tolist() == list(classifier.signatures_.dimensions)


def test_attributes_are_the_encoded_samples(client, classifier, rows):
    found = ask(client, rows, ["attributes"])["attributes"]
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.allclose(found, unit @ classifier.coef_encode_.T, atol=1e-6)


def test_a_calibrated_model_rejects_and_gives_its_own_probabilities(tmp_path, data):
    from starlette.testclient import TestClient

    from zslearn.persistence import save
    from zslearn.serve import ServerSettings, create_app
    from zslearn.zero_shot import CalibratedStacking, SAEClassifier

    seen = data.rows(data.split("standard").seen)
    rows = data.X[::5].astype(np.float32)
    model = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0))
    model.fit(data.X[seen], data.y[seen])
    model.set_params(threshold=float(np.median(model.recognizer().confidence(rows))))
    model.fit(data.X[seen], data.y[seen])
    save(model, tmp_path / "made.zsl")
    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    client = TestClient(app, base_url="http://localhost")
    wanted = model.predict(rows, reject=True)
    rejected = model.recognizer().rejected(rows)
    assert 0 < rejected.sum() < len(rows)
    found = ask(client, rows, ["predict", "rejected", "confidence", "probabilities"], reject=True)
    assert found["predict"].tolist() == wanted.tolist()
    assert found["rejected"].tolist() == rejected.tolist()
    assert np.allclose(found["confidence"], model.recognizer().confidence(rows), atol=1e-6)
    assert np.allclose(found["probabilities"], model.predict_proba(rows), atol=1e-6)
    plain = client.post("/predict", json={"rows": rows.tolist(), "reject": True}).json()
    assert [one["rejected"] for one in plain["answers"]] == rejected.tolist()
    for parameters in ({"bias": 0.1}, {"top_k": 2}):
        body = {"inputs": [tensor(rows)], "parameters": {"reject": True} | parameters}
        assert client.post("/v2/models/made/infer", json=body).status_code == 400
