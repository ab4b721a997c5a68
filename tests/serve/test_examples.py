"""Examples of classes at run time: on the disk before they are answered, taken back by DELETE."""

import io
import json

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.encoders.tiny_text import letter_encoder
from zslearn.encoders import ImageEncoder, remember_encoder
from zslearn.encoders.pictures import decode_rgb
from zslearn.persistence import load, save
from zslearn.serve import Limits, ServerSettings, create_app
from zslearn.zero_shot import PrototypeRegression

CLASSES = "/v2/models/made/classes"


@pytest.fixture
def taught_file(tmp_path, teachable):
    save(teachable, tmp_path / "made.zsl")
    return tmp_path / "made.zsl"


@pytest.fixture
def make_taught(taught_file):
    def make(**settings):
        app = create_app(ServerSettings({"made": taught_file}, **settings))
        return TestClient(app, base_url="http://localhost")

    return make


def scores(client, X):
    part = {"name": "features", "shape": list(X.shape), "datatype": "FP64"}
    body = {"inputs": [part | {"data": X.ravel().tolist()}], "outputs": [{"name": "scores"}]}
    found = client.post("/v2/models/made/infer", json=body).json()["outputs"][0]
    return np.array(found["data"]).reshape(found["shape"])


def names(client):
    return [one["name"] for one in client.get(CLASSES).json()["classes"]]


@pytest.fixture
def X(data):
    """Samples whose float32 values are exact."""
    return data.X.astype(np.float32).astype(np.float64)


def test_examples_move_a_class_as_partial_fit_does_and_survive_a_restart(
    make_taught, teachable, data, X, taught_file
):
    client = make_taught()
    before = scores(client, X)
    rows = data.rows(["unseen0"])[:3]
    answer = client.post(f"{CLASSES}/unseen0/examples", json={"rows": X[rows].tolist()})
    assert answer.status_code == 200
    assert answer.json() == {
        "name": "unseen0",
        "created": False,
        "added": 3,
        "examples": 3,
        "description_counts_as": pytest.approx(teachable.kappa_),
        "n_classes": len(teachable.classes_),
    }
    twin = load(taught_file).partial_fit(X[rows], np.repeat("unseen0", 3))
    wanted = twin.recognizer().scores(X)
    assert not np.allclose(before, wanted)
    for one in (client, make_taught()):
        np.testing.assert_allclose(scores(one, X), wanted, rtol=1e-6)  # float32, as encoders give
        assert one.get(f"{CLASSES}/unseen0").json()["examples"] == 3


def test_delete_takes_examples_back(make_taught, data, X):
    client = make_taught()
    before = scores(client, X)
    rows = X[data.rows(["unseen0"])[:2]].tolist()
    client.post(f"{CLASSES}/unseen0/examples", json={"rows": rows})
    client.post(f"{CLASSES}/seen1/examples", json={"rows": rows[0]})
    assert client.delete(f"{CLASSES}/unseen0/examples").status_code == 204
    assert client.delete(f"{CLASSES}/unseen0/examples").status_code == 404
    assert client.delete(f"{CLASSES}/seen1/examples").status_code == 204
    for one in (client, make_taught()):
        np.testing.assert_allclose(scores(one, X), before, rtol=1e-12)
        assert not any(c["examples"] or c["changed"] for c in one.get(CLASSES).json()["classes"])


