"""Folders and class tables that people really have: broken files, other names, pictures that go."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.serve.studio.conftest import Visitor
from zslearn.encoders.pictures import write_png
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save
from zslearn.serve.studio import Source, finish_later, open_studio, prepare
from zslearn.serve.studio.collection import draw_shape, shape_classes
from zslearn.zero_shot import SAEClassifier

pytest.importorskip("onnxruntime", reason="the extra images is not installed")
TABLE = shape_classes()[0]
NAMES = [str(name) for name in TABLE.names[:4]]


def fill(root, names=NAMES, n=4):
    for number, name in enumerate(np.repeat(names, n)):
        (root / name).mkdir(parents=True, exist_ok=True)
        write_png(root / name / f"{number}.png", draw_shape(str(name), number))
    return root


@pytest.fixture
def source(tmp_path):
    """A folder with four classes, three of which the table has."""
    TABLE.subset(NAMES[:3]).to_csv(tmp_path / "classes.csv")
    return Source(
        str(fill(tmp_path / "photos")),
        signatures=tmp_path / "classes.csv",
        project=tmp_path / "own.project",
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([name.replace(" ", "_") for name in NAMES], "the closest is 'large_dotted_pink_square'"),
        (["zebra", "okapi"], "none of the 4 classes of the pictures, such as 'large"),
        ([NAMES[0], "zebra"], f"only '{NAMES[0]}' has pictures and a row in"),
    ],
)
def test_names_that_do_not_match_are_said_before_anything_is_encoded(source, tmp_path, rows, said):
    values = "\n".join(f"{name},{i},1" for i, name in enumerate(rows))
    (tmp_path / "classes.csv").write_text(f"class,fast,small\n{values}\n")
    with pytest.raises(InvalidInputError) as error:
        prepare(source)
    assert said in str(error.value)
    assert not (tmp_path / "own.project.store").exists()


def test_pictures_without_class_folders_are_said(source, tmp_path):
    loose = tmp_path / "loose"
    shutil.copytree(tmp_path / "photos" / NAMES[0], loose)
    with pytest.raises(InvalidInputError, match="lie in no folders of classes"):
        prepare(Source(str(loose), signatures=source.signatures, project=source.project))


def test_a_table_that_cannot_be_read_is_said_before_anything_is_encoded(source, tmp_path):
    (tmp_path / "classes.csv").write_text(f"class,fast\n{NAMES[0]},nan\n{NAMES[1]},2\n")
    with pytest.raises(InvalidInputError, match="column 'fast': 'nan' is not a finite number"):
        prepare(source)


def test_a_table_beside_the_class_folders_is_not_taken_for_a_data_set(source, tmp_path):
    (tmp_path / "photos" / "classes.csv").write_text("class,fast\n")
    with pytest.raises(InvalidInputError, match=r"and the file 'classes.csv' beside them. Move"):
        prepare(source)


def test_files_that_are_no_pictures_are_named_on_page_and_terminal(source, tmp_path):
    (tmp_path / "photos" / NAMES[0] / "empty.jpg").touch()
    (tmp_path / "photos" / NAMES[1] / "<b>text.jpg").write_text("no picture")
    studio, failures, notices = prepare(source), [], []
    finish_later(studio, source, failures.append, notices.append).join()
    assert failures == []
    (notice,) = notices
    assert notice.startswith("2 of 18 files cannot be read as pictures and are left out: ")
    assert f"{NAMES[0]}/empty.jpg (it is damaged" in notice
    visitor = Visitor(studio)
    assert visitor.json("state")["notice"] == notice
    assert visitor.session.collection.n == 16
    visitor.session.close()


def test_pictures_come_and_go_and_the_project_stays(source, tmp_path):
    visitor = Visitor(open_studio(source))
    visitor.edit("add", name=NAMES[3], like=0)
    row = visitor.class_called(NAMES[3])["row"]
    visitor.session.close()
    (tmp_path / "photos" / NAMES[0] / "0.png").unlink()
    write_png(tmp_path / "photos" / NAMES[3] / "new.png", draw_shape(NAMES[3], 77))
    studio, counts = prepare(source), []
    studio.events.publish = lambda event, data: counts.append((data.get("done"), data.get("total")))
    finish_later(studio, source, print).join()
    visitor = Visitor(studio)
    assert (15, 16) in counts  # all but the new one are known
    assert visitor.session.collection.n == 16
    assert f"{NAMES[0]}/0.png" not in visitor.session.collection.names
    found = visitor.class_called(NAMES[3])
    assert found["row"] == row
    assert found["rows"] == 5
    visitor.session.close()


def test_a_project_of_other_classes_is_refused_with_what_differs(source, tmp_path):
    open_studio(source).session.close()
    TABLE.subset(NAMES).to_csv(tmp_path / "classes.csv")
    with pytest.raises(InvalidInputError, match="was made for other classes, attributes or feat"):
        open_studio(source)


@pytest.fixture
def model(source, tmp_path):
    """A model of three classes, on features that say nothing about their encoder."""
    collection = open_studio(source).session.collection
    rows = np.isin(collection.labels, NAMES[:3])
    clf = SAEClassifier(TABLE.subset(NAMES[:3]), lam=1.0)
    save(clf.fit(collection.X[rows], collection.labels[rows]), tmp_path / "model.zsl")
    return replace(source, model=tmp_path / "model.zsl", project=tmp_path / "model.project")


def test_the_table_given_with_a_model_is_the_one_shown(model, tmp_path):
    TABLE.subset(NAMES[1:]).to_csv(tmp_path / "classes.csv")
    studio = open_studio(model)
    session = studio.session
    assert [one.name for one in session.kept.described.values()] == NAMES[1:]
    assert [one.seen for one in session.kept.described.values()] == [True, True, False]
    expected = load(model.model).recognizer(NAMES[1:3]).replace(NAMES[3], TABLE[NAMES[3]])
    names = {one.id: one.name for one in session.kept.classes.values()}
    answers = [names[number] for number in session.view.answers.answer.tolist()]
    assert answers == expected.predict(session.collection.X).tolist()
    # Nobody knows whether the features of the model were made as these were.
    assert "does not say which encoder" in session.collection.notice
    session.close()


def test_a_model_of_other_attributes_or_features_is_refused(model, tmp_path):
    (tmp_path / "classes.csv").write_text(f"class,fast,small\n{NAMES[0]},1,2\n{NAMES[1]},2,1\n")
    with pytest.raises(InvalidInputError, match=r"by 20 dimensions .*, and .* by 2 .fast, small."):
        open_studio(model)
    with pytest.raises(InvalidInputError, match="takes 1280 features and the samples have 96"):
        open_studio(replace(model, data="shapes", signatures=None))
