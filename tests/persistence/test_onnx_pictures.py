"""One graph from the pixels of pictures to labels, against Pillow and our own encoder."""

import json

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.encoders.tiny_onnx import write_onnx
from zslearn.datasets import make_shapes
from zslearn.encoders import ImageEncoder, Preprocessing, remember_encoder
from zslearn.exceptions import InvalidInputError, ModelFileError
from zslearn.persistence import export_onnx
from zslearn.zero_shot import CalibratedStacking, SAEClassifier

pytest.importorskip("onnx", reason="needs the extra onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")


def answers(path, pixels, *outputs):
    run = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return run.run(list(outputs), {"pixels": pixels})


def noise(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def identity(n_features):
    """Return a classifier whose scores are the features: with X = S = I the map is I too."""
    names = [f"f{i:04}" for i in range(n_features)]
    eye = dict(zip(names, np.eye(n_features), strict=True))
    model = SAEClassifier(eye, lam=1.0, metric="dot", direction="encode", feature_norm=None)
    return model.fit(np.eye(n_features), names)


@pytest.mark.parametrize("shape", [(9, 9), (40, 64), (301, 77), (5, 200)])
@pytest.mark.parametrize(
    ("views", "settings"),
    [
        ("center", {"interpolation": "bicubic"}),
        ("crops", {"interpolation": "bilinear", "crop": 0.8}),
        ("flip", {"channels": "BGR", "mean": (1, 2, 3), "std": (4, 5, 6)}),
    ],
)
def test_pictures_are_cut_and_scaled_as_pillow_does(tmp_path, shape, views, settings):
    size = 7
    prepare = Preprocessing(size, **settings)
    model = write_onnx(tmp_path / "net.onnx", size=size)
    encoder = ImageEncoder(model, preprocessing=prepare, views=views)
    pixels = noise(2, *shape, 3)
    export_onnx(make_pipeline(encoder, identity(3 * size**2)), tmp_path / "m.onnx")
    (found,) = answers(tmp_path / "m.onnx", pixels, "scores")
    expected = encoder.transform(list(pixels))
    difference = np.abs(found - expected)
    # New versions of Pillow scale a tall picture down its columns first and round in between.
    tall = shape[0] > shape[1]
    assert difference.max() <= (2.01 if tall else 1.01) / min(prepare.std)
    assert difference.mean() < (0.2 if tall else 0.05) / min(prepare.std)


def test_axes_in_another_order(tmp_path):
    size = 4
    write_onnx(tmp_path / "net.onnx", size=size)
    last = write_channels_last(tmp_path / "last.onnx", size)
    pixels = noise(3, 20, 30, 3)
    for name, layout in ((f"onnx:{tmp_path / 'net.onnx'}", "NCHW"), (last, "NHWC")):
        encoder = ImageEncoder(name, preprocessing=Preprocessing(size, layout=layout))
        export_onnx(make_pipeline(encoder, identity(48)), tmp_path / "m.onnx")
        (found,) = answers(tmp_path / "m.onnx", pixels, "scores")
        np.testing.assert_allclose(found, encoder.transform(list(pixels)), atol=1.01)


def write_channels_last(path, size):
    """Write a network of the channels-last kind, in a newer version of the operators."""
    from onnx import TensorProto, helper

    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", size, size, 3])]
    outputs = [helper.make_tensor_value_info("v", TensorProto.FLOAT, ["n", 3 * size**2])]
    graph = helper.make_graph([helper.make_node("Flatten", ["x"], ["v"])], "t", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return f"onnx:{path}"


def test_real_network_to_labels_with_steps_between(tmp_path):
    shapes = make_shapes(n_per_class=1, random_state=0)
    encoder = ImageEncoder("efficientnet-lite0")
    X = encoder.transform(shapes.pictures)
    last = CalibratedStacking(SAEClassifier(shapes.signatures, lam=1.0), gamma=0.01)
    fitted = make_pipeline(StandardScaler(), PCA(20), last).fit(X, shapes.y)
    remember_encoder(fitted[-1], encoder.identity)
    whole = make_pipeline(encoder, *(step for _, step in fitted.steps))
    export_onnx(whole, tmp_path / "m.onnx", top_k=2)
    pixels = np.stack(shapes.pictures[:6])
    outputs = ("scores", "top_indices", "labels")
    scores, best, labels = answers(tmp_path / "m.onnx", pixels, *outputs)
    expected = fitted.decision_function(X[:6])
    np.testing.assert_allclose(scores, expected, atol=0.02 * np.abs(expected).max())
    np.testing.assert_array_equal(labels, fitted.predict(X[:6]))
    np.testing.assert_array_equal(labels, fitted.classes_[best[:, 0]])
    run = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    facts = run.get_modelmeta().custom_metadata_map
    assert json.loads(facts["encoder"]) == encoder.identity.as_dict()
    assert json.loads(facts["class_names"]) == fitted.classes_.tolist()


def test_class_names_that_are_numbers(tmp_path):
    encoder = ImageEncoder(write_onnx(tmp_path / "net.onnx", mean=True))
    pixels = np.zeros((2, 8, 8, 3), np.uint8)
    pixels[0, ..., 0] = pixels[1, ..., 2] = 200
    model = SAEClassifier({7: [1.0, 0.0], 9: [0.0, 1.0]}, lam=1.0)
    model.fit(encoder.transform(list(pixels)), [7, 9])
    export_onnx(make_pipeline(encoder, model), tmp_path / "m.onnx")
    (labels,) = answers(tmp_path / "m.onnx", pixels, "labels")
    assert labels.tolist() == [7, 9]


def test_encoders_that_do_not_fit_are_refused(tmp_path):
    encoder = ImageEncoder(write_onnx(tmp_path / "net.onnx", mean=True))
    path, model = tmp_path / "m.onnx", identity(3)
    with pytest.raises(InvalidInputError, match="gives 3 features, the model takes 4"):
        export_onnx(make_pipeline(encoder, identity(4)), path)
    flipped = ImageEncoder(encoder.model, views="flip")
    remember_encoder(model, flipped.identity)
    with pytest.raises(InvalidInputError, match=r"trained with .*views flip.* Use that one"):
        export_onnx(make_pipeline(encoder, model), path)
    with pytest.raises(InvalidInputError, match="ImageEncoder cannot be written as ONNX"):
        export_onnx(make_pipeline(StandardScaler().fit(np.eye(3)), encoder, identity(3)), path)
    assert not path.exists()


def test_a_network_that_onnx_cannot_read_is_refused(tmp_path, monkeypatch):
    encoder = ImageEncoder(write_onnx(tmp_path / "net.onnx", mean=True))
    monkeypatch.setattr("zslearn.persistence.onnx.encoder_graph", lambda _: b"nonsense")
    with pytest.raises(ModelFileError, match=r"net\.onnx.*onnx cannot read it"):
        export_onnx(make_pipeline(encoder, identity(3)), tmp_path / "m.onnx")


def test_models_of_pytorch_have_no_graph():
    from zslearn.encoders.efficientnet import encoder_graph

    with pytest.raises(InvalidInputError, match=r"'timm:resnet18' is run by PyTorch.*lite0"):
        encoder_graph("timm:resnet18")