def test_a_class_may_be_known_by_its_examples_alone(make_taught, data, X, taught_file):
    client = make_taught()
    rows = X[data.rows(["unseen1"])]
    assert client.delete(f"{CLASSES}/unseen1").status_code == 204
    answer = client.post(f"{CLASSES}/stranger/examples", json={"rows": rows[:4].tolist()})
    assert (answer.status_code, answer.json()["created"]) == (201, True)
    for one in (client, make_taught()):
        best = one.post("/predict", json={"rows": rows[4:].tolist()}).json()["answers"]
        assert [a["class"] for a in best] == ["stranger"] * len(rows[4:])
    # A description that comes later joins them; without both the class is gone.
    twin = load(taught_file)
    vector = twin.signatures_["seen0"] + 1
    client.put(f"{CLASSES}/stranger", json={"vector": vector.tolist()})
    assert client.get(f"{CLASSES}/stranger").json()["examples"] == 4
    table = twin.signatures_.drop(["unseen1"]).append({"stranger": vector})
    wanted = twin.with_signatures(table).partial_fit(rows[:4], ["stranger"] * 4)
    np.testing.assert_allclose(
        scores(client, rows), wanted.recognizer(names(client)).scores(rows), rtol=1e-6
    )
    client.delete(f"{CLASSES}/stranger/examples")
    assert "stranger" in names(client)
    client.delete(f"{CLASSES}/stranger")
    assert "stranger" not in names(client)
    client.post(f"{CLASSES}/stranger/examples", json={"rows": rows[:1].tolist()})
    client.delete(f"{CLASSES}/stranger/examples")
    assert "stranger" not in names(client)


def test_classes_and_examples_change_together(make_taught, data, X):
    client, other = make_taught(), make_taught()
    row = X[:1].tolist()
    client.post(f"{CLASSES}/unseen0/examples", json={"rows": row})
    other.put(f"{CLASSES}/new", json={"like": "seen0", "changes": {"fur": 0.25}})
    client.delete(f"{CLASSES}/seen2")
    other.post(f"{CLASSES}/new/examples", json={"rows": row})
    for one in (client, other, make_taught()):
        assert names(one)[-1] == "new"
        assert "seen2" not in names(one)
        counts = {c["name"]: c["examples"] for c in one.get(CLASSES).json()["classes"]}
        assert (counts["unseen0"], counts["new"]) == (1, 1)
        np.testing.assert_allclose(scores(one, X), scores(client, X), rtol=1e-12)
    client.delete(f"{CLASSES}/new")
    client.put(f"{CLASSES}/new", json={"like": "seen0"})
    assert client.get(f"{CLASSES}/new").json()["examples"] == 0


def test_a_model_that_cannot_learn_says_so(client):
    answer = client.post(f"{CLASSES}/seen0/examples", json={"rows": [[0.0] * 10]})
    assert answer.status_code == 400
    assert "SAEClassifier, which learns nothing from single examples" in answer.json()["error"]
    assert client.get(CLASSES).json()["description_counts_as"] is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"rows": []}',
        b'{"rows": [[1, 2]]}',
        b'{"rows": ["x"]}',
        b'{"rows": [[0.5]], "x": 1}',
        b'{"texts": ["a"]}',
        b"\x89PNG\r\n\x1a\n",
        json.dumps({"rows": [[float("1e400")] * 10]}).encode(),
        json.dumps({"rows": [[0.0] * 10]}).encode(),
        json.dumps({"rows": [[0.5] * 10], "texts": ["a"]}).encode(),
    ],
)
def test_wrong_examples_are_refused_and_change_nothing(make_taught, X, body):
    client = make_taught()
    before = scores(client, X)
    answer = client.post(f"{CLASSES}/unseen0/examples", content=body)
    assert answer.status_code == 400, answer.text
    assert list(answer.json()) == ["error"]
    for one in (client, make_taught()):
        np.testing.assert_array_equal(scores(one, X), before)


def test_examples_are_bounded_and_a_read_only_server_takes_none(make_taught, X):
    client = make_taught(limits=Limits(examples=2))
    rows = {"rows": X[:2].tolist()}
    assert client.post(f"{CLASSES}/seen0/examples", json=rows).status_code == 200
    answer = client.post(f"{CLASSES}/seen1/examples", json=rows)
    assert (answer.status_code, "limit" in answer.json()["error"]) == (400, True)
    reader = make_taught(read_only=True)
    assert reader.post(f"{CLASSES}/seen0/examples", json=rows).status_code == 403
    assert reader.delete(f"{CLASSES}/seen0/examples").status_code == 403
    assert reader.get(f"{CLASSES}/seen0").json()["examples"] == 2


