"""Stores of pictures go into one-pass fits, and the model knows their encoder."""

import numpy as np
import pytest
from PIL import Image

from tests.encoders.tiny_onnx import write_onnx
from zslearn.cluster import RCA
from zslearn.datasets import make_shapes
from zslearn.encoders import ImageEncoder, build_store, encoder_of_model, find_pictures
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save
from zslearn.scale import fit_batches, fit_dask
from zslearn.zero_shot import SAEClassifier


@pytest.fixture(scope="module")
def shapes():
    return make_shapes(9, 2, n_per_class=4, random_state=0)


@pytest.fixture(scope="module")
def photos(shapes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for i, (label, pixels) in enumerate(zip(shapes.y, shapes.pictures, strict=True)):
        if label in shapes.split.seen:
            (folder / label).mkdir(exist_ok=True)
            Image.fromarray(pixels).save(folder / label / f"{i}.png")
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return ImageEncoder(write_onnx(tmp_path_factory.mktemp("net") / "net.onnx"))


@pytest.fixture(scope="module")
def store(photos, encoder, tmp_path_factory):
    return build_store(find_pictures(photos), tmp_path_factory.mktemp("s") / "s", encoder)


def test_a_store_is_fitted_in_one_pass(shapes, store, encoder, tmp_path):
    expected = SAEClassifier(shapes.signatures, lam=1.0).fit(np.asarray(store.X), store.y)
    got = fit_batches(SAEClassifier(shapes.signatures, lam=1.0), store.folder, block_rows=7)
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=1e-6 * np.abs(expected.coef_).max())
    save(got, tmp_path / "m.zsl")
    assert encoder_of_model(load(tmp_path / "m.zsl")) == encoder.identity


def test_a_cluster_tells_the_encoder_too(shapes, store, encoder):
    model = fit_dask(SAEClassifier(shapes.signatures, lam=1.0), [store.folder])
    assert encoder_of_model(model) == encoder.identity


def test_stores_of_two_encoders_are_not_mixed(shapes, photos, store, encoder, tmp_path):
    flip = ImageEncoder(encoder.model, views="flip")
    other = build_store(find_pictures(photos), tmp_path / "flip", flip)
    model = SAEClassifier(shapes.signatures, lam=1.0)
    with pytest.raises(InvalidInputError, match=r"several encoders: onnx:.*, onnx:.*views flip"):
        fit_batches(model, [store.folder, other.folder])
    fit_batches(model, [store.folder, store.folder])
    assert encoder_of_model(model) == encoder.identity


def test_plain_features_make_a_model_forget_its_encoder(shapes, store):
    model = fit_batches(SAEClassifier(shapes.signatures, lam=1.0), store.folder)
    fit_batches(model, np.asarray(store.X), store.y)
    assert encoder_of_model(model) is None


@pytest.mark.parametrize("mapped", [False, True])
def test_a_fit_on_plain_features_forgets_the_encoder(shapes, store, mapped, tmp_path):
    X, y = np.repeat(np.asarray(store.X), 20, axis=0), np.repeat(store.y, 20)
    np.save(tmp_path / "X.npy", X)
    model = fit_batches(SAEClassifier(shapes.signatures, lam=1.0), store.folder)
    model.fit(np.load(tmp_path / "X.npy", mmap_mode="r") if mapped else X, y)
    assert encoder_of_model(model) is None
    mapping = fit_batches(RCA(), store.folder).fit(X, y)
    assert encoder_of_model(mapping) is None
