"""Pictures to vectors: the same ones as PyTorch's, whatever the picture comes as."""

import json
import pickle

import numpy as np
import pytest
from onnx import TensorProto, helper, load_model, numpy_helper
from PIL import Image
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.encoders.tiny_onnx import write_onnx
from zslearn.encoders import (
    EncoderIdentity,
    ImageEncoder,
    Preprocessing,
    efficientnet,
    encoder_of,
    registry,
)
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingExtraError,
    MissingFileError,
    ModelFileError,
)

# Means of 160 features each, by torch 2.13.0 with the package efficientnet_lite_pytorch 0.1.0.
BY_TORCH = {
    "efficientnet-lite0": ".153681 .131711 .163748 .122662 .186335 .189132 .141772 .141251",
    "efficientnet-lite1": ".163723 .138204 .169408 .247816 .144832 .151533 .199495 .217979",
    "efficientnet-lite2": ".210876 .179683 .153123 .123994 .122304 .206994 .203594 .192914",
}


@pytest.fixture(scope="module")
def pixels():
    """A picture known by its formula."""
    row, column = np.mgrid[:100, :140]
    channels = [(row * 5 + column) % 256, (column * 7) % 256, (row * column) % 256]
    return np.stack(channels, axis=-1).astype(np.uint8)


@pytest.mark.parametrize("name", BY_TORCH)
def test_vectors_are_those_of_torch(name, pixels):
    vector = ImageEncoder(name).transform([pixels])[0]
    assert vector.shape == (1280,)
    assert vector.dtype == np.float32
    expected = np.array(BY_TORCH[name].split(), dtype=float)
    np.testing.assert_allclose(vector.reshape(8, 160).mean(axis=1), expected, atol=2e-6)


def test_files_open_pictures_and_arrays_give_the_same_bits(pixels, tmp_path):
    Image.fromarray(pixels).save(tmp_path / "a.png")
    encoder = ImageEncoder("efficientnet-lite0")
    kinds = [tmp_path / "a.png", str(tmp_path / "a.png"), Image.fromarray(pixels), pixels]
    vectors = encoder.transform(kinds)
    assert (vectors == vectors[0]).all()
    assert np.array_equal(encoder.transform(np.stack([pixels, pixels])), vectors[:2])


def test_batches_and_threads_do_not_change_a_bit(pixels):
    pictures = [np.roll(pixels, shift, axis=1) for shift in range(7)]
    expected = ImageEncoder("efficientnet-lite0", batch_size=1, n_jobs=1).transform(pictures)
    for batch_size, n_jobs in [(2, 3), (3, 1), (7, 2)]:
        encoder = ImageEncoder("efficientnet-lite0", batch_size=batch_size, n_jobs=n_jobs)
        assert np.array_equal(encoder.transform(pictures), expected)


def test_it_is_a_transformer_of_scikit_learn(pixels):
    encoder = ImageEncoder("efficientnet-lite0", batch_size=3)
    copy = pickle.loads(pickle.dumps(clone(encoder)))
    assert copy.get_params() == encoder.get_params()
    assert len(pickle.dumps(encoder)) < 2000
    pipeline = make_pipeline(copy, StandardScaler())
    standard = pipeline.fit_transform([pixels, pixels[::-1]])
    assert standard.shape == (2, 1280)
    names = pipeline[:-1].get_feature_names_out()
    assert names[[0, -1]].tolist() == ["efficientnet-lite0_0", "efficientnet-lite0_1279"]


def test_views_are_averaged(tmp_path):
    model = write_onnx(tmp_path / "net.onnx")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    own = ImageEncoder(model).transform([pixels])
    mirrored = ImageEncoder(model).transform([pixels[:, ::-1]])
    flip = ImageEncoder(model, views="flip").transform([pixels])
    assert np.array_equal(own[0].reshape(3, 4, 4), pixels.transpose(2, 0, 1))
    np.testing.assert_allclose(flip, (own + mirrored) / 2)
    half = Preprocessing(size=2, crop=0.5)
    write_onnx(tmp_path / "net.onnx", size=2, mean=True)
    crops = ImageEncoder(model, views="crops", preprocessing=half).transform([pixels])
    corners = [pixels[1:3, 1:3], pixels[:2, :2], pixels[:2, 2:], pixels[2:, :2], pixels[2:, 2:]]
    np.testing.assert_allclose(
        crops[0], np.mean([corner.mean(axis=(0, 1)) for corner in corners], axis=0), rtol=1e-6
    )


