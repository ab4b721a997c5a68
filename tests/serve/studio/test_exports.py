"""What is taken home gives the answers of the board."""

import csv
import io
import json
import warnings

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.serve.process import running_server
from zslearn._pipelines import last_step
from zslearn.encoders import encoder_of_model
from zslearn.encoders.pictures import encode_picture
from zslearn.exceptions import ZslearnWarning
from zslearn.persistence import load
from zslearn.serve import ServerSettings, create_app
from zslearn.serve.studio.collection import draw_shape
from zslearn.signatures import Signatures

RING = "small dotted orange ring"


@pytest.fixture
def described(visitor):
    """A visitor who described a class, changed another one and moved the balance."""
    visitor.edit("words", name=RING, text="like small dotted orange star, but ring")
    visitor.edit("set", **{"class": 31}, changes={"2": 0.8})
    visitor.edit("balance", bias=0.06)
    return visitor


def answered_names(visitor):
    names = {one["id"]: one["name"] for one in visitor.json("state")["classes"]}
    names[-1] = "none of these"
    return np.array([names[i] for i in visitor.packed("answers")[1]["answer"].tolist()])


def taken(visitor, name):
    answer = visitor.get(f"export/{name}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    return answer.content


def test_classes_come_back_as_they_are(described, tmp_path):
    path = tmp_path / "classes.csv"
    path.write_bytes(taken(described, "classes.csv"))
    table = Signatures.from_csv(path)
    rows = {c["name"]: c["row"] for c in described.json("state")["classes"] if c["described"]}
    assert list(table) == list(rows)
    for name, row in rows.items():
        assert table[name].tolist() == row


def test_names_that_a_spreadsheet_would_run_come_back_as_they_are(visitor, tmp_path):
    odd = ["=1+1", "+x", "-x", "@x", "'=x", "''-x", "'x", "-5", "'-5", "zebra+"]
    for name in odd:
        visitor.edit("add", name=name, like=0)
    path = tmp_path / "classes.csv"
    path.write_bytes(taken(visitor, "classes.csv"))
    assert list(Signatures.from_csv(path))[-len(odd) :] == odd


def test_a_name_is_no_formula(visitor):
    visitor.edit("add", name='=HYPERLINK("http://evil.example")', like=0)
    rows = list(csv.reader(io.StringIO(taken(visitor, "classes.csv").decode())))
    assert rows[-1][0] == '\'=HYPERLINK("http://evil.example")'


def as_encoded(collection):
    """Vectors of the encoder of which the features of the shapes are projections."""
    axes = collection.steps[-1].components_.astype(np.float64)
    rest = np.eye(axes.shape[1])[0]
    rest -= (axes @ rest) @ axes  # what no axis sees brings them to unit length
    rest /= np.linalg.norm(rest)
    X = collection.X.astype(np.float64)
    return X @ axes + np.sqrt(np.maximum(0, 1 - (X**2).sum(axis=1)))[:, None] * rest


@pytest.mark.parametrize("reject", [False, True])
@pytest.mark.parametrize("method", ["sae", "prototype-regression"])
def test_the_model_answers_as_the_board(described, tmp_path, method, reject):
    described.edit("method", method=method)
    described.session.wait()
    described.edit("example", **{"class": 40, "sample": 1605})
    described.edit("reject", on=reject)
    path = tmp_path / "model.zsl"
    path.write_bytes(taken(described, "model.zsl"))
    model = load(path)
    collection = described.session.collection
    found = model.predict(as_encoded(collection), reject=reject)
    assert (found == answered_names(described)).mean() > 0.995
    # Its method, its probabilities and its encoder came along.
    assert type(last_step(model.estimator_)) is type(described.session.fitted(method).method)
    assert encoder_of_model(model) == collection.encoder
    assert model.calibration.threshold["all"] == described.json("state")["reject"]["chosen"]
    card = described.json("samples/3")
    likely = model.predict_proba(as_encoded(collection)[3:4])[0]
    columns = model.classes_.tolist()
    for one in card["ranking"]:
        name = described.session.view.state.classes[one["class"]].name
        assert likely[columns.index(name)] == pytest.approx(one["probability"], abs=0.01)


def test_the_model_is_used_by_the_program_on_a_picture(described, tmp_path, monkeypatch):
    """The handover: the exported file names a new picture, and a server serves it."""
    pytest.importorskip("onnxruntime", reason="the extra images is not installed")
    from click.testing import CliRunner

    from zslearn.cli import cli

    described.edit("method", method="prototype-regression")
    described.session.wait()
    (tmp_path / "model.zsl").write_bytes(taken(described, "model.zsl"))
    content = encode_picture(draw_shape(RING, 12345, 240))
    (tmp_path / "new.jpg").write_bytes(content)
    command = ["predict", str(tmp_path / "model.zsl"), str(tmp_path / "new.jpg"), "--json"]
    answer = CliRunner().invoke(cli, command)
    assert answer.exit_code == 0, answer.output
    assert f'"class": "{RING}"' in answer.stdout
    app = create_app(ServerSettings({"model": tmp_path / "model.zsl"}))
    client = TestClient(app, base_url="http://localhost")
    [found] = client.post("/predict", content=content).json()["answers"]
    assert found["class"] == RING
    brought = described.client.post(
        "/studio/api/drop", content=content, headers={"content-type": "image/jpeg"}
    ).json()
    assert found["probability"] == pytest.approx(brought["ranking"][0]["probability"], abs=1e-3)


def run(warm, *command, cwd):
    done = warm.python(*command, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_file_is_used_by_another_program(described, tmp_path, warm):
    """What is taken home arrives: served, run, and trained with."""
    described.edit("method", method="prototype-regression")
    described.session.wait()
    described.edit("example", **{"class": 40, "sample": 1605})
    for name in ("model.zsl", "model.py", "classes.csv"):
        (tmp_path / name).write_bytes(taken(described, name))
    wanted = answered_names(described)
    # The model file is served, and names a photograph as the studio does.
    content = encode_picture(draw_shape(RING, 4321, 200))
    brought = described.client.post(
        "/studio/api/drop", content=content, headers={"content-type": "image/jpeg"}
    ).json()
    with running_server(tmp_path / "model.zsl") as server:
        status, answer = server.ask("POST", "/predict", content, {"content-type": "image/jpeg"})
    assert status == 200, answer
    [found] = json.loads(answer)["answers"]
    names = {one["id"]: one["name"] for one in described.json("state")["classes"]}
    assert found["class"] == names[brought["answer"]]
    assert found["probability"] == pytest.approx(brought["ranking"][0]["probability"], abs=1e-3)
    # The lines run by themselves and give the answers of the board.
    lines = "import runpy; print(*runpy.run_path('model.py')['answers'].tolist(), sep='\\n')"
    found = run(warm, "-c", lines, cwd=tmp_path).splitlines()
    assert (np.array(found) == wanted).mean() > 0.999
    # The table of classes is one that a model can be trained with.
    data = described.session.collection
    np.save(tmp_path / "X.npy", data.X[data.train])
    (tmp_path / "y.csv").write_text("\n".join(data.labels[data.train].tolist()) + "\n")
    command = ["--features", "X.npy", "--labels", "y.csv", "--signatures", "classes.csv"]
    command += ["--method", "sae", "--save", "own.zsl"]
    run(warm, "-m", "zslearn", "fit", *command, cwd=tmp_path)
    assert RING in load(tmp_path / "own.zsl").classes_.tolist()


def test_a_training_class_that_is_gone_or_renamed_is_not_exported_in_silence(described):
    described.edit("rename", **{"class": 0}, name="other")
    answer = described.get("export/model.zsl")
    assert answer.status_code == 409
    assert "'other' is the new name of a class that was trained on" in answer.json()["error"]
    described.step("undo")
    described.edit("delete", **{"class": 0})
    answer = described.get("export/model.zsl")
    assert (answer.status_code, "undo their deletion" in answer.json()["error"]) == (409, True)


@pytest.mark.parametrize("method", ["sae-both", "prototype-regression"])
def test_the_python_lines_give_the_answers_of_the_board(described, method):
    described.edit("method", method=method)
    described.edit("rename", **{"class": 0}, name='it\'s "odd"\\')
    described.edit("delete", **{"class": 5})
    described.edit("example", **{"class": 40, "sample": 1605})
    described.edit("example", name="from examples", sample=1650)
    described.session.wait()
    described.edit("reject", on=True, sure=0.3)
    made = {}
    with warnings.catch_warnings():
        # A class without a description is called like others here.
        warnings.filterwarnings("ignore", "class .* has no description", ZslearnWarning)
        exec(compile(taken(described, "model.py"), "model.py", "exec"), made)
    assert (made["answers"] == answered_names(described)).mean() > 0.999


def test_a_selection_is_exported(described):
    answer = described.post("export/selection.csv", {"ids": [3, 1600]})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    names = answered_names(described)
    assert [row["id"] for row in rows] == ["3", "1600"]
    assert [row["answer"] for row in rows] == names[[3, 1600]].tolist()
    for wrong in ([-1], [1e9], ["0"], [1680], {}, None, [True]):
        assert described.post("export/selection.csv", {"ids": wrong}).status_code == 400
