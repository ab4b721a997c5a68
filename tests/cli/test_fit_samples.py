"""One command from a folder of pictures, or a table of texts, to a model."""

import csv
import json
import shutil

import numpy as np
import pytest

from zslearn.encoders import Store, building
from zslearn.persistence import load


@pytest.fixture
def fit(run, photos):
    """Fit on the folder itself; what is encoded goes beside the model."""

    def invoke(*options, save="model.zsl"):
        encoder = f"onnx:{photos / 'net.onnx'}"
        arguments = ["--signatures", photos / "classes.csv", "--encoder", encoder]
        return run("fit", photos / "seen", *arguments, *options, "--save", photos / save)

    return invoke


@pytest.fixture
def encoded_files(monkeypatch):
    """The samples that were encoded, chunk by chunk."""
    found, encode = [], building.encode_chunk

    def watch(samples, *args, **kwargs):
        found.append([sample.name for sample in samples])
        return encode(samples, *args, **kwargs)

    monkeypatch.setattr(building, "encode_chunk", watch)
    return found


def test_a_folder_of_pictures_gives_the_model_of_the_separate_steps(run, fit, photos):
    made = fit("--method", "sae")
    assert made.exit_code == 0, made.output
    encoder = f"onnx:{photos / 'net.onnx'}"
    run("features", photos / "seen", "--out", photos / "s", "--encoder", encoder)
    arguments = ["--signatures", photos / "classes.csv", "--method", "sae"]
    run("fit", photos / "s", *arguments, "--save", photos / "other.zsl")
    for name in ("X.npy", "y.npy", "samples.jsonl", "meta.json"):
        assert (photos / "s" / name).read_bytes() == (photos / "model.store" / name).read_bytes()
    assert (photos / "model.zsl").read_bytes() == (photos / "other.zsl").read_bytes()
    rows = json.loads(
        run("predict", photos / "model.zsl", photos / "new", "--unseen-only", "--json").stdout
    )
    assert np.mean([row["class"] in row["sample"] for row in rows]) > 0.4  # chance is 1/3


def test_the_second_fit_encodes_what_is_new_and_forgets_what_is_gone(fit, photos, encoded_files):
    assert fit("--method", "sae").exit_code == 0
    assert sum(map(len, encoded_files)) == 48
    encoded_files.clear()
    folder = sorted((photos / "seen").iterdir())[0]
    first, second, *_ = sorted(folder.iterdir())
    shutil.copy(first, folder / "new.png")
    second.unlink()
    assert fit("--method", "eszsl").exit_code == 0
    assert encoded_files == [[f"{folder.name}/new.png"]]
    names = list(Store.open(photos / "model.store").samples)
    assert f"{folder.name}/new.png" in names
    assert f"{folder.name}/{second.name}" not in names


def test_a_fit_that_was_killed_goes_on_where_it_was(fit, photos, monkeypatch, encoded_files):
    assert fit("--method", "sae", save="whole.zsl").exit_code == 0
    encoded_files.clear()
    watch, calls = building.encode_chunk, []

    def stop(*args, **kwargs):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return watch(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(building, "encode_chunk", stop)
        assert fit("--method", "sae", "--jobs", "1").exit_code == 130
    assert not (photos / "model.zsl").exists()
    assert fit("--method", "sae").exit_code == 0
    assert sum(map(len, encoded_files)) == 48  # none of them twice
    assert (photos / "model.zsl").read_bytes() == (photos / "whole.zsl").read_bytes()


def test_a_table_of_texts_is_taken_as_it_is(run, tmp_path):
    things = ("card", "loan", "password", "rent", "flight", "music")
    asked = ("Please help me with the {}", "Where do I find my {}?", "The {} is not what I wanted")
    rows = [(text.format(name), name) for name in things[:-1] for text in asked]
    with open(tmp_path / "tickets.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "category"), *rows])
    described = [f"{name},The customer asks about the {name}" for name in things]
    (tmp_path / "classes.csv").write_text("\n".join(["name,description", *described]) + "\n")
    arguments = ["--text", "text", "--labels", "category", "--classes", tmp_path / "classes.csv"]
    done = run("fit", tmp_path / "tickets.csv", *arguments, "--save", tmp_path / "m.zsl")
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "m.zsl").encoder_["model"] == "minilm"
    assert len(Store.open(tmp_path / "m.store").samples.texts) == 15
    answer = run("predict", tmp_path / "m.zsl", "Play me a song", "--unseen-only")
    assert "music" in answer.stdout


def test_names_are_compared_before_anything_is_encoded(fit, photos, encoded_files):
    kinds = sorted((photos / "seen").iterdir())
    kinds[0].rename(photos / "seen" / "okapi")
    result = fit()
    assert result.exit_code == 1
    assert "Class 'okapi' has no signature; 15 classes have one" in result.stderr
    assert "classes.csv: add a row, or correct it." in result.stderr
    for folder in sorted((photos / "seen").iterdir()):
        group = photos / "deep" / f"group {len(folder.name) % 2}"
        group.mkdir(parents=True, exist_ok=True)
        folder.rename(group / (kinds[0].name if folder.name == "okapi" else folder.name))
    shutil.rmtree(photos / "seen")
    (photos / "deep").rename(photos / "seen")
    result = fit()
    assert "the folders of classes lie one level too deep, such as group " in result.stderr
    assert encoded_files == []
    assert not (photos / "model.store").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--encoder", "minilm"], "--encoder is for a folder of pictures or a table of texts"),
        (["--views", "flip"], "--views is for a folder of pictures or a table of texts"),
        (["--text", "text"], "--text is for a folder of pictures or a table of texts"),
    ],
)
def test_options_of_an_encoder_go_with_samples(run, tmp_path, options, message):
    result = run("fit", "animals", *options, "--save", tmp_path / "m.zsl")
    assert result.exit_code == 2
    assert message in result.stderr
