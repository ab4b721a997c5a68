"""Answers as HTTP sends them; errors are always ``{"error": "..."}``."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.types import Send

from zslearn.serve.json_text import write_json
from zslearn.serve.protocol import Message

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


async def send_message(message: Message, send: Send) -> None:
    """Send an answer of the protocol; raw tensors have the length of their JSON in a header."""
    kind = b"application/json" if message.header_length is None else b"application/octet-stream"
    headers = [(b"content-length", b"%d" % len(message.body)), (b"content-type", kind)]
    if message.header_length is not None:
        headers.append((HEADER_LENGTH.encode(), b"%d" % message.header_length))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": message.body})
