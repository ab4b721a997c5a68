"""Answers as HTTP sends them; errors are always ``{"error": "..."}``."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

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


def message_response(message: Message) -> Response:
    """Return an answer of the protocol; raw tensors have the length of their JSON in a header."""
    if message.header_length is None:
        return Response(message.body, media_type="application/json")
    headers = {HEADER_LENGTH: str(message.header_length)}
    return Response(message.body, headers=headers, media_type="application/octet-stream")
