"""From tensors to tensors: what a model answers to one request."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.nearest import best_columns
from zslearn.serve.answers import OUTPUTS, Answer
from zslearn.serve.errors import RequestError, refuse
from zslearn.serve.models import VERSION, ServedModel
from zslearn.serve.options import Options
from zslearn.serve.pictures import encode_pictures
from zslearn.serve.protocol import InferRequest, Message, Tensor, Wanted, encode_response
from zslearn.serve.settings import Limits

DEFAULT = {binary: (Wanted("predict", binary=binary),) for binary in (False, True)}


def infer(model: ServedModel, request: InferRequest, limits: Limits) -> Message:
    """Answer a request.

    Parameters
    ----------
    model : ServedModel
        What answers.
    request : InferRequest
        Samples and wishes.
    limits : Limits
        What a request may cost.

    Returns
    -------
    Message
    """
    answer = Answer(
        model, read_samples(model, request.inputs, limits), Options.of(request.parameters), limits
    )
    wanted = request.outputs or DEFAULT[request.binary]
    # Reasons first: they decide which dimensions are named.
    found = {one.name: _output(answer, one) for one in sorted(wanted, key=_names_last)}
    head = {"model_name": model.name, "model_version": VERSION}
    if request.id:
        head["id"] = request.id
    return encode_response(
        head,
        [Tensor(one.name, found[one.name]) for one in wanted],
        [one.binary for one in wanted],
    )


def read_samples(model: ServedModel, inputs: Any, limits: Limits) -> NDArray[Any]:
    """Return the samples of a request as the classifier takes them."""
    takes = ["features"] if model.encoder is None else ["features", "image"]
    if len(inputs) != 1 or next(iter(inputs)) not in takes:
        raise refuse(
            f"{model.name} takes one input, {' or '.join(takes)}; got {', '.join(inputs):.100}."
        )
    [(name, array)] = inputs.items()
    return as_samples(model, name, array, limits)


def as_samples(model: ServedModel, name: str, array: NDArray[Any], limits: Limits) -> NDArray[Any]:
    """Return features, or pictures, as the classifier takes them."""
    if not len(array):
        raise refuse(f"{name} holds no samples.")
    if len(array) > limits.rows:
        raise RequestError(413, f"{name} holds {len(array)} samples, more than {limits.rows}.")
    if name == "image":
        if model.encoder is None:
            raise refuse(f"{model.name} was not trained on pictures; send it features, as rows.")
        return ready_rows(model, encode_pictures(model, _pictures(array), limits))
    return ready_rows(model, _features(model, array))


def ready_rows(model: ServedModel, X: NDArray[Any]) -> NDArray[Any]:
    """Return samples behind the steps of a pipeline."""
    return X if model.prepare is None else np.asarray(model.prepare(X))


def _features(model: ServedModel, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "O":
        raise refuse("features must be numbers, FP32 or FP64; got BYTES.")
    if array.ndim != 2 or array.shape[1] != model.n_features:
        raise refuse(
            f"features must have the shape [n, {model.n_features}]; got {list(array.shape)}."
        )
    return array


def _pictures(array: NDArray[Any]) -> list[bytes]:
    """Return the files of pictures; in JSON they are written in base64."""
    if array.dtype.kind != "O":
        raise refuse("image must be of type BYTES: encoded JPEG or PNG files.")
    return [_decoded(item) for item in array.ravel().tolist()]


def _decoded(item: bytes) -> bytes:
    if item[:2] in (b"\xff\xd8", b"\x89P"):
        return item
    try:
        return base64.b64decode(item, validate=True)
    except binascii.Error as error:
        raise refuse("a picture is neither JPEG or PNG, nor base64 of one.") from error


def _output(answer: Answer, wanted: Wanted) -> NDArray[Any]:
    if wanted.name not in OUTPUTS:
        raise refuse(f"there is no output {wanted.name!r:.40}; known are {', '.join(OUTPUTS)}.")
    if not wanted.classification:
        return OUTPUTS[wanted.name](answer)
    if wanted.name not in ("scores", "probabilities"):
        raise refuse(f"classification is for scores and probabilities, not {wanted.name}.")
    values = answer.all_scores if wanted.name == "scores" else answer.all_probabilities
    columns, best = best_columns(values, min(wanted.classification, values.shape[1]))
    names = answer.recognizer.names
    rows = [
        [f"{value:f}:{column}:{names[column]}" for column, value in zip(*row, strict=True)]
        for row in zip(columns.tolist(), best.tolist(), strict=True)
    ]
    return np.array(rows, dtype=object)


def _names_last(wanted: Wanted) -> bool:
    return wanted.name == "dimensions"
