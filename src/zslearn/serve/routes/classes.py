"""Classes at run time: list them, look at one, add or change one, remove one."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zslearn.serve.changed_model import unknown_class
from zslearn.serve.errors import RequestError
from zslearn.serve.models import ServedModel
from zslearn.serve.new_class import checked_name, read_signature
from zslearn.serve.responses import json_response
from zslearn.serve.shelf import ModelSlot
from zslearn.serve.state import read_request, server_of


async def list_classes(request: Request) -> Response:
    """Answer the classes of a model and the dimensions of their signatures."""
    slot = server_of(request).shelf.slot(request.path_params["name"])
    return json_response(await server_of(request).pool.run(described, slot))


async def get_class(request: Request) -> Response:
    """Answer the signature of one class."""
    slot = server_of(request).shelf.slot(request.path_params["name"])
    work = server_of(request).pool.run(described_class, slot, request.path_params["class_name"])
    return json_response(await work)


async def put_class(request: Request) -> Response:
    """Add a class, 201, or give it another signature, 200; the next request can answer it."""
    server = server_of(request)
    slot = server.shelf.slot(request.path_params["name"])
    _check_writable(request)
    body = await read_request(request)
    facts = await server.pool.run(put, slot, request.path_params["class_name"], body)
    return json_response(facts, 201 if facts["created"] else 200)


async def delete_class(request: Request) -> Response:
    """Remove a class."""
    server = server_of(request)
    slot = server.shelf.slot(request.path_params["name"])
    _check_writable(request)
    await server.pool.run(remove, slot, request.path_params["class_name"])
    return Response(status_code=204)


def described(slot: ModelSlot) -> dict[str, Any]:
    """Return the classes of a model."""
    model = slot.model()
    changed, recognizer = slot.changes().changed(), model.recognizer
    pairs = zip(recognizer.names.tolist(), recognizer.seen.tolist(), strict=True)
    return {
        "model_name": model.name,
        "dimensions": list(model.signatures.dimensions),
        "text_encoder": model.text_encoder,
        "classes": [
            {"name": name, "seen": seen, "changed": name in changed} for name, seen in pairs
        ],
    }


def described_class(slot: ModelSlot, given: str) -> dict[str, Any]:
    """Return the signature of a class."""
    model = slot.model()
    place = _place(model, model.class_of(given))
    table = model.signatures
    return {
        "name": model.recognizer.names[place],
        "seen": model.recognizer.seen[place],
        "changed": model.recognizer.names[place].item() in slot.changes().changed(),
        "vector": dict(zip(table.dimensions, table.vectors[place].tolist(), strict=True)),
    }


def put(slot: ModelSlot, given: str, body: bytes) -> dict[str, Any]:
    """Add or change a class."""
    model = slot.model()
    name = checked_name(model, given)
    created = slot.changes().put(name, read_signature(model, body))
    return {"name": name, "created": created, "n_classes": len(slot.model().recognizer)}


def remove(slot: ModelSlot, given: str) -> None:
    """Remove a class."""
    slot.changes().remove(slot.model().class_of(given))


def _place(model: ServedModel, name: str | int) -> int:
    names = model.recognizer.names.tolist()
    if name not in names:
        raise unknown_class(model, name)
    return int(names.index(name))


def _check_writable(request: Request) -> None:
    if server_of(request).settings.read_only:
        raise RequestError(403, "the classes of this server cannot be changed (--read-only).")


ROUTES = [
    Route("/v2/models/{name}/classes", list_classes),
    Route("/v2/models/{name}/classes/{class_name:path}", get_class),
    Route("/v2/models/{name}/classes/{class_name:path}", put_class, methods=["PUT"]),
    Route("/v2/models/{name}/classes/{class_name:path}", delete_class, methods=["DELETE"]),
]
