"""Large data sets on disk: written in bounded memory, opened without reading."""

import json

import numpy as np
import pytest

from zslearn.datasets import imagenet as imagenet_like
from zslearn.datasets import load_imagenet, make_imagenet_like, open_dataset
from zslearn.exceptions import InvalidInputError, MissingFileError

SIZES = {"n_seen": 8, "n_unseen": 3, "n_samples": 100, "n_features": 6, "n_dimensions": 4}


@pytest.fixture
def folder(tmp_path):
    return make_imagenet_like(tmp_path / "large", **SIZES)


def test_written_and_opened(folder):
    data = open_dataset(folder)
    assert isinstance(data.X, np.memmap)
    assert data.X.shape == (100, 6)
    assert data.X.dtype == np.float32
    assert (len(data.split("standard").seen), len(data.split("standard").unseen)) == (8, 3)
    _, counts = np.unique(data.y, return_counts=True)
    assert set(counts) == {9, 10}
    assert list(data.semantics) == ["word vectors"]
    assert [path.name for path in folder.parent.iterdir()] == ["large"]


def test_features_are_linear_in_the_signatures(tmp_path):
    data = load_imagenet(make_imagenet_like(tmp_path / "large", **SIZES, noise=0.0))
    S = data.signatures.rows(data.y)
    fit = S @ np.linalg.lstsq(S, np.asarray(data.X, np.float64))[0]
    assert np.allclose(fit, data.X, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_types_on_disk(tmp_path, dtype):
    assert load_imagenet(make_imagenet_like(tmp_path / "x", **SIZES, dtype=dtype)).X.dtype == dtype


def test_same_seed_same_files_over_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(imagenet_like, "_BLOCK", 16)
    a, b, c = (
        make_imagenet_like(tmp_path / name, **SIZES, random_state=seed)
        for name, seed in (("a", 3), ("b", 3), ("c", 4))
    )
    assert (a / "X.npy").read_bytes() == (b / "X.npy").read_bytes()
    assert (a / "X.npy").read_bytes() != (c / "X.npy").read_bytes()
    assert np.unique(load_imagenet(a).X, axis=0).shape == (100, 6)


def test_progress_goes_to_stderr(tmp_path, capsys):
    make_imagenet_like(tmp_path / "x", **SIZES, progress=True)
    captured = capsys.readouterr()
    assert "writing features" in captured.err
    assert captured.out == ""


def test_nothing_half_written_stays(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(imagenet_like.np, "save", full)
    with pytest.raises(OSError, match="No space left"):
        make_imagenet_like(tmp_path / "x", **SIZES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_seen": 0}, "n_seen must be a whole number of at least 1; got 0"),
        ({"n_samples": 10}, "one for each of the 11 classes; got 10"),
        ({"dtype": "int8"}, "'float16', 'float32' or 'float64'; got 'int8'"),
        ({"noise": -1.0}, r"noise must be a number of at least 0; got -1\.0"),
    ],
)
def test_numbers_that_cannot_be_used(tmp_path, changes, message):
    with pytest.raises(InvalidInputError, match=message):
        make_imagenet_like(tmp_path / "x", **(SIZES | changes))


def test_existing_folder_is_not_touched(folder):
    with pytest.raises(InvalidInputError, match="exists already"):
        make_imagenet_like(folder, **SIZES)


def test_missing_parent(tmp_path):
    with pytest.raises(MissingFileError, match="create it first"):
        make_imagenet_like(tmp_path / "a" / "b", **SIZES)


def test_missing_file_is_named(folder):
    (folder / "unseen.txt").unlink()
    with pytest.raises(MissingFileError, match=r"lacks unseen\.txt"):
        load_imagenet(folder)


def test_description_is_not_needed(folder):
    (folder / "meta.json").unlink()
    data = load_imagenet(folder)
    assert data.name == "large"
    assert "ImageNet" in data.citation


def test_description_is_used(folder):
    (folder / "meta.json").write_text(json.dumps({"name": "ImNet-1", "semantics": "w2v"}))
    assert list(load_imagenet(folder).semantics) == ["w2v"]


@pytest.mark.parametrize("content", ["{", "[1]"])
def test_unusable_description(folder, content):
    (folder / "meta.json").write_text(content)
    with pytest.raises(InvalidInputError, match=r"meta\.json (is not JSON|must hold an object)"):
        load_imagenet(folder)


def test_truncated_features_are_refused(folder):
    with (folder / "X.npy").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(InvalidInputError, match="not a readable file of plain arrays"):
        load_imagenet(folder)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(100, 11), "classes run from 11 to 11; .* name 11, counted from 0"),
        (np.zeros(100), "whole numbers; got type float64"),
        (np.zeros(99, int), "X has 100 rows and y has 99"),
    ],
)
def test_labels_that_do_not_fit(folder, y, message):
    np.save(folder / "y.npy", y)
    with pytest.raises(InvalidInputError, match=message):
        load_imagenet(folder)
