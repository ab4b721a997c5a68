"""A plain road for people with curl: rows or pictures in, readable answers out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zslearn.exceptions import ZslearnError
from zslearn.serve.answers import Answer
from zslearn.serve.errors import RequestError, refuse
from zslearn.serve.inference import as_samples
from zslearn.serve.json_text import read_json
from zslearn.serve.models import ServedModel
from zslearn.serve.options import Options
from zslearn.serve.responses import json_response
from zslearn.serve.settings import Limits
from zslearn.serve.shelf import ModelShelf, ModelSlot
from zslearn.serve.state import read_request, server_of

PICTURES = (b"\xff\xd8\xff", b"\x89PNG")
FIELDS = ("rows", "model", "candidates", "top_k", "bias", "reject", "explain")
REASONS = 5
MOST_FILES = 64


async def predict(request: Request) -> Response:
    """Answer rows of numbers, or pictures, in words."""
    server = server_of(request)
    limits = server.settings.limits
    body = await read_request(request)
    fields, pictures = await _parts(request.headers, body)
    slot = _slot(server.shelf, fields.get("model", request.query_params.get("model")))
    slot.changes()
    return json_response(await server.pool.run(answered, slot, fields, pictures, limits))


def answered(
    slot: ModelSlot, fields: Mapping[str, Any], pictures: Sequence[bytes], limits: Limits
) -> dict[str, Any]:
    """Return the answers to rows or pictures."""
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise refuse(f"unknown fields: {', '.join(unknown):.100}; known: {', '.join(FIELDS)}.")
    model = slot.model()
    samples = _objects(pictures) if pictures else _rows(fields.get("rows"), model)
    X = as_samples(model, "image" if pictures else "features", samples, limits)
    options = Options.of({"top_k": 1} | {key: fields[key] for key in fields})
    answer = Answer(model, X, options, limits)
    names, scores = (part.tolist() for part in answer.ranking)
    likely = answer.probabilities().tolist()
    found = [
        [
            {"class": name, "score": score, "probability": share}
            for name, score, share in zip(*row, strict=True)
        ]
        for row in zip(names, scores, likely, strict=True)
    ]
    answers: list[dict[str, Any]] = [
        best[0] | ({"best": best} if len(best) > 1 else {}) for best in found
    ]
    if options.reject:
        for one, rejected in zip(answers, answer.rejected().tolist(), strict=True):
            one["rejected"] = rejected
    if fields.get("explain", len(answers) == 1) is True:
        for one, because in zip(answers, _reasons(answer), strict=False):
            one["because"] = because
    return {"model": model.name, "answers": answers}


def _reasons(answer: Answer) -> list[dict[str, float]]:
    """Return the dimensions that spoke most for each answer; none if the method cannot say."""
    try:
        reasons = answer.reasons
    except RequestError:
        raise
    except ZslearnError:
        return []
    found = []
    for reason in reasons:
        order = np.argsort(-reason.contributions, kind="stable")[:REASONS]
        pairs = [(reason.dimensions[i], float(reason.contributions[i])) for i in order]
        found.append({name: value for name, value in pairs if value > 0})
    return found


async def _parts(headers: Headers, body: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the fields and the pictures of a request."""
    if body.startswith(PICTURES):
        return {}, [body]
    if headers.get("content-type", "").startswith("multipart/form-data"):
        return await _form(headers, body)
    document = read_json(body)
    if not isinstance(document, dict):
        raise refuse('send {"rows": [[...], ...]}, or a picture.')
    return document, []


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


def _slot(shelf: ModelShelf, name: Any) -> ModelSlot:
    """Return the model that was named, or the only one."""
    if name is None and len(shelf.slots) == 1:
        return next(iter(shelf.slots.values()))
    if not isinstance(name, str):
        raise refuse(f"say which model: model must be one of {', '.join(shelf.slots):.200}.")
    return shelf.slot(name)


def _rows(rows: Any, model: ServedModel) -> NDArray[Any]:
    """Return rows of numbers as an array; a single row need not be in a list."""
    if not isinstance(rows, list) or not rows:
        raise refuse(
            f'send {{"rows": [[...], ...]}}: lists of {model.n_features} numbers'
            + (", or a picture." if model.encoder else ".")
        )
    try:
        array = np.array(rows)
    except ValueError as error:
        raise refuse("the rows are lists of different lengths.") from error
    if array.dtype.kind not in "biuf" or array.ndim > 2:
        raise refuse("the rows must be lists of numbers.")
    return np.atleast_2d(array.astype(np.float64))


def _objects(pictures: Sequence[bytes]) -> NDArray[Any]:
    array = np.empty(len(pictures), dtype=object)
    array[:] = pictures
    return array


ROUTES = [Route("/predict", predict, methods=["POST"])]