def test_the_preprocessing_of_an_onnx_file(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    file = tmp_path / "net.onnx"
    model = write_onnx(file, batch=1)
    settings = {"size": 4, "crop": 1.0, "mean": [1, 2, 3], "std": [2, 4, 8], "channels": "BGR"}
    file.with_suffix(".json").write_text(json.dumps(settings))
    vectors = ImageEncoder(model).transform([pixels, pixels])
    expected = ((pixels - np.array([1.0, 2, 3])) / [2, 4, 8])[..., ::-1].transpose(2, 0, 1)
    np.testing.assert_allclose(vectors[1].reshape(3, 4, 4), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[1]", "preprocessing must be a JSON object"),
        ("{", r"not JSON"),
        ("{}", "preprocessing needs 'size'"),
        ('{"size": 4, "colour": 1}', "got 'size', 'colour'"),
        ('{"size": 4.5}', "size must be a whole number"),
        ('{"size": 100000000}', "size must be a whole number from 1 to 4096"),
        ('{"size": 8, "mean": [1, 2]}', "mean must be three numbers"),
        ('{"size": 8, "std": [1, 0, 1]}', "std must be three positive numbers"),
        ('{"size": 8, "crop": 2}', "crop must be a number above 0 and at most 1"),
    ],
)
def test_wrong_preprocessing_is_refused(tmp_path, settings, message):
    model = write_onnx(tmp_path / "net.onnx")
    (tmp_path / "net.json").write_text(settings)
    with pytest.raises(InvalidInputError, match=rf"net\.json: .*{message}"):
        ImageEncoder(model).fit()


def test_onnx_files_that_are_none(tmp_path):
    model = write_onnx(tmp_path / "net.onnx")
    with pytest.raises(ModelFileError, match=r"it does not take pictures of shape \(3, 9, 9\)"):
        ImageEncoder(model, preprocessing=Preprocessing(9)).fit()
    ImageEncoder(model).fit()
    (tmp_path / "net.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelFileError, match="onnxruntime refuses it"):
        ImageEncoder(model).fit()
    (tmp_path / "net.json").unlink()
    with pytest.raises(MissingFileError, match=r"net\.json.*pass preprocessing="):
        ImageEncoder(model).fit()
    with pytest.raises(MissingFileError, match="There is no file 'none"):
        ImageEncoder("onnx:none.onnx").fit()


def test_a_network_that_is_refused_leaves_stdout_alone(tmp_path, capfd):
    model = write_onnx(tmp_path / "net.onnx")
    content = (tmp_path / "net.onnx").read_bytes()
    (tmp_path / "net.onnx").write_bytes(content.replace(b"Flatten", b"Fla\xf4ten"))  # no UTF-8
    with pytest.raises(ModelFileError, match="onnxruntime refuses it"):
        ImageEncoder(model).fit()
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("end", ["input", "output"])
def test_a_network_without_ends_is_refused(tmp_path, end):
    write_onnx(tmp_path / "net.onnx")
    model = load_model(tmp_path / "net.onnx")
    del getattr(model.graph, end)[:]
    if end == "input":  # the picture becomes a constant, so that the network is still one
        pictures = numpy_helper.from_array(np.ones((1, 3, 4, 4), np.float32), "x")
        model.graph.initializer.append(pictures)
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelFileError, match=r"it must have one input, .* and an output"):
        ImageEncoder(f"onnx:{tmp_path / 'net.onnx'}").fit()


