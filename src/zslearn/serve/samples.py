"""What a request brings to be named: rows of numbers, texts or pictures, as a model takes them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from zslearn.encoders import Encoder
from zslearn.encoders.pictures import decode_rgb
from zslearn.encoders.samples import text_problem
from zslearn.serve.models import ServedModel
from zslearn.serve.openapi import convert_body, read_body
from zslearn.serve.responses import RequestError, read_json, refuse
from zslearn.serve.settings import Limits

# How files of pictures begin, and what decodes them.
PICTURES, FORMATS = (b"\xff\xd8\xff", b"\x89PNG"), ("JPEG", "PNG")
MOST_FILES, MOST_LETTERS = 64, 10_000
# Samples as JSON has them; a single one need not be in a list.
Rows = list[float | list[float]]
Texts = str | list[str]
Wish = TypeVar("Wish", bound=Struct)


async def read_given(
    headers: Headers, body: bytes, kind: type[Wish], plain: type[Wish]
) -> tuple[Wish, list[bytes]]:
    """Return what is wanted, and the pictures of a request.

    Parameters
    ----------
    headers : Headers
        Of the request.
    body : bytes
        JSON, the file of a picture, or a form with files.
    kind : type
        What JSON must hold; samples in it are `rows` or `texts`.
    plain : type
        The same without samples: the fields of a form.
    """
    if body.startswith(PICTURES):
        return plain(), [body]
    if headers.get("content-type", "").startswith("multipart/form-data"):
        fields, pictures = await _form(headers, body)
        return convert_body(fields, plain), pictures
    return read_body(body, kind), []


async def _form(headers: Headers, body: bytes) -> tuple[dict[str, Any], list[bytes]]:
    async def stream() -> AsyncIterator[bytes]:
        yield body

    try:
        parser = MultiPartParser(headers, stream(), max_files=MOST_FILES, max_fields=20)  # type: ignore[arg-type]
        form: FormData = await parser.parse()
    except (MultiPartException, KeyError, ValueError) as error:
        raise refuse(f"the form cannot be read ({str(error)[:100]}).") from error
    try:
        items = form.multi_items()
        pictures = [await part.read() for _, part in items if isinstance(part, UploadFile)]
        fields = {name: _value(name, part) for name, part in items if isinstance(part, str)}
    finally:
        await form.close()
    if not pictures:
        raise refuse("the form holds no picture; send one with curl -F image=@photo.jpg.")
    return fields, pictures


def _value(name: str, text: str) -> Any:
    """Return a field of a form as JSON would have it."""
    if name in ("model", "candidates") and not text.startswith("["):
        return text
    return read_json(text.encode())


def given_rows(
    given: Struct, pictures: Sequence[bytes], model: ServedModel, limits: Limits
) -> NDArray[Any]:
    """Return rows, texts or pictures as features; a single one need not be in a list."""
    if pictures:
        return as_features(model, "image", _objects(pictures), limits)
    rows, texts = getattr(given, "rows", []), getattr(given, "texts", [])
    if bool(rows) == bool(texts):
        ways = {"image": ", or a picture", "text": ', or {"texts": ["..."]}'}
        other = "".join(ways[kind] for kind in model.inputs[1:])
        raise refuse(f'send {{"rows": [[...], ...]}}: lists of {model.n_features} numbers{other}.')
    if texts:
        listed = [texts] if isinstance(texts, str) else texts
        said = _objects([text.encode(errors="surrogatepass") for text in listed])
        return as_features(model, "text", said, limits)
    try:
        array = np.atleast_2d(np.array(rows, dtype=np.float64))
    except ValueError as error:
        raise refuse("the rows are lists of different lengths.") from error
    return as_features(model, "features", array, limits)


def tensor_rows(model: ServedModel, inputs: Any, limits: Limits) -> NDArray[Any]:
    """Return the samples of a request of the protocol as features."""
    if len(inputs) != 1 or next(iter(inputs)) not in model.inputs:
        raise refuse(
            f"{model.name} takes one input, {' or '.join(model.inputs)}; got "
            f"{', '.join(inputs):.100}."
        )
    [(name, array)] = inputs.items()
    return as_features(model, name, array, limits)


def as_features(model: ServedModel, name: str, array: NDArray[Any], limits: Limits) -> NDArray[Any]:
    """Return features as they are, and pictures and texts encoded."""
    if not len(array):
        raise refuse(f"{name} holds no samples.")
    if len(array) > limits.rows:
        raise RequestError(413, f"{name} holds {len(array)} samples, more than {limits.rows}.")
    if name == "image":
        return encode_pictures(model, _pictures(array), limits)
    if name == "text":
        return encode_texts(model, _texts(array))
    if array.dtype.kind == "O":
        raise refuse("features must be numbers, FP32 or FP64; got BYTES.")
    if array.ndim != 2 or array.shape[1] != model.n_features:
        raise refuse(
            f"features must have the shape [n, {model.n_features}]; got {list(array.shape)}."
        )
    return array


def ready_rows(model: ServedModel, X: NDArray[Any]) -> NDArray[Any]:
    """Return features behind the steps of a pipeline, as the classifier takes them."""
    return X if model.prepare is None else np.asarray(model.prepare(X))


def encode_texts(model: ServedModel, texts: Sequence[str]) -> NDArray[Any]:
    """Turn texts into features, in this thread; what the encoder does not read is left out."""
    for number, text in enumerate(texts):
        problem = text_problem(text)
        if problem is not None:
            raise refuse(f"text {number}: {problem}.")
        if len(text) > MOST_LETTERS:
            raise RequestError(
                413, f"text {number} has {len(text)} letters, more than {MOST_LETTERS}."
            )
    return _encoder(model, "text").run_batch(texts).vectors


def encode_pictures(model: ServedModel, files: Sequence[bytes], limits: Limits) -> NDArray[Any]:
    """Turn the bytes of picture files into features, one after the other in this thread."""
    encoder = _encoder(model, "image")
    vectors = []
    for number, content in enumerate(files):
        name = f"picture {number}" if len(files) > 1 else "the picture"
        pixels = decode_rgb(content, name, formats=FORMATS, max_pixels=limits.pixels)
        vectors.append(encoder.encode_batch([pixels])[0])
    return np.stack(vectors)


def _encoder(model: ServedModel, kind: str) -> Encoder:
    """Return the encoder of a model, if it is of a kind."""
    if model.encoder is None or kind not in model.inputs:
        what = "pictures" if kind == "image" else "texts"
        raise refuse(
            f"{model.name} was not trained on {what}; send it {' or '.join(model.inputs)}."
        )
    return model.encoder.opened


def _objects(items: Sequence[bytes]) -> NDArray[Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _pictures(array: NDArray[Any]) -> list[bytes]:
    """Return the files of pictures; in JSON they are written in base64."""
    if array.dtype.kind != "O":
        raise refuse("image must be of type BYTES: encoded JPEG or PNG files.")
    return [_decoded(item) for item in array.ravel().tolist()]


def _texts(array: NDArray[Any]) -> list[str]:
    """Return the texts of a tensor."""
    if array.dtype.kind != "O":
        raise refuse("text must be of type BYTES: texts in UTF-8.")
    try:
        return [str(item, "utf-8") for item in array.ravel().tolist()]
    except UnicodeDecodeError as error:
        raise refuse("a text is not UTF-8.") from error


def _decoded(item: bytes) -> bytes:
    if item[:2] in (b"\xff\xd8", b"\x89P"):
        return item
    try:
        return base64.b64decode(item, validate=True)
    except binascii.Error as error:
        raise refuse("a picture is neither JPEG or PNG, nor base64 of one.") from error
