"""Inference by the Open Inference Protocol."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zslearn.serve.errors import refuse
from zslearn.serve.inference import infer
from zslearn.serve.protocol import Message, decode_request
from zslearn.serve.responses import HEADER_LENGTH, message_response
from zslearn.serve.settings import Limits
from zslearn.serve.shelf import ModelSlot
from zslearn.serve.state import read_request, server_of


async def infer_request(request: Request) -> Response:
    """Answer the samples of a request."""
    server = server_of(request)
    slot = server.shelf.slot(**request.path_params)
    slot.changes()  # a model that is not loaded is refused before its body is read
    body = await read_request(request)
    message = Message(body, _header_length(request.headers.get(HEADER_LENGTH)))
    return message_response(await server.pool.run(answer, slot, message, server.settings.limits))


def answer(slot: ModelSlot, message: Message, limits: Limits) -> Message:
    """Read a request, compute, and write the answer; the whole work of one thread."""
    return infer(slot.model(), decode_request(message), limits)


def _header_length(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise refuse(f"Inference-Header-Content-Length must be a number; got {text!r:.40}.")
    return int(text)


ROUTES = [
    Route("/v2/models/{name}/infer", infer_request, methods=["POST"]),
    Route("/v2/models/{name}/versions/{version}/infer", infer_request, methods=["POST"]),
]
