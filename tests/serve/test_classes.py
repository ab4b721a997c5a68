import json

import numpy as np
import pytest

from zslearn.encoders import TextEncoder
from zslearn.persistence import save
from zslearn.serve import Limits, ServerSettings, create_app
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

CLASSES = "/v2/models/made/classes"


def predicted(client, rows, **parameters):
    """The class of each row, by the protocol."""
    part = {"name": "features", "shape": list(rows.shape), "datatype": "FP32"}
    body = {"inputs": [part | {"data": rows.ravel().tolist()}], "parameters": parameters}
    return client.post("/v2/models/made/infer", json=body).json()["outputs"][0]["data"]


def names(client):
    return [one["name"] for one in client.get(CLASSES).json()["classes"]]


def test_classes_are_listed_with_their_signatures(client, classifier):
    answer = client.get(CLASSES).json()
    assert [one["name"] for one in answer["classes"]] == classifier.classes_.tolist()
    seen = [one["name"] for one in answer["classes"] if one["seen"]]
    assert sorted(seen) == sorted(classifier.seen_classes_.tolist())
    one = client.get(f"{CLASSES}/seen3").json()
    assert list(one["vector"]) == answer["dimensions"]
    assert list(one["vector"].values()) == classifier.signatures_["seen3"].tolist()
    assert client.get(f"{CLASSES}/sen3").status_code == 404


def test_a_new_class_is_answered_at_once_and_after_a_restart(make_client, classifier, rows):
    client = make_client()
    before = predicted(client, rows)
    vector = classifier.signatures_[before[0]] * 2  # the same direction wins or ties
    shown = {"vector": (vector + 1e-3).tolist()}
    assert client.put(f"{CLASSES}/new", json=shown).json() == {
        "name": "new",
        "created": True,
        "n_classes": len(classifier.classes_) + 1,
    }
    expected = classifier.recognizer().replace("new", vector + 1e-3)
    for one in (client, make_client()):
        assert predicted(one, rows) == expected.rank(rows, 1).names[:, 0].tolist()
        assert predicted(one, rows, candidates=["new"]) == ["new"] * 4


def test_the_model_file_is_never_touched(client, model_file):
    content = model_file.read_bytes()
    client.put(f"{CLASSES}/new", json={"like": "seen0", "changes": {}})
    client.delete(f"{CLASSES}/seen1")
    assert model_file.read_bytes() == content
    assert model_file.with_name("made.zsl.classes").is_file()


def test_like_another_class_but(client, data):
    dimension = data.signatures.dimensions[2]
    body = {"like": "seen0", "changes": {dimension: 0.5}}
    assert client.put(f"{CLASSES}/new", json=body).status_code == 201
    wanted = data.signatures.like("seen0", {dimension: 0.5}, name="new").vectors[0]
    assert list(client.get(f"{CLASSES}/new").json()["vector"].values()) == wanted.tolist()
    chained = {"like": "new", "changes": {data.signatures.dimensions[0]: 1}}
    assert client.put(f"{CLASSES}/newer", json=chained).status_code == 201


def test_a_vector_by_names_and_a_second_put(client, data):
    vector = dict(zip(data.signatures.dimensions, [1, 2, 3, 4, 5], strict=True))
    assert client.put(f"{CLASSES}/new", json={"vector": vector}).status_code == 201
    response = client.put(f"{CLASSES}/new", json={"vector": [5, 4, 3, 2, 1]})
    assert (response.status_code, response.json()["created"]) == (200, False)
    assert list(client.get(f"{CLASSES}/new").json()["vector"].values()) == [5, 4, 3, 2, 1]


def test_a_removed_class_is_never_answered(make_client, rows):
    client = make_client()
    best = predicted(client, rows)[0]
    assert client.delete(f"{CLASSES}/{best}").status_code == 204
    assert client.delete(f"{CLASSES}/{best}").status_code == 404
    for one in (client, make_client()):
        assert best not in names(one)
        assert best not in predicted(one, rows)


