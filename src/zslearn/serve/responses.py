"""Answers as HTTP sends them; errors are always ``{"error": "..."}``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from starlette.responses import Response
from starlette.types import Send

from zslearn.exceptions import ZslearnError

if TYPE_CHECKING:
    from zslearn.serve.protocol import Message


class RequestError(ZslearnError):
    """A request that is refused.

    Parameters
    ----------
    status : int
        HTTP status.
    message : str
        What is wrong, on one line; it is sent to the client.
    retry_after : int, optional
        Seconds after which the client may try again.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


def refuse(message: str) -> RequestError:
    """Return the refusal of a request that is wrong in itself."""
    return RequestError(400, message)


def read_json(text: bytes | memoryview) -> Any:
    """Return the value of a JSON text, or say where it is wrong."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise refuse(f"the body is not JSON ({error}).") from error


def write_json(value: Any) -> bytes:
    """Return a value as JSON; arrays of numbers become lists, and what is not finite null."""
    return orjson.dumps(value, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError


# Stands in the message that begins an answer if it is all of it; our connections take it so.
BODY = "zslearn.body"
HEADER_LENGTH = "inference-header-content-length"


def json_response(value: Any, status: int = 200, **headers: str) -> Response:
    """Return a value as JSON.

    Clients compare the content type, so it is exactly ``application/json``.
    """
    return Response(write_json(value), status, headers, media_type="application/json")


def error_response(status: int, message: str, retry_after: int | None = None) -> Response:
    """Return a refusal."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    body = write_json({"error": message})
    return Response(body, status, headers, media_type="application/json")


async def send_message(message: Message, send: Send, *, whole: bool) -> None:
    """Send an answer of the protocol; raw tensors have the length of their JSON in a header."""
    body = message.body
    kind = b"application/json" if message.header_length is None else b"application/octet-stream"
    headers = [(b"content-length", b"%d" % len(body)), (b"content-type", kind)]
    if message.header_length is not None:
        headers.append((HEADER_LENGTH.encode(), b"%d" % message.header_length))
    start = {"type": "http.response.start", "status": 200, "headers": headers}
    if whole:
        await send({**start, BODY: body})
        return
    await send(start)
    await send({"type": "http.response.body", "body": body})