def test_tensors_in_other_files_are_not_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(np.ones(12, np.float32).tobytes())
    weights = numpy_helper.from_array(np.ones((3, 4, 1, 1), np.float32), "w")
    weights.data_location = TensorProto.EXTERNAL
    weights.ClearField("raw_data")
    entry = weights.external_data.add()
    entry.key, entry.value = "location", "secret"
    x, v = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3, 8, 8]) for name in "xv")
    node = helper.make_node("Conv", ["x", "w"], ["v"])
    graph = helper.make_graph([node], "outside", [x], [v], [weights])
    (tmp_path / "net.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    with pytest.raises(ModelFileError, match="onnxruntime refuses it"):
        ImageEncoder(f"onnx:{tmp_path / 'net.onnx'}", preprocessing=Preprocessing(8)).fit()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "efficientnet-lite7"}, "Did you mean 'efficientnet-lite"),
        ({"model": "onnx:"}, "there is no image encoder 'onnx:'; choose 'efficientnet-lite0'"),
        ({"model": 3}, "model must be the name of a model"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"n_jobs": -1}, "n_jobs must be None or a whole number"),
        ({"views": "all"}, "views must be 'center', 'flip' or 'crops'"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        ImageEncoder(**parameters).fit()


def test_what_is_no_picture_is_refused(pixels, tmp_path):
    encoder = ImageEncoder(write_onnx(tmp_path / "net.onnx"))
    with pytest.raises(InvalidTypeError, match="must come as a list; got str"):
        encoder.transform("a.png")
    with pytest.raises(InvalidInputError, match="there are no pictures"):
        encoder.transform([])
    with pytest.raises(InvalidInputError, match=r"uint8 of shape .* got float64"):
        encoder.transform([pixels / 255])
    with pytest.raises(InvalidInputError, match=r"got uint8 of shape \(100, 140, 2\)"):
        encoder.transform([pixels[:, :, :2]])
    with pytest.raises(InvalidInputError, match=r"has no pixels; got shape \(0, 140, 3\)"):
        encoder.transform([pixels[:0]])
    with pytest.raises(InvalidTypeError, match="must be a path, a PIL image or an array"):
        encoder.transform([3])
    with pytest.raises(MissingFileError, match=r"there is no picture .*none\.png"):
        encoder.transform([pixels, tmp_path / "none.png"])


def test_an_identity_finds_its_encoder_again(tmp_path):
    model = write_onnx(tmp_path / "net.onnx")
    encoder = ImageEncoder(model, views="flip")
    stored = json.loads(json.dumps(encoder.identity.as_dict()))
    identity = EncoderIdentity.from_dict(stored)
    assert identity == encoder.identity
    again = encoder_of(identity, batch_size=2)
    assert again.views == "flip"
    assert again.identity.matches(encoder.identity)
    assert not ImageEncoder(model).identity.matches(encoder.identity)
    moved = write_onnx(tmp_path / "moved.onnx")
    assert ImageEncoder(moved, views="flip").identity.matches(identity)
    changed = EncoderIdentity.from_dict(stored | {"sha256": "0" * 64})
    with pytest.raises(InvalidInputError, match=r"the encoder onnx:.*SHA-256 000000000000"):
        encoder_of(changed)
    for damage in (None, [], {"model": "a"}, stored | {"sha256": 3}, stored | {"settings": "flip"}):
        with pytest.raises(InvalidInputError, match="identity of an encoder is damaged"):
            EncoderIdentity.from_dict(damage)


def test_a_missing_package_of_weights_is_named(monkeypatch):
    entry = efficientnet.BUILT_IN["efficientnet-lite0"]._replace(package="no-such-package")
    monkeypatch.setitem(efficientnet.BUILT_IN, "efficientnet-lite9", entry)
    monkeypatch.setitem(registry._OPENERS["image"], "efficientnet-lite9", efficientnet.open_lite)
    with pytest.raises(MissingExtraError, match=r"'no-such-package'.*zslearn\[images\]"):
        ImageEncoder("efficientnet-lite9").fit()


def test_weights_that_were_changed_are_refused(monkeypatch):
    entry = efficientnet.BUILT_IN["efficientnet-lite0"]._replace(sha256="0" * 64)
    monkeypatch.setitem(efficientnet.BUILT_IN, "efficientnet-lite9", entry)
    monkeypatch.setitem(registry._OPENERS["image"], "efficientnet-lite9", efficientnet.open_lite)
    with pytest.raises(ModelFileError, match="its SHA-256 begins with 579344248a93"):
        ImageEncoder("efficientnet-lite9").fit()
