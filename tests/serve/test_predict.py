import io

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from starlette.testclient import TestClient

from zslearn.encoders import ImageEncoder, remember_encoder
from zslearn.persistence import load, save
from zslearn.serve import Limits, ServerSettings, create_app
from zslearn.signatures import Signatures
from zslearn.zero_shot import PrototypeRegression, SAEClassifier

Image = pytest.importorskip("PIL.Image", reason="the extra images is not installed")


def ask(client, **fields):
    return client.post("/predict", json=fields).json()


def test_rows_are_answered_in_words(client, classifier, rows):
    answer = ask(client, rows=rows.tolist())
    assert answer["model"] == "made"
    assert [one["class"] for one in answer["answers"]] == classifier.predict(rows).tolist()
    assert all(set(one) == {"class", "score", "probability"} for one in answer["answers"])
    best = classifier.decision_function(rows).max(axis=1)
    assert np.allclose([one["score"] for one in answer["answers"]], best, atol=1e-6)


def named_client(tmp_path, data, make=SAEClassifier, **parameters):
    """A classifier whose dimensions have names, and a client of its server."""
    table = data.signatures
    table = Signatures(table.names, table.vectors, ["fur", "tail", "swims", "stripes", "big"])
    seen = data.rows(data.split("standard").seen)
    classifier = make(table, **parameters).fit(data.X[seen], data.y[seen])
    save(classifier, tmp_path / "made.zsl")
    app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
    return classifier, TestClient(app, base_url="http://localhost")


def test_a_pipeline_inside_a_pipeline_is_served(tmp_path, data, rows):
    def make(table):
        inner = make_pipeline(PCA(6), SAEClassifier(table, lam=1.0))
        return make_pipeline(StandardScaler(), inner)

    _, client = named_client(tmp_path, data, make)
    whole = load(tmp_path / "made.zsl")
    answers = ask(client, rows=rows.tolist())["answers"]
    assert [one["class"] for one in answers] == whole.predict(rows).tolist()


def test_a_single_row_is_explained(tmp_path, data, rows):
    classifier, client = named_client(tmp_path, data, lam=1.0)
    [answer] = ask(client, rows=rows[0].tolist())["answers"]
    reason = classifier.explain(rows[0], answer["class"])
    parts = dict(zip(reason.dimensions, reason.contributions.tolist(), strict=True))
    vector = dict(zip(reason.dimensions, classifier.signatures_[answer["class"]], strict=True))
    because = answer["because"]
    assert [one["adds"] for one in because] == pytest.approx(
        [parts[one["trait"]] for one in because], abs=1e-6
    )
    assert max(parts, key=parts.get) == because[0]["trait"]
    # What a score s·z begins from is the class of zeros.
    for one in because:
        assert one["direction"] == ("has" if vector[one["trait"]] > 0 else "lacks")
    several = ask(client, rows=rows.tolist(), explain=True)["answers"]
    assert all("because" in one for one in several)


def test_what_a_class_lacks_speaks_for_it_by_its_absence(tmp_path, data):
    classifier, client = named_client(tmp_path, data, PrototypeRegression)
    table = classifier.signatures_.normalized("l2")
    mean = table.subset(classifier.seen_classes_.tolist()).vectors.mean(axis=0)
    found = set()
    for answer in ask(client, rows=data.X.tolist(), explain=True)["answers"]:
        low = dict(zip(table.dimensions, table[answer["class"]] < mean, strict=True))
        for one in answer["because"]:
            assert one["direction"] == ("lacks" if low[one["trait"]] else "has")
            found.add(one["direction"])
    assert found == {"has", "lacks"}


def test_numbers_of_an_encoder_are_no_reasons(tmp_path, data):
    table = data.signatures
    for names, wanted in (
        ([f"minilm{i}" for i in range(5)], None),
        (["stripes", "minilm0", "minilm1", "minilm2", "minilm3"], {"stripes"}),
    ):
        numbered = Signatures(table.names, table.vectors, names)
        save(SAEClassifier(numbered, lam=1.0).fit(data.X, data.y), tmp_path / "made.zsl")
        app = create_app(ServerSettings({"made": tmp_path / "made.zsl"}))
        client = TestClient(app, base_url="http://localhost")
        answers = ask(client, rows=data.X.tolist(), explain=True)["answers"]
        found = {one["trait"] for answer in answers for one in answer.get("because", ())}
        assert found == (wanted or set())
        assert wanted or all("because" not in answer for answer in answers)