def test_the_order_of_classes_survives_a_restart(make_client):
    client = make_client()
    for name in ("b", "a"):
        client.put(f"{CLASSES}/{name}", json={"like": "seen0"})
    client.delete(f"{CLASSES}/seen1")
    client.put(f"{CLASSES}/seen1", json={"like": "seen0"})
    client.put(f"{CLASSES}/seen2", json={"like": "seen0"})
    client.delete(f"{CLASSES}/b")
    assert names(client)[-2:] == ["a", "seen1"]
    assert names(make_client()) == names(client)


def test_servers_of_one_model_see_the_changes_of_each_other(make_client, rows):
    one, two = make_client(), make_client()
    for i in range(3):
        one.put(f"{CLASSES}/one{i}", json={"like": "seen0"})
        two.put(f"{CLASSES}/two{i}", json={"like": "seen0"})
        assert names(one) == names(two)
    one.delete(f"{CLASSES}/two1")
    assert "two1" not in names(two)
    assert predicted(two, rows, candidates=["one2"]) == ["one2"] * 4


def test_names_may_hold_anything_printable(make_client):
    client = make_client()
    odd = ["polar bear", "a/b", "zebra+", "ÄÖ 斑馬", "50%", "x" * 200, "classes"]
    for name in odd:
        path = "".join(f"%{byte:02X}" for byte in name.encode())
        assert client.put(f"{CLASSES}/{path}", json={"like": "seen0"}).status_code == 201
    assert names(make_client())[-len(odd) :] == odd


GOOD = [1.0] * 5


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        json.dumps({"vector": GOOD, "like": "seen0"}).encode(),
        json.dumps({"vector": GOOD, "changes": {}}).encode(),
        json.dumps({"vector": GOOD[:4]}).encode(),
        json.dumps({"vector": [*GOOD, 1.0]}).encode(),
        json.dumps({"vector": [*GOOD[:4], "1"]}).encode(),
        json.dumps({"vector": [*GOOD[:4], True]}).encode(),
        json.dumps({"vector": [*GOOD[:4], None]}).encode(),
        json.dumps({"vector": {"no": 1, "such": 2, "names": 3, "in": 4, "it": 5}}).encode(),
        json.dumps({"vector": 7}).encode(),
        json.dumps({"vector": [0.0] * 5}).encode(),
        json.dumps({"like": "sen0"}).encode(),
        json.dumps({"like": 3}).encode(),
        json.dumps({"like": "seen0", "changes": {"wings": 1}}).encode(),
        json.dumps({"like": "seen0", "changes": [1]}).encode(),
        json.dumps({"text": "a horse with stripes"}).encode(),
    ],
)
def test_a_wrong_signature_is_refused_and_changes_nothing(client, body):
    response = client.put(f"{CLASSES}/new", content=body)
    assert response.status_code == 400, response.text
    assert list(response.json()) == ["error"]
    assert "new" not in names(client)


@pytest.mark.parametrize("name", ["%20x", "x%1B", "%00", "y" * 201])
def test_a_wrong_name_is_refused(client, name):
    assert client.put(f"{CLASSES}/{name}", json={"like": "seen0"}).status_code == 400


def test_the_last_class_stays(client):
    for name in names(client)[1:]:
        assert client.delete(f"{CLASSES}/{name}").status_code == 204
    assert client.delete(f"{CLASSES}/{names(client)[0]}").status_code == 400


def test_read_only_forbids_changes_but_keeps_earlier_ones(make_client):
    make_client().put(f"{CLASSES}/new", json={"like": "seen0"})
    client = make_client(read_only=True)
    assert client.put(f"{CLASSES}/newer", json={"like": "seen0"}).status_code == 403
    assert client.delete(f"{CLASSES}/new").status_code == 403
    assert "new" in names(client)


