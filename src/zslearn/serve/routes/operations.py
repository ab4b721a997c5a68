"""For operators: figures, and the repository of models."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zslearn.serve.errors import RequestError, refuse
from zslearn.serve.json_text import read_json
from zslearn.serve.metrics import CONTENT_TYPE
from zslearn.serve.models import VERSION
from zslearn.serve.responses import json_response
from zslearn.serve.shelf import ModelSlot
from zslearn.serve.state import read_request, server_of


async def metrics(request: Request) -> Response:
    """Answer the figures of the server, for Prometheus."""
    server = server_of(request)
    text = await server.pool.run(server.metrics.text, server.shelf, server.pool.pending)
    return Response(text, headers={"content-type": CONTENT_TYPE})


async def index(request: Request) -> Response:
    """Answer the models of the server, all or those that are ready."""
    body = await read_request(request)
    wishes = read_json(body) if body.strip() else {}
    if not isinstance(wishes, dict) or not isinstance(wishes.get("ready", False), bool):
        raise refuse('the body must be empty or {"ready": true}.')
    slots = server_of(request).shelf.slots.values()
    found = [described(slot) for slot in slots if slot.is_ready or not wishes.get("ready")]
    return json_response(found)


async def load(request: Request) -> Response:
    """Read a model file again; what was served before stays if it cannot be read."""
    return await _change(request, ModelSlot.load)


async def unload(request: Request) -> Response:
    """Stop serving a model."""
    return await _change(request, ModelSlot.unload)


def described(slot: ModelSlot) -> dict[str, Any]:
    """Return a model as the index has it."""
    state = "READY" if slot.is_ready else "UNAVAILABLE"
    reason = "" if slot.is_ready else "unloaded"
    return {"name": slot.name, "version": VERSION, "state": state, "reason": reason}


async def _change(request: Request, change: Any) -> Response:
    server = server_of(request)
    slot = server.shelf.slot(request.path_params["name"])
    await read_request(request)
    if server.settings.read_only or server.settings.workers > 1:
        flag = "--read-only" if server.settings.read_only else "--workers"
        raise RequestError(
            403, f"models of this server are not loaded by requests ({flag}); send it SIGHUP."
        )
    await server.pool.run(change, slot)
    return json_response({})


ROUTES = [
    Route("/metrics", metrics),
    Route("/v2/repository/index", index, methods=["POST"]),
    Route("/v2/repository/models/{name}/load", load, methods=["POST"]),
    Route("/v2/repository/models/{name}/unload", unload, methods=["POST"]),
]