def test_examples_of_another_encoder_are_refused_with_the_model(make_taught, X, data, taught_file):
    client = make_taught()
    client.post(f"{CLASSES}/seen0/examples", json={"rows": X[:2].tolist()})
    model = load(taught_file)
    remember_encoder(model, ImageEncoder().identity)
    save(model, taught_file)
    with pytest.raises(ValueError, match="examples were added of other features than the model"):
        make_taught()


def test_no_name_of_a_class_hides_the_address_of_examples(make_taught):
    answer = make_taught().put(f"{CLASSES}/a%2Fexamples", json={"like": "seen0"})
    assert answer.status_code in (400, 405)
    assert list(answer.json()) == ["error"]


def test_texts_and_pictures_are_examples(tmp_path):
    rng = np.random.default_rng(0)
    words = ["abba", "baba", "cddc", "dcdc", "effe", "fefe"] * 4
    encoder = letter_encoder()
    y = np.repeat([f"k{i}" for i in range(3)], 2).tolist() * 4
    table = {name: rng.normal(size=4) for name in ("k0", "k1", "k2", "k3")}
    X = encoder.transform(words)
    model = PrototypeRegression(table, n_repeats=1, prior=None).fit(X, y)
    remember_encoder(model, encoder.identity)
    save(model, tmp_path / "made.zsl")
    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    client = TestClient(app, base_url="http://localhost")
    answer = client.post(f"{CLASSES}/k3/examples", json={"texts": ["gghh", "hghg"]})
    assert (answer.status_code, answer.json()["examples"]) == (200, 2)
    assert client.post("/predict", json={"texts": ["hhgg"]}).json()["answers"][0]["class"] == "k3"


def test_a_photograph_is_an_example(tmp_path):
    from PIL import Image

    def photograph(color):
        file = io.BytesIO()
        noise = np.random.default_rng(sum(color)).integers(-20, 20, (64, 64, 3))
        pixels = np.clip(np.array(color) + noise, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(file, "JPEG")
        return file.getvalue()

    encoder = ImageEncoder("efficientnet-lite0")
    colors = {"red": (200, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 200)}

    X = encoder.transform(
        [
            decode_rgb(photograph(tuple(np.add(c, i))), "x")
            for c in colors.values()
            for i in range(4)
        ]
    )
    table = {name: np.array(c) / 255 for name, c in colors.items()} | {"gray": np.full(3, 0.5)}
    model = PrototypeRegression(table, n_repeats=1).fit(X, np.repeat(list(colors), 4))
    remember_encoder(model, encoder.identity)
    save(model, tmp_path / "made.zsl")
    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    client = TestClient(app, base_url="http://localhost")
    gray = [photograph((128 + i, 128, 128)) for i in range(3)]
    address = f"{CLASSES}/gray/examples"
    assert client.post(address, content=gray[0]).json()["examples"] == 1
    files = [("image", ("b.jpg", gray[1])), ("image", ("c.jpg", gray[2]))]
    assert client.post(address, files=files).json()["examples"] == 3
    # Not even colors: it was never described nor photographed before.
    assert client.post("/predict", content=gray[0]).json()["answers"][0]["class"] == "gray"


def test_words_of_the_table_describe_a_class(make_taught, teachable):
    client = make_taught()
    text = "like seen1, with a tail, no wings, that eats meat and barks"
    answer = client.put(f"{CLASSES}/new", json={"text": text}).json()
    assert answer["understood"] == ["like seen1", "tail", "not wings", "eats meat"]
    assert answer["not_understood"] == ["barks"]
    assert answer["suggestions"] == {}
    table = teachable.signatures_
    known = table.rows(teachable.seen_classes_)
    row = table["seen1"].copy()
    row[1], row[2], row[3] = known[:, 1].max(), known[:, 2].min(), known[:, 3].max()
    assert list(client.get(f"{CLASSES}/new").json()["vector"].values()) == row.tolist()
    refused = client.put(f"{CLASSES}/other", json={"text": "a furr"})
    assert refused.status_code == 400
    assert "furr (is that 'fur'?)" in refused.json()["error"]
    assert "other" not in names(client)