def test_the_number_of_new_classes_is_bounded(make_client):
    client = make_client(limits=Limits(classes=1))
    assert client.put(f"{CLASSES}/a", json={"like": "seen0"}).status_code == 201
    assert client.put(f"{CLASSES}/a", json={"like": "seen1"}).status_code == 200
    response = client.put(f"{CLASSES}/b", json={"like": "seen0"})
    assert (response.status_code, "limit" in response.json()["error"]) == (400, True)


def test_changes_can_be_kept_in_another_folder(make_client, tmp_path, model_file):
    folder = tmp_path / "changes"
    folder.mkdir()
    client = make_client(classes_folder=folder)
    assert client.put(f"{CLASSES}/new", json={"like": "seen0"}).status_code == 201
    assert {path.name for path in folder.iterdir()} >= {"made.classes"}
    assert not model_file.with_name("made.zsl.classes").exists()
    assert "new" in names(make_client(classes_folder=folder))
    assert "new" not in names(make_client())


def test_a_change_that_cannot_be_written_is_not_made(make_client, tmp_path):
    client = make_client(classes_folder=tmp_path / "missing")
    response = client.put(f"{CLASSES}/new", json={"like": "seen0"})
    assert response.status_code == 503
    assert str(tmp_path) not in response.text
    assert "new" not in names(client)


def test_classes_in_whole_numbers(tmp_path, data):
    table = Signatures(np.arange(11), data.signatures.vectors)
    numbers = np.unique(data.y, return_inverse=True)[1]
    save(SAEClassifier(table, lam=1.0).fit(data.X, numbers), tmp_path / "made.zsl")
    from starlette.testclient import TestClient

    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    client = TestClient(app, base_url="http://localhost")
    assert client.put(f"{CLASSES}/11", json={"like": 3}).status_code == 201
    assert client.put(f"{CLASSES}/twelve", json={"like": 3}).status_code == 400
    assert names(client)[-1] == 11
    assert client.delete(f"{CLASSES}/3").status_code == 204


def test_words_make_a_class_where_words_made_the_others(tmp_path, rows):
    from starlette.testclient import TestClient

    encoder = TextEncoder()
    texts = {"cat": "a small pet that meows", "ship": "a large boat", "zebra": "a striped horse"}
    table = Signatures.from_texts(texts, encoder)
    X = np.random.default_rng(0).normal(size=(12, 10))
    y = np.repeat(["cat", "ship", "zebra"], 4)
    save(SAEClassifier(table, lam=1.0).fit(X, y), tmp_path / "made.zsl")
    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    client = TestClient(app, base_url="http://localhost")
    assert client.get(CLASSES).json()["text_encoder"] == "minilm"
    body = {"text": ["a big sea animal", "it spouts water"]}
    assert client.put(f"{CLASSES}/whale", json=body).status_code == 201
    wanted = Signatures.from_texts({"whale": body["text"]}, encoder).vectors[0]
    found = list(client.get(f"{CLASSES}/whale").json()["vector"].values())
    assert np.allclose(found, wanted, atol=1e-9)
    for text in ("", [], 7, ["x" * 10_001]):
        assert client.put(f"{CLASSES}/bad", json={"text": text}).status_code == 400


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("hf", "of the kind 'hf', and the model file does not say which"),
        ("open_clip", "of the kind 'open_clip'"),
        ("attribute", "were not made by a text encoder"),
    ],
)
def test_words_are_refused_with_the_reason_where_the_encoder_is_not_known(tmp_path, kind, reason):
    from starlette.testclient import TestClient

    rng = np.random.default_rng(0)
    table = Signatures(["a", "b", "c"], rng.normal(size=(3, 4)), [f"{kind}{i}" for i in range(4)])
    fitted = SAEClassifier(table, lam=1.0).fit(rng.normal(size=(9, 10)), np.repeat(table.names, 3))
    save(fitted, tmp_path / "made.zsl")
    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    answer = TestClient(app, base_url="http://localhost").put(f"{CLASSES}/new", json={"text": "d"})
    assert answer.status_code == 400
    assert reason in answer.json()["error"]
