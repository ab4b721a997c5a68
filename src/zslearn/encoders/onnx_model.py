"""Image models as ONNX graphs, run by onnxruntime."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import check_is_file, first_line
from zslearn._optional import require
from zslearn.encoders.image_models import ImageModel
from zslearn.encoders.preprocessing import Preprocessing
from zslearn.exceptions import InvalidInputError, ModelFileError


def open_model(path: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Open an ONNX file whose one input is a batch of pictures.

    Parameters
    ----------
    path : str
        The file, complete: tensors in other files are not read.
    preprocessing : Preprocessing, optional
        By default read from the JSON file of the same name next to it.

    Returns
    -------
    ImageModel
        Its vectors are the first output of the graph, of shape (n, n_features) or
        (n, n_features, 1, 1).
    """
    file = Path(path)
    check_is_file(file)
    if preprocessing is None:
        settings = file.with_suffix(".json")
        check_is_file(settings, "write the preprocessing of the model there or pass preprocessing=")
        preprocessing = Preprocessing.from_json(settings)
    content = file.read_bytes()
    return model_of(content, hashlib.sha256(content).hexdigest(), preprocessing, str(file))


def model_of(content: bytes, sha256: str, preprocessing: Preprocessing, name: str) -> ImageModel:
    """Return the model in a serialized graph; `sha256` is that of its weights."""
    session = _session(content, name)
    (taken, *more), given = session.get_inputs(), session.get_outputs()[0]
    if more or len(taken.shape) != 4 or taken.type != "tensor(float)":
        raise ModelFileError(
            name, "it must have one input, a batch of pictures of float32", "network"
        )
    whole_batches = not isinstance(taken.shape[0], int)

    def run(pictures: NDArray[np.float32]) -> NDArray[np.float32]:
        pieces = [pictures] if whole_batches else np.split(pictures, len(pictures))
        found = [session.run([given.name], {taken.name: piece})[0] for piece in pieces]
        return np.concatenate(found).reshape(len(pictures), -1)

    return ImageModel(sha256, preprocessing, _width(run, preprocessing, name), run)


def _session(content: bytes, name: str) -> Any:
    runtime = require("onnxruntime", extra="images", purpose="An image encoder")
    options = runtime.SessionOptions()
    # Batches are spread over threads, which uses cores better than threads inside a batch, and
    # the vectors do not depend on the number of threads.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own kinds have no common base
        raise ModelFileError(
            name, f"onnxruntime refuses it ({first_line(error)})", "network"
        ) from error


def _width(run: Any, preprocessing: Preprocessing, name: str) -> int:
    """Try the model on a black picture, and return the length of its vector."""
    black = preprocessing(np.zeros((8, 8, 3), np.uint8))
    try:
        vectors = run(black)
    except Exception as error:
        raise ModelFileError(
            name,
            f"it does not take pictures of shape {black.shape[1:]} ({first_line(error)})",
            "network",
        ) from error
    if vectors.dtype != np.float32:
        raise InvalidInputError(f"{name}: its first output must be float32; got {vectors.dtype}.")
    return int(vectors.shape[1])
