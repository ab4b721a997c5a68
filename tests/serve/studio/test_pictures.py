"""Each thumbnail belongs to its row."""

import numpy as np
import pytest

from zslearn.encoders import ImageEncoder
from zslearn.encoders.pictures import decode_rgb
from zslearn.serve.studio.collection import N_PER_CLASS, draw_shape, open_animals, shape_classes

ROWS = list(range(7, 1680, 139))


def test_thumbnails_are_the_pictures_of_their_rows(visitor):
    for row in ROWS:
        answer = visitor.get(f"thumbnails/{row}")
        assert answer.headers["content-type"] == "image/jpeg"
        shown = decode_rgb(answer.content, "thumbnail").astype(float)
        label = str(shape_classes()[0].names[row // N_PER_CLASS])
        assert visitor.json(f"samples/{row}")["label"] == label
        near = np.abs(shown - draw_shape(label, row)).mean()
        assert near < 6  # what JPEG changes
        assert near < np.abs(shown - draw_shape(label, row + 1)).mean()
    assert decode_rgb(visitor.get("pictures/5").content, "picture").shape == (512, 512, 3)
    assert visitor.get("thumbnails/1680").status_code == 404


def test_features_of_the_shapes_are_those_of_the_pictures(visitor):
    """Projections keep inner products: those of stored rows are those of encoded pictures."""
    pytest.importorskip("onnxruntime", reason="the extra images is not installed")
    labels = visitor.session.collection.labels
    pictures = [draw_shape(str(labels[row]), row) for row in ROWS]
    encoded = ImageEncoder("efficientnet-lite0").transform(pictures).astype(float)
    encoded /= np.linalg.norm(encoded, axis=1, keepdims=True)
    stored = visitor.session.collection.X[ROWS].astype(float)
    off = ~np.eye(len(ROWS), dtype=bool)
    same = np.corrcoef((stored @ stored.T)[off], (encoded @ encoded.T)[off])[0, 1]
    moved = np.roll(stored, 1, axis=0)
    assert same > 0.97
    assert same > np.corrcoef((moved @ moved.T)[off], (encoded @ encoded.T)[off])[0, 1] + 0.1


@pytest.mark.data
def test_photographs_are_those_of_the_rows(data_dir):
    pytest.importorskip("onnxruntime", reason="the extra images is not installed")
    animals = open_animals(data_dir / "animals28" / "images")
    rows = [0, 500, 777, 1679]
    encoder = ImageEncoder("efficientnet-lite2")
    encoded = encoder.transform([animals.picture(row, 512) for row in rows]).astype(float)
    stored = animals.X / np.linalg.norm(animals.X, axis=1, keepdims=True)
    # The files are smaller copies of those that were encoded, so rows are near, not equal.
    assert (encoded @ stored.T).argmax(axis=1).tolist() == rows
