"""One's own data: a folder of pictures encoded while the page waits, a store, a model."""

import ast
from pathlib import Path

import numpy as np
import pytest

from tests.serve.studio.conftest import Visitor
from zslearn.encoders import EncoderIdentity, Store, remember_encoder
from zslearn.encoders.pictures import read_rgb, write_png
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.persistence import save
from zslearn.serve.studio import Source, finish_later, open_studio, prepare
from zslearn.serve.studio.collection import draw_shape, shape_classes
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

pytest.importorskip("onnxruntime", reason="the extra images is not installed")
N = 6


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder per class; a table of all classes but one."""
    root = tmp_path_factory.mktemp("photos")
    table, _ = shape_classes()
    names = table.names[:6]
    for number, name in enumerate(np.repeat(names, N)):
        (root / "pictures" / name).mkdir(parents=True, exist_ok=True)
        write_png(root / "pictures" / name / f"{number}.png", draw_shape(str(name), number))
    table.subset(np.append(names[:-1], table.names[40])).to_csv(root / "classes.csv")
    return root


@pytest.fixture(scope="module")
def opened(photos):
    """The folder, opened while the page waits."""
    source = Source(
        str(photos / "pictures"),
        signatures=photos / "classes.csv",
        project=photos / "own.project",
    )
    studio = prepare(source)
    seen = []
    studio.events.publish = lambda event, data: seen.append((event, data))
    failures = []
    finish_later(studio, source, failures.append).join()
    assert failures == []
    yield studio, seen
    studio.session.close()


def test_a_folder_is_encoded_with_progress(opened, photos):
    studio, seen = opened
    done = [data["done"] for event, data in seen if data.get("text") == "Encoding pictures"]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 6 * N)
    assert seen[-1][0] == "changed"
    collection = studio.session.collection
    assert collection.name == "pictures"
    store = Store.open(photos / "own.project.store")
    np.testing.assert_array_equal(collection.X, store.X)
    state = studio.session.view.state
    waiting = [one.name for one in state.classes.values() if not one.described]
    assert waiting == [shape_classes()[0].names[5]]
    assert sum(one.seen for one in state.classes.values()) == 5
    # One fifth of each class, at least one picture, is not trained on.
    assert collection.train.sum() == 5 * (N - 1)


def test_each_picture_belongs_to_its_row(opened):
    studio, _ = opened
    collection = studio.session.collection
    for row in range(0, collection.n, 7):
        number = int(collection.names[row].rpartition("/")[2].removesuffix(".png"))
        expected = draw_shape(str(collection.labels[row]), number)
        np.testing.assert_array_equal(collection.picture(row, 96), expected)


def test_a_store_and_a_model_answer_as_the_model(photos, opened, tmp_path):
    store = Store.open(photos / "own.project.store")
    table = opened[0].session.collection.signatures
    rows = np.isin(store.y, table.names)
    clf = SAEClassifier(table, lam=1.0).fit(store.X[rows], store.y[rows])
    save(clf, tmp_path / "model.zsl")
    studio = open_studio(
        Source(
            str(photos / "own.project.store"),
            model=tmp_path / "model.zsl",
            pictures=photos / "pictures",
            project=tmp_path / "p.project",
        )
    )
    session = studio.session
    assert session.methods.offered == ("model",)
    names = {one.id: one.name for one in session.view.state.classes.values()}
    answers = [names[i] for i in session.view.answers.answer.tolist()]
    assert answers == clf.predict(store.X).tolist()
    path = photos / "pictures" / session.collection.names[3]
    np.testing.assert_array_equal(session.collection.picture(3, 96), read_rgb(path))
    session.close()


def test_what_cannot_be_opened_is_said_in_one_line(photos, tmp_path):
    with pytest.raises(MissingFileError, match="There is no folder 'nowhere'"):
        prepare(Source("nowhere", project=tmp_path / "p.project"))
    with pytest.raises(MissingFileError, match="There is no file"):
        prepare(Source("shapes", model=tmp_path / "none.zsl", project=tmp_path / "p.project"))
    with pytest.raises(InvalidInputError, match="give a table by --signatures"):
        open_studio(Source(str(photos / "pictures"), project=tmp_path / "p.project"))
    with pytest.raises(InvalidInputError, match=r"there is no file .*; give the folder"):
        open_studio(Source("animals", pictures=tmp_path, project=tmp_path / "p.project"))


def test_a_model_of_texts_is_refused_for_pictures_before_anything_is_encoded(photos, tmp_path):
    table = Signatures(["a", "b"], np.eye(2))
    clf = SAEClassifier(table, lam=1.0).fit(np.eye(2), ["a", "b"])
    remember_encoder(clf, EncoderIdentity("minilm", "0" * 64, {}, "text"))
    save(clf, tmp_path / "model.zsl")
    source = Source(
        str(photos / "pictures"), model=tmp_path / "model.zsl", project=tmp_path / "p.project"
    )
    with pytest.raises(InvalidInputError, match=r"model\.zsl is a model of texts, and .* pictures"):
        prepare(source)


def test_a_failure_is_told_to_the_page(photos, tmp_path):
    source = Source(
        str(photos / "pictures"),
        signatures=photos / "classes.csv",
        project=tmp_path / "p.project",
    )
    (tmp_path / "p.project.store").mkdir()
    (tmp_path / "p.project.store" / "meta.json").write_text("{")
    studio, failures = prepare(source), []
    finish_later(studio, source, failures.append).join()
    assert len(failures) == 1
    assert failures[0] == studio.progress["text"]
    assert studio.progress["failed"]
    assert studio.session is None


def test_what_is_wrong_at_once_is_raised_at_once(tmp_path):
    (tmp_path / "p.project").write_bytes(b"x" * 5000)
    source = Source("shapes", project=tmp_path / "p.project")
    with pytest.raises(InvalidInputError, match="is no file of edits"):
        finish_later(prepare(source), source, print)


EVIL = 'x"""; open("pwned", "w"); """'
EVIL_CLASSES = (
    '\'); open("pwned", "w") #',
    '"""; open("pwned", "w"); """',
    '\\"\nopen("pwned", "w")\n#',
    "{open('pwned', 'w')}",
    "=1+1",
)
EVIL_TRAITS = ("'#", '"""', "a\nopen('pwned', 'w')", "\\", "{0}")


