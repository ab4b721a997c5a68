import json

import numpy as np
import pytest
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

from zslearn.exceptions import InvalidInputError, InvalidTypeError, UnknownClassError
from zslearn.persistence import export_onnx
from zslearn.zero_shot import (
    AutoZeroShotClassifier,
    CalibratedStacking,
    SAEClassifier,
    make_classifier,
)

pytest.importorskip("onnx", reason="needs the extra onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")


def session(path):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("direction", ["encode", "decode", "both"])
@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("norm", ["l2", None])
def test_onnxruntime_gives_our_scores(data, tmp_path, direction, metric, norm):
    model = SAEClassifier(
        data.signatures, lam=0.3, direction=direction, metric=metric, feature_norm=norm
    ).fit(data.X, data.y)
    export_onnx(model, tmp_path / "m.onnx")
    X = data.X.astype(np.float32)
    (scores,) = session(tmp_path / "m.onnx").run(["scores"], {"features": X})
    expected = model.decision_function(data.X)
    np.testing.assert_allclose(scores, expected, atol=2e-5 * np.abs(expected).max())


METHODS = {
    "ridge-fs": {"metric": "cosine"},
    "rrzsl": {"metric": "euclidean", "feature_norm": None},
    "eszsl": {},
    "prototype-regression": {"power": 0.5},
    "ale": {"epochs": 2},
    "sje": {"epochs": 2, "space_weights": "cv"},
    "devise": {"epochs": 2},
    "ds-sje": {"epochs": 2},
    "sync-ovo": {},
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("calibrated", [False, True])
def test_every_method_with_class_vectors_can_be_exported(data, tmp_path, name, calibrated):
    model = make_classifier(name, data.signatures, **METHODS[name])
    model = CalibratedStacking(model, gamma=0.3) if calibrated else model
    rows = data.rows(data.split("standard").seen)
    model.fit(data.X[rows], data.y[rows])
    changed = model.recognizer().replace("okapi", data.signatures.vectors[0] + 1.0)
    changed = changed.without(data.signatures.names[3])
    export_onnx(changed, tmp_path / "m.onnx")
    X = data.X.astype(np.float32)
    run = session(tmp_path / "m.onnx")
    (scores,) = run.run(["scores"], {"features": X})
    expected = changed.scores(data.X)
    np.testing.assert_allclose(scores, expected, atol=5e-5 * np.abs(expected).max())
    np.testing.assert_allclose(
        changed.linear_form().scores(data.X), expected, rtol=1e-9, atol=1e-12
    )
    assert json.loads(run.get_modelmeta().custom_metadata_map["class_names"])[-1] == "okapi"


def refused(model, X):
    """Which rows the classifier refuses, asked one by one."""
    found = np.zeros(len(X), dtype=bool)
    for i, row in enumerate(X):
        try:
            model.decision_function(row[None])
        except ValueError:
            found[i] = True
    return found


def odd_rows(X):
    """Rows with NaN, with infinity, of zeros, of extreme size, and whole ones between them."""
    X = np.repeat(X[:2].astype(np.float32), 5, axis=0)
    X[1, 0], X[2, -1], X[3, 1] = np.nan, np.inf, -np.inf
    X[4] = 0
    X[6] *= np.float32(1e30)
    X[7] *= np.float32(1e-30)
    return X


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("direction", ["encode", "decode"])
@pytest.mark.parametrize("steps", [[], [MinMaxScaler(clip=True)], [Normalizer()]], ids=str)
def test_a_graph_scores_as_nan_what_the_classifier_refuses(
    data, tmp_path, metric, direction, steps
):
    last = SAEClassifier(data.signatures, lam=0.3, direction=direction, metric=metric)
    model = make_pipeline(*steps, last).fit(data.X, data.y)
    export_onnx(model, tmp_path / "m.onnx")
    # A step of scikit-learn does not take rows of extreme size.
    X = odd_rows(data.X)[: 5 if steps else None]
    (scores,) = session(tmp_path / "m.onnx").run(["scores"], {"features": X})
    wrong = refused(model, X)
    assert wrong[:4].tolist() == [False, True, True, True]
    np.testing.assert_array_equal(np.isnan(scores).all(axis=1), wrong)
    np.testing.assert_array_equal(np.isnan(scores).any(axis=1), wrong)
    expected = model.decision_function(X[~wrong])
    np.testing.assert_allclose(scores[~wrong], expected, atol=5e-5 * np.abs(expected).max())


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_a_graph_without_scaling_scores_as_nan_what_is_not_finite(data, tmp_path, metric):
    model = SAEClassifier(data.signatures, lam=0.3, feature_norm=None, metric=metric)
    export_onnx(model.fit(data.X, data.y), tmp_path / "m.onnx")
    X = odd_rows(data.X)[:5]
    (scores,) = session(tmp_path / "m.onnx").run(["scores"], {"features": X})
    np.testing.assert_array_equal(np.isnan(scores).all(axis=1), refused(model, X))


def test_a_graph_of_an_ordinary_classifier_takes_rows_of_zeros(data, tmp_path):
    model = SAEClassifier(lam=0.3).fit(data.X, data.y)
    export_onnx(model, tmp_path / "m.onnx")
    X = odd_rows(data.X)[[0, 4]]
    (scores,) = session(tmp_path / "m.onnx").run(["scores"], {"features": X})
    np.testing.assert_allclose(scores, model.decision_function(X), atol=2e-6)


def test_top_k_candidates_and_their_names(data, model, tmp_path):
    names = list(data.split("standard").unseen)[::-1]
    export_onnx(model, tmp_path / "m.onnx", candidates=names, top_k=2)
    run = session(tmp_path / "m.onnx")
    X = data.X.astype(np.float32)
    scores, values, indices = run.run(None, {"features": X})
    listed = json.loads(run.get_modelmeta().custom_metadata_map["class_names"])
    assert listed == names
    assert scores.shape == (len(X), 5)
    np.testing.assert_array_equal(np.array(listed)[indices], model.predict_top_k(X, 2, names))
    np.testing.assert_array_equal(values, np.take_along_axis(scores, indices, 1))


def test_what_cannot_be_exported_is_refused(data, model, tmp_path):
    path = tmp_path / "m.onnx"
    with pytest.raises(
        InvalidInputError,
        match=r"top_k must be .* from 1 to 25, the number",
    ):
        export_onnx(model, path, top_k=26)
    with pytest.raises(UnknownClassError, match="Class 'dodo' has no signature"):
        export_onnx(model, path, candidates=["dodo"])
    with pytest.raises(InvalidTypeError, match="that ends in a classifier; got a str"):
        export_onnx("model.zsl", path)
    with pytest.raises(InvalidInputError, match="a recognizer already has its candidates"):
        export_onnx(model.recognizer(), path, candidates=["seen0"])
    for name, says in (
        ("legacy_awa", "no products of the features"),
        ("legacy_cub", "whole batch"),
    ):
        other = make_classifier(name, data.signatures).fit(data.X, data.y)
        with pytest.raises(InvalidInputError, match=says):
            export_onnx(other, path)
    with pytest.raises(Exception, match="not fitted yet"):
        export_onnx(SAEClassifier(data.signatures), path)
    assert not path.exists()


STEPS = [
    [StandardScaler()],
    [StandardScaler(with_mean=False)],
    [StandardScaler(with_std=False), "passthrough"],
    [RobustScaler(), PCA(8)],
    [PCA(8, whiten=True)],
    [MaxAbsScaler(), TruncatedSVD(6, random_state=0)],
    [MinMaxScaler((-1, 2)), Normalizer()],
    [MinMaxScaler(clip=True), VarianceThreshold(0.01)],
    [SelectKBest(k=9), StandardScaler()],
]


@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize("name", ["sae", "prototype-regression"])
def test_a_pipeline_gives_our_scores(data, tmp_path, steps, name):
    last = make_classifier(name, data.signatures)
    rows = data.rows(data.split("standard").seen)
    X = (data.X + 5.0).astype(np.float32)
    model = make_pipeline(*steps, CalibratedStacking(last, gamma=0.3)).fit(X[rows], data.y[rows])
    export_onnx(model, tmp_path / "m.onnx")
    (scores,) = session(tmp_path / "m.onnx").run(["scores"], {"features": X})
    expected = model.decision_function(X)
    np.testing.assert_allclose(scores, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("outer", [[], [MinMaxScaler()]], ids=str)
def test_a_pipeline_inside_a_calibrated_classifier_gives_our_scores(data, tmp_path, outer):
    rows = data.rows(data.split("standard").seen)
    inner = make_pipeline(StandardScaler(), PCA(8), make_classifier("sae", data.signatures))
    model = make_pipeline(*outer, CalibratedStacking(inner, gamma=0.3))
    model.fit(data.X[rows], data.y[rows])
    X = data.X.astype(np.float32)
    expected = model.decision_function(data.X)
    export_onnx(model, tmp_path / "m.onnx")
    (scores,) = session(tmp_path / "m.onnx").run(["scores"], {"features": X})
    np.testing.assert_allclose(scores, expected, atol=1e-5 * np.abs(expected).max())
    if not outer:
        recognizer = model[-1].recognizer()
        form = recognizer.linear_form().scores(data.X)
        np.testing.assert_allclose(form, expected, rtol=1e-9, atol=1e-12)
        export_onnx(recognizer, tmp_path / "r.onnx")
        (again,) = session(tmp_path / "r.onnx").run(["scores"], {"features": X})
        np.testing.assert_array_equal(again, scores)


def test_an_automatic_classifier_is_exported_with_its_preparation(data, tmp_path):
    rows = data.rows(data.split("standard").seen)
    model = AutoZeroShotClassifier(
        data.signatures, portfolio=["standardize > prototype-regression"], cv=None
    )
    model.fit(data.X[rows], data.y[rows])
    export_onnx(model, tmp_path / "m.onnx")
    X = data.X.astype(np.float32)
    (scores,) = session(tmp_path / "m.onnx").run(["scores"], {"features": X})
    expected = model.decision_function(data.X)
    np.testing.assert_allclose(scores, expected, atol=1e-5 * np.abs(expected).max())


def test_steps_that_cannot_be_exported_are_named(data, tmp_path):
    last = SAEClassifier(data.signatures, lam=1.0)
    for step, says in (
        (PowerTransformer(), r"PowerTransformer cannot be written as ONNX; .* StandardScaler"),
        (Normalizer("max"), r"Normalizer\(norm='max'\) cannot be written"),
    ):
        model = make_pipeline(step, last).fit(data.X, data.y)
        with pytest.raises(InvalidInputError, match=says):
            export_onnx(model, tmp_path / "m.onnx")
    with pytest.raises(InvalidTypeError, match="got a StandardScaler"):
        export_onnx(make_pipeline(StandardScaler()).fit(data.X), tmp_path / "m.onnx")