def test_several_answers_are_best_first(client, classifier, rows):
    answers = ask(client, rows=rows.tolist(), top_k=3, candidates="unseen")["answers"]
    wanted = classifier.predict_top_k(rows, 3, candidates="unseen").tolist()
    assert [[item["class"] for item in one["best"]] for one in answers] == wanted
    assert all(one["class"] == one["best"][0]["class"] for one in answers)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"rows": []}',
        b'{"rows": [[]]}',
        b'{"rows": [["a"]]}',
        b'{"rows": [[1, 2], [3]]}',
        b'{"rows": [[[1]]]}',
        b'{"rows": [[1, 2]]}',
        b'{"rows": {"a": 1}}',
        b'{"row": [[1]]}',
        b'{"rows": [[1]], "model": 7}',
        b'{"rows": [[1]], "top_k": -1}',
        b"\xff\xd8\xff picture for a model of rows",
    ],
)
def test_wrong_rows_are_refused_in_one_line(client, content):
    response = client.post("/predict", content=content)
    assert response.status_code == 400
    assert list(response.json()) == ["error"]


def test_pictures_for_a_model_of_rows_are_refused_by_name(client):
    response = client.post("/predict", files={"image": b"anything"})
    assert response.json()["error"] == ("made was not trained on pictures; send it features.")


def test_one_of_several_models_must_be_named(model_file, rows):
    app = create_app(ServerSettings({"a": model_file, "b": model_file}))
    client = TestClient(app, base_url="http://localhost")
    assert client.post("/predict", json={"rows": rows.tolist()}).status_code == 400
    assert ask(client, rows=rows.tolist(), model="b")["model"] == "b"
    named = client.post("/predict?model=a", json={"rows": rows.tolist()})
    assert named.json()["model"] == "a"
    assert client.post("/predict?model=c", json={"rows": rows.tolist()}).status_code == 404


@pytest.fixture(scope="module")
def picture_model(tmp_path_factory):
    """A model of pictures, its encoder, and three pictures as files."""
    encoder = ImageEncoder("efficientnet-lite0")
    rng = np.random.default_rng(0)
    pixels = [rng.integers(0, 256, (48, 64, 3), dtype=np.uint8) // (i + 1) for i in range(3)]
    X = np.repeat(encoder.transform(pixels), 2, axis=0)
    model = SAEClassifier(lam=1.0).fit(X, np.repeat(["light", "gray", "dark"], 2))
    remember_encoder(model, encoder.identity)
    path = tmp_path_factory.mktemp("pictures") / "pictures.zsl"
    save(model, path)
    return path, model, [encoded(one, "PNG") for one in pixels], encoder.transform(pixels)


def encoded(pixels, kind):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def picture_client(path, **limits):
    app = create_app(ServerSettings({"pictures": path}, limits=Limits(**limits)))
    return TestClient(app, base_url="http://localhost")


def test_pictures_are_answered_in_every_form(picture_model):
    path, model, files, X = picture_model
    wanted = model.predict(X).tolist()
    client = picture_client(path)
    assert [one["name"] for one in client.get("/v2/models/pictures").json()["inputs"]] == [
        "features",
        "image",
    ]
    form = [("image", (f"{i}.png", content)) for i, content in enumerate(files)]
    answer = client.post("/predict", files=form, data={"top_k": "1"}).json()
    assert [one["class"] for one in answer["answers"]] == wanted
    single = client.post("/predict", content=files[1]).json()
    assert single["answers"][0]["class"] == wanted[1]
    raw = b"".join(len(content).to_bytes(4, "little") + content for content in files)
    part = {"name": "image", "shape": [3], "datatype": "BYTES"}
    import json

    text = json.dumps({"inputs": [part | {"parameters": {"binary_data_size": len(raw)}}]}).encode()
    headers = {"inference-header-content-length": str(len(text))}
    infer = client.post("/v2/models/pictures/infer", content=text + raw, headers=headers)
    assert infer.json()["outputs"][0]["data"] == wanted


def test_wrong_pictures_are_refused(picture_model):
    path, _, files, _ = picture_model
    client = picture_client(path, pixels=64 * 48)
    gif = encoded(np.zeros((4, 4, 3), np.uint8), "GIF")
    large = encoded(np.zeros((65, 48, 3), np.uint8), "PNG")
    for content in (gif, large, files[0][:100], b"", b"\x89PNG\r\n\x1a\n" + bytes(50)):
        response = client.post("/predict", files={"image": content})
        assert (response.status_code, list(response.json())) == (400, ["error"]), response.text
    assert client.post("/predict", files={"image": files[0]}).status_code == 200
    for wrong in (
        {"content-type": "multipart/form-data"},
        {"content-type": "multipart/form-data; boundary=x"},
    ):
        assert client.post("/predict", content=b"--y\r\n", headers=wrong).status_code == 400
