import json

import numpy as np
import pytest

from zslearn.exceptions import InvalidInputError, InvalidTypeError, UnknownClassError
from zslearn.persistence import export_onnx
from zslearn.zero_shot import SAEClassifier, make_classifier

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
    with pytest.raises(InvalidInputError, match=r"top_k must be a whole number .* candidates, 25"):
        export_onnx(model, path, top_k=26)
    with pytest.raises(UnknownClassError, match="Class 'dodo' has no signature"):
        export_onnx(model, path, candidates=["dodo"])
    with pytest.raises(InvalidTypeError, match="takes an SAEClassifier; got a"):
        export_onnx(make_classifier("legacy_awa"), path)
    with pytest.raises(Exception, match="not fitted yet"):
        export_onnx(SAEClassifier(data.signatures), path)
    assert not path.exists()
