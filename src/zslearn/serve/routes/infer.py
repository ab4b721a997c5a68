"""Inference by the Open Inference Protocol."""

from __future__ import annotations

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from zslearn.serve.changed_model import ChangedModel
from zslearn.serve.errors import refuse
from zslearn.serve.inference import infer
from zslearn.serve.models import ServedModel
from zslearn.serve.protocol import InferRequest, Message, decode_request
from zslearn.serve.responses import HEADER_LENGTH, send_message
from zslearn.serve.settings import Limits
from zslearn.serve.state import Server, header, read_content
from zslearn.serve.work import checked

# What is read without a thread, and what may be computed without one if the model is quick.
SMALL_BODY, SMALL_ROWS, SMALL_SCORES = 2**16, 16, 2**14
_HEADER_LENGTH = HEADER_LENGTH.encode()


class InferEndpoint:
    """Answers samples, without Starlette's wrappers, since most requests come here."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        await send_message(await infer_request(scope, receive), send)


async def infer_request(scope: Scope, receive: Receive) -> Message:
    """Return the answer to the samples of a request."""
    server: Server = scope["app"].state.server
    served = server.shelf.slot(**scope["path_params"]).changes()  # before the body is read
    body = await read_content(server, scope, receive)
    message = Message(body, _header_length(header(scope, _HEADER_LENGTH)))
    limits = server.settings.limits
    if len(body) > SMALL_BODY:
        return await server.pool.run(answer, served, message, limits)
    wanted = checked(decode_request, message)
    model = served.at_once()
    if model is None or not _is_small(model, wanted):
        return await server.pool.run(compute, served, wanted, limits)
    work = infer, model, wanted, limits
    if served.pace.is_quick:
        return served.pace.run(*work)
    return await server.pool.run(served.pace.run, *work)


def answer(served: ChangedModel, message: Message, limits: Limits) -> Message:
    """Read a request, compute, and write the answer; the whole work of one thread."""
    return compute(served, decode_request(message), limits)


def compute(served: ChangedModel, request: InferRequest, limits: Limits) -> Message:
    """Compute, and write the answer."""
    return infer(served.newest(), request, limits)


def _is_small(model: ServedModel, request: InferRequest) -> bool:
    """Say whether a request has few rows of numbers; pictures take long."""
    [array, *more] = request.inputs.values()
    few = len(array) <= SMALL_ROWS and len(array) * len(model.recognizer) <= SMALL_SCORES
    return few and array.dtype.kind == "f" and not more


def _header_length(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise refuse(f"Inference-Header-Content-Length must be a number; got {text!r:.40}.")
    return int(text)


ROUTES = [
    Route("/v2/models/{name}/infer", InferEndpoint(), methods=["POST"]),
    Route("/v2/models/{name}/versions/{version}/infer", InferEndpoint(), methods=["POST"]),
]
