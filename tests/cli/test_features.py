"""From a folder of pictures to a recognized new class, in three commands."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from tests.encoders.tiny_onnx import write_onnx
from zslearn.encoders import ImageEncoder, Store
from zslearn.persistence import load, save
from zslearn.signatures import Signatures


@pytest.fixture
def store(run, photos):
    encoder = f"onnx:{photos / 'net.onnx'}"
    result = run("features", photos / "seen", "--out", photos / "store", "--encoder", encoder)
    assert result.exit_code == 0, result.output
    return photos / "store"


@pytest.fixture
def picture_model(run, photos, store):
    model = photos / "model.zsl"
    result = run(
        "fit", store, "--signatures", photos / "classes.csv", "--method", "sae", "--save", model
    )
    assert result.exit_code == 0, result.output
    return model


def test_features_says_what_it_made(run, photos):
    (photos / "seen" / "readme.txt").write_text("no class")
    encoder = f"onnx:{photos / 'net.onnx'}"
    arguments = ["features", photos / "seen", "--out", photos / "s", "--encoder", encoder]
    result = run(*arguments)
    assert result.exit_code == 1
    assert "the file 'readme.txt' beside them" in result.stderr
    target = next(p for p in (photos / "seen").iterdir() if p.is_dir())
    shutil.move(photos / "seen" / "readme.txt", target / "readme.txt")
    copied = next(target.glob("*.png"))
    shutil.copy(copied, target / "z copy.png")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert f"Left out {target.name}/readme.txt: it is damaged or none of" in result.stderr
    assert f"The same bytes: {target.name}/{copied.name}, {target.name}/z copy.png" in result.stderr
    assert "left out    1" in result.stdout
    facts = json.loads(run(*arguments, "--json").stdout)
    assert (facts["pictures"], facts["classes"], facts["features"]) == (49, 12, 48)
    assert list(facts["refused"]) == [f"{target.name}/readme.txt"]


def test_strict_stops(photos, refused):
    target = next((photos / "seen").iterdir())
    (target / "0 readme.txt").write_text("no picture")
    encoder = f"onnx:{photos / 'net.onnx'}"
    line = refused(
        "features", photos / "seen", "--out", photos / "s", "--encoder", encoder, "--strict"
    )
    assert "0 readme.txt cannot be read as a picture" in line


def test_a_cluster_makes_the_same_bits(run, photos, store):
    encoder = f"onnx:{photos / 'net.onnx'}"
    arguments = ["--out", photos / "s", "--encoder", encoder, "--dask", "local"]
    result = run("features", photos / "seen", *arguments)
    assert result.exit_code == 0, result.output
    for name in ("X.npy", "y.npy", "samples.jsonl", "meta.json"):
        assert (photos / "s" / name).read_bytes() == (store / name).read_bytes()


def test_the_model_knows_its_encoder(picture_model, photos):
    identity = ImageEncoder(f"onnx:{photos / 'net.onnx'}").identity
    assert load(picture_model).encoder_ == identity.as_dict()


def test_pictures_of_new_classes_are_named(run, picture_model, photos, shapes):
    result = run("predict", picture_model, photos / "new", "--unseen-only", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert len(rows) == 12
    right = [row["class"] in row["sample"] for row in rows]
    assert np.mean(right) > 0.4  # chance is 1/3
    # The same answers from a store, and from features made in Python.
    encoder = f"onnx:{photos / 'net.onnx'}"
    run("features", photos / "new", "--out", photos / "new.store", "--encoder", encoder)
    stored = run("predict", picture_model, photos / "new.store", "--unseen-only", "--json")
    assert [row["class"] for row in json.loads(stored.stdout)] == [row["class"] for row in rows]
    X = Store.open(photos / "new.store").X
    named = load(picture_model).predict(X, candidates=list(shapes.split.unseen))
    assert named.tolist() == [row["class"] for row in rows]


def test_pictures_are_named_by_classes_in_words(run, photos, shapes, store):
    words = [f"{name},a picture of one {name} on gray" for name in shapes.signatures]
    (photos / "words.csv").write_text("\n".join(["class,description", *words]) + "\n")
    (photos / "names.txt").write_text("\n".join(shapes.signatures) + "\n")
    model = photos / "words.zsl"
    for classes in ("names.txt", "words.csv"):
        fitted = run("fit", store, "--classes", photos / classes, "--save", model)
        assert fitted.exit_code == 0, fitted.output
        assert "Encoding 15 classes with minilm" in fitted.stderr
        rows = run("predict", model, photos / "new", "--unseen-only", "--json")
        right = [row["class"] in row["sample"] for row in json.loads(rows.stdout)]
        assert len(right) == 12
        assert np.mean(right) > 0.5  # chance is 1/3
    name = shapes.split.unseen[0]
    assert load(model).signatures_.texts[name] == (f"a picture of one {name} on gray",)
    # A class described afterwards is answered, as in Python.
    (photos / "more.csv").write_text("class,text\npink cross,a large striped cross in pink\n")
    asked = ("--add-classes", photos / "more.csv", "--candidates", "pink cross,small plain ring")
    line = run("predict", model, photos / "new", *asked)
    assert "'small plain ring' has no signature" in line.stderr
    asked = (*asked[:3], ",".join(["pink cross", *shapes.split.unseen[:1]]))
    rows = json.loads(run("predict", model, photos / "new", *asked, "--json").stdout)
    assert "pink cross" in {row["class"] for row in rows}
    more = load(model).add_classes({"pink cross": "a large striped cross in pink"})
    pictures = [photos / "new" / row["sample"] for row in rows]
    X = ImageEncoder(f"onnx:{photos / 'net.onnx'}").transform(pictures)
    wanted = more.predict(X, candidates=["pink cross", shapes.split.unseen[0]])
    assert [row["class"] for row in rows] == wanted.tolist()
    measured = run("evaluate", store, "--classes", photos / "words.csv", "--cv", 3, "--json")
    assert json.loads(measured.stdout)[0]["per_class_accuracy"] > 0.3  # of four classes
    checked = run("data", "check", store, photos / "words.csv")
    assert checked.exit_code == 0, checked.output
    advice = run("advise", store, "--classes", photos / "words.csv")
    assert "expect an accuracy of" in advice.stdout


def test_a_single_picture_is_answered_with_reasons(run, picture_model, photos):
    picture = next((photos / "new").rglob("*.png"))
    result = run("predict", picture_model, picture, "--top", 2)
    assert result.exit_code == 0, result.output
    *_, last = result.stdout.splitlines()
    assert last.startswith("because: has ")
    facts = json.loads(run("predict", picture_model, picture, "--json").stdout)
    assert set(facts[0]) == {"sample", "class", "score", "probability", "because"}
    sizes = [abs(one["adds"]) for one in facts[0]["because"]]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > 0
    known = set(load(picture_model).signatures_.dimensions)
    assert {one["trait"] for one in facts[0]["because"]} <= known


def test_reasons_that_are_absences_say_so(run, photos, store):
    model = photos / "regression.zsl"
    fitted = run("fit", store, "--signatures", photos / "classes.csv", "--save", model)
    assert fitted.exit_code == 0, fitted.output
    picture = next((photos / "new").rglob("*.png"))
    *_, last = run("predict", model, picture).stdout.splitlines()
    facts = json.loads(run("predict", model, picture, "--json").stdout)[0]
    table = load(model).signatures_.normalized("l2")
    mean = table.subset(load(model).seen_classes_.tolist()).vectors.mean(axis=0)
    low = dict(zip(table.dimensions, table[facts["class"]] < mean, strict=True))
    traits = [one["trait"] for one in facts["because"]]
    assert [one["direction"] == "lacks" for one in facts["because"]] == [low[t] for t in traits]
    # The line says the same: what speaks for the class, and after a semicolon what against it.
    words = [
        f"{'lacks' if low[one['trait']] else 'has'} {one['trait']} {one['adds']:+.3g}"
        for one in sorted(facts["because"], key=lambda one: one["adds"] < 0)
    ]
    spoken = last.removeprefix("because: ").replace("; against it: ", ", ")
    assert spoken.split(", ") == words
    assert any(low[name] for name in traits)


def test_numbered_dimensions_are_no_reasons(run, picture_model, photos):
    model = load(picture_model)
    inner, table = model.estimator_, model.signatures_
    numbered = [f"minilm{i}" for i in range(table.n_dimensions)]
    inner.signatures = inner.signatures_ = Signatures(table.names, table.vectors, numbered)
    save(model, photos / "numbered.zsl")
    picture = next((photos / "new").rglob("*.png"))
    result = run("predict", photos / "numbered.zsl", picture)
    assert result.exit_code == 0, result.output
    *_, last = result.stdout.splitlines()
    assert last.startswith("no reasons: the class table holds numbers of an encoder, without names")
    facts = json.loads(run("predict", photos / "numbered.zsl", picture, "--json").stdout)
    assert set(facts[0]) == {"sample", "class", "score", "probability"}
    # Beside named ones the numbered ones are left out.
    mixed = [*table.dimensions[:-2], "minilm0", "minilm1"]
    inner.signatures = inner.signatures_ = Signatures(table.names, table.vectors, mixed)
    save(model, photos / "mixed.zsl")
    facts = json.loads(run("predict", photos / "mixed.zsl", picture, "--json").stdout)
    assert facts[0]["because"]
    assert {one["trait"] for one in facts[0]["because"]} <= set(table.dimensions[:-2])


def test_bad_pictures_are_left_out_of_an_answer(run, picture_model, photos, refused):
    picture = next((photos / "new").rglob("*.png"))
    bad = photos / "bad.jpg"
    bad.write_bytes(b"no picture")
    result = run("predict", picture_model, picture, bad)
    assert result.exit_code == 0, result.output
    assert "Left out: " in result.stderr
    assert "bad.jpg cannot be read as a picture" in result.stderr
    assert "bad.jpg cannot be read as a picture" in refused("predict", picture_model, bad)
    assert "there is no picture 'none.png'" in refused("predict", picture_model, "none.png")


def test_the_ending_of_a_picture_does_not_matter(run, picture_model, photos, refused):
    picture = next((photos / "new").rglob("*.png"))
    for name in ("photo", "photo.heic", "photo.JPEG"):
        shutil.copy(picture, photos / name)
    names = [photos / name for name in ("photo", "photo.heic", "photo.JPEG")]
    (photos / "note.txt").write_text("no picture")
    result = run("predict", picture_model, picture, *names, photos / "note.txt", "--json")
    assert result.exit_code == 0, result.output
    assert "note.txt cannot be read as a picture" in result.stderr
    rows = json.loads(result.stdout)
    assert [row["sample"] for row in rows] == [str(path) for path in (picture, *names)]
    assert len({(row["class"], row["score"]) for row in rows}) == 1
    line = refused("predict", picture_model, photos / "note.txt")
    assert "note.txt cannot be read as a picture" in line


def test_pictures_that_were_not_encoded_are_named(photos, refused):
    seen, table = photos / "seen", photos / "classes.csv"
    line = refused("evaluate", seen, "--signatures", table)
    assert f"holds pictures; encode them by: zslearn features {seen} --out STORE" in line
    picture = next(seen.rglob("*.png"))
    line = refused("features", picture, "--out", photos / "s")
    assert "is a file; give the folder that holds the pictures" in line


def test_classes_come_from_a_list(run, photos):
    first, second = sorted(path for path in (photos / "seen").rglob("*.png"))[:2]
    lines = [
        f"{path.relative_to(photos / 'seen')},{name}"
        for path, name in ((first, "one"), (second, "two"))
    ]
    (photos / "labels.csv").write_text("\n".join(["file,class", *lines]) + "\n")
    arguments = ["--labels", photos / "labels.csv", "--out", photos / "s"]
    encoder = f"onnx:{photos / 'net.onnx'}"
    result = run("features", photos / "seen", *arguments, "--encoder", encoder)
    assert result.exit_code == 0, result.output
    assert Store.open(photos / "s").y.tolist() == ["one", "two"]


def test_vectors_of_another_encoder_are_refused(run, picture_model, photos, refused):
    write_onnx(photos / "other.onnx", mean=True)
    other = f"onnx:{photos / 'other.onnx'}"
    run("features", photos / "new", "--out", photos / "other", "--encoder", other)
    line = refused("predict", picture_model, photos / "other")
    assert "was made by the encoder onnx:" in line
    assert "the model was trained with onnx:" in line


def test_an_encoder_that_changed_is_refused(picture_model, photos, refused):
    write_onnx(photos / "net.onnx", mean=True)
    picture = next((photos / "new").rglob("*.png"))
    assert "Install the one that was used" in refused("predict", picture_model, picture)


def test_a_model_without_an_encoder_takes_no_pictures(model, own, refused):
    Image.new("RGB", (8, 8)).save(own / "a.png")
    assert "was not trained on pictures" in refused("predict", model, own / "a.png")


def test_a_store_needs_signatures_and_classes(run, store, photos, refused):
    result = run("fit", store, "--save", photos / "m.zsl")
    assert result.exit_code == 2
    assert "a store made by zslearn features needs --signatures or --classes" in result.stderr
    encoder = f"onnx:{photos / 'net.onnx'}"
    one = next((photos / "seen").iterdir())
    run("features", one, "--out", photos / "bare", "--encoder", encoder)
    table = photos / "classes.csv"
    line = refused("fit", photos / "bare", "--signatures", table, "--save", photos / "m.zsl")
    assert "have no classes" in line


def test_a_store_can_be_evaluated(run, store, photos, shapes):
    unseen = ",".join(shapes.split.seen[:3])
    table = photos / "classes.csv"
    arguments = ["--signatures", table, "--unseen", unseen, "--method", "sae", "--json"]
    result = run("evaluate", store, *arguments)
    assert result.exit_code == 0, result.output
    assert "accuracy" in result.stdout
