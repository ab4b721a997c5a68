"""Stores: of either version, whole or not, and what they say of themselves."""

import json

import numpy as np
import pytest
from PIL import Image

import zslearn.features
from tests.encoders.tiny_onnx import write_onnx
from tests.encoders.tiny_text import letter_encoder
from zslearn.encoders import (
    ImageEncoder,
    Sample,
    Store,
    build_store,
    find_pictures,
    is_store,
    write_store,
)
from zslearn.encoders import store as module
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.scale import StoreSource

X = np.arange(12.0).reshape(6, 2)
Y = ["cat", "dog", "cat", "dog", "dog", "cat"]


@pytest.fixture
def pictures(tmp_path):
    """Three pictures, their encoder, and a store of them as version 0.1 wrote it."""
    rng = np.random.default_rng(0)
    (tmp_path / "p" / "cat").mkdir(parents=True)
    for i in range(3):
        pixels = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "p" / "cat" / f"{i}.png")
    encoder = ImageEncoder(write_onnx(tmp_path / "net.onnx"))
    found = find_pictures(tmp_path / "p")
    new = build_store(found, tmp_path / "new", encoder)
    old = tmp_path / "old"
    old.mkdir()
    np.save(old / "X.npy", new.X)
    np.save(old / "y.npy", np.zeros(3, np.int64))
    samples = {"names": list(new.samples), "sha256": list(new.samples.sha256)}
    (old / "samples.json").write_text(json.dumps(samples))
    identity = encoder.identity.as_dict()
    del identity["kind"]
    meta = {"kind": "zslearn feature store", "version": 1, "n_features": new.n_features}
    meta |= {"dtype": "float32", "classes": ["cat"], "encoder": identity, "plan": {"chunk": 32}}
    meta |= {"refused": {"d.png": "cut off"}, "duplicates": [["a", "b"]]}
    (old / "meta.json").write_text(json.dumps(meta))
    return found, encoder, old


def test_a_store_of_pictures_of_version_1_is_read(pictures):
    _, encoder, old = pictures
    store = Store.open(old)
    assert store.encoder == encoder.identity
    assert store.encoder.kind == "image"
    assert list(store.samples) == ["cat/0.png", "cat/1.png", "cat/2.png"]
    assert store.samples.texts is None
    assert len(store.samples.sha256[0]) == 64
    assert store.y.tolist() == ["cat"] * 3
    assert store.refused == {"d.png": "cut off"}
    assert store.duplicates == (("a", "b"),)
    assert np.array_equal(StoreSource(old).read(1, 3), store.X[1:])
    assert is_store(old)


def test_a_store_of_version_1_grows_into_one_of_version_2(pictures, tmp_path):
    found, encoder, old = pictures
    pixels = np.full((6, 8, 3), 7, np.uint8)
    Image.fromarray(pixels).save(tmp_path / "p" / "cat" / "3.png")
    found = find_pictures(tmp_path / "p")
    encoded = []
    build_store(found, old, encoder, spread=lambda f, xs: (encoded.extend(x) or f(x) for x in xs))
    assert [sample.name for sample in encoded] == ["cat/3.png"]
    build_store(found, tmp_path / "whole", encoder)
    for file in (tmp_path / "whole").iterdir():
        assert (old / file.name).read_bytes() == file.read_bytes()
    assert len(list(old.iterdir())) == 4


@pytest.mark.parametrize("kind", ["names", "numbers"])
def test_plain_features_of_version_1_are_read(tmp_path, kind):
    names, numbers = np.unique(Y, return_inverse=True)
    np.save(tmp_path / "X-00000.npy", X[:4])
    np.save(tmp_path / "X-00001.npy", X[4:])
    np.save(tmp_path / "y.npy", numbers)
    meta = {"kind": "zslearn feature store", "version": 1, "n_features": 2, "dtype": "float64"}
    meta |= {"rows": [4, 2]} | ({"classes": names.tolist()} if kind == "names" else {})
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    store = Store.open(tmp_path)
    assert np.array_equal(store.X, X)
    assert store.y.tolist() == (Y if kind == "names" else numbers.tolist())
    assert store.encoder is None
    assert not is_store(tmp_path)
    with pytest.raises(InvalidInputError, match="holds plain features, not samples"):
        len(store.samples)
    with pytest.raises(InvalidInputError, match="holds plain features; choose another folder"):
        build_store([Sample("0", "a text")], tmp_path, letter_encoder())


def test_the_classes_of_the_old_room(pictures, tmp_path):
    _, _, old = pictures
    with pytest.warns(FutureWarning, match=r"PictureStore is called zslearn\.encoders\.Store now"):
        store = zslearn.features.PictureStore.open(old)
    assert store.sha256 == store.samples.sha256
    with pytest.warns(FutureWarning, match=r"FeatureStore is called zslearn\.encoders\.Store now"):
        store = zslearn.features.FeatureStore(write_store(tmp_path / "s", [(X, Y)]))
    assert store.names[store.labels()].tolist() == Y
    with pytest.warns(FutureWarning, match=r"Picture is called zslearn\.encoders\.Sample now"):
        sample = zslearn.features.Picture(old, "a.png", "cat")
    assert (sample.name, sample.content, sample.label) == ("a.png", old, "cat")


def test_large_features_are_mapped(tmp_path, pictures, monkeypatch):
    store = Store.open(pictures[2])
    monkeypatch.setattr(module, "_IN_MEMORY", store.X.nbytes - 1)
    assert isinstance(store.X, np.memmap)
    sharded = Store.open(write_store(tmp_path / "s", [(X, Y)], shard_rows=4))
    assert np.array_equal(sharded.X, X)


def test_a_store_being_put_into_place_is_not_read_as_plain_files(tmp_path):
    write_store(tmp_path, [(X, Y)])
    (tmp_path / "X-00000.npy").rename(tmp_path / "X.npy")
    assert Store.open(tmp_path).n_rows == 6
    (tmp_path / "parts").mkdir()
    (tmp_path / "meta.json").unlink()
    with pytest.raises(MissingFileError, match="is no complete store"):
        Store.open(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "describes something else"),
        ({"kind": "music"}, "describes something else"),
        ({"classes": [1, 2]}, "must list the names of classes as texts"),
        ({"classes": ["cat"]}, "names 1 classes; its labels run from 0 to 1"),
        ({"encoder": {"model": "x"}}, "identity of an encoder is damaged"),
        ({"refused": 7}, "not a readable description of a store"),
    ],
)
def test_an_odd_description_is_refused(tmp_path, change, message):
    write_store(tmp_path / "s", [(X, Y)])
    file = tmp_path / "s" / "meta.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(InvalidInputError, match=message):
        len(Store.open(tmp_path / "s").y)


def test_no_store_at_all(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(MissingFileError, match="is no complete store"):
            Store.open(folder)