def run_lines(visitor, folder, warm):
    """Run the exported lines in a folder, and return the answers they give."""
    (folder / "model.py").write_bytes(visitor.get("export/model.py").content)
    program = "import runpy; print(runpy.run_path('model.py')['answers'].tolist())"
    done = warm.python("-c", program, cwd=folder)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


def answers_of(visitor):
    names = {one["id"]: one["name"] for one in visitor.json("state")["classes"]}
    return [names[i] for i in visitor.packed("answers")[1]["answer"].tolist()]


@pytest.mark.parametrize("data", ["pictures", "own.project.store"])
def test_the_exported_lines_find_the_data_from_any_folder(
    opened, photos, tmp_path, monkeypatch, warm, data
):
    """Beside them lies the exported table of classes, which is not the one that was opened."""
    monkeypatch.chdir(photos)
    again = Source(data, signatures=Path("classes.csv"), project=tmp_path / "again.project")
    studio = open_studio(again)
    try:
        visitor = Visitor(studio)
        visitor.edit("set", **{"class": 0}, changes={"0": 0.7})
        studio.session.wait()
        (tmp_path / "classes.csv").write_bytes(visitor.get("export/classes.csv").content)
        assert run_lines(visitor, tmp_path, warm) == answers_of(visitor)
    finally:
        studio.session.close()


def test_no_name_of_a_folder_class_trait_or_file_is_run_by_the_exported_lines(tmp_path, warm):
    rng = np.random.default_rng(0)
    for place, name in enumerate(EVIL_CLASSES):
        folder = tmp_path / EVIL / name
        folder.mkdir(parents=True)
        for i in range(3):
            pixels = draw_shape(str(shape_classes()[0].names[place]), i, 48)
            write_png(folder / f"{i}';open('pwned', 'w')#.png", pixels)
    table = Signatures(EVIL_CLASSES[:4], rng.random((4, 5)), EVIL_TRAITS)
    table.to_csv(tmp_path / "';#.csv")
    source = Source(
        str(tmp_path / EVIL), signatures=tmp_path / "';#.csv", project=tmp_path / "own.project"
    )
    studio = open_studio(source)
    try:
        visitor = Visitor(studio)
        visitor.edit("add", name='"""#\\', like=0)
        visitor.edit("set", **{"class": 1}, changes={"0": 0.5})
        studio.session.wait()
        assert run_lines(visitor, tmp_path, warm) == answers_of(visitor)
    finally:
        studio.session.close()
    assert not (tmp_path / "pwned").exists()
