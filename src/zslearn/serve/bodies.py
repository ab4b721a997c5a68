"""Bodies of requests: read within a limit, decompressed within a limit."""

from __future__ import annotations

import zlib

from starlette.types import Receive

from zslearn.serve.errors import RequestError, refuse
from zslearn.serve.settings import Limits

# What zlib calls the formats; a "deflate" body may lack the header that it should have.
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
# A body is decompressed in pieces, so that a bomb never holds more than the limit.
PIECE = 2**20
# Parts of a body below this size are put together; each alone would cost more than its bytes.
SMALL_PART = 2**12


class Disconnected(Exception):
    """The client went away before its request was complete."""


class BodyParts:
    """The parts of a body that have come so far.

    Attributes
    ----------
    size : int
        Their bytes.

    Examples
    --------
    >>> parts = BodyParts()
    >>> parts.add(b"ab")
    >>> parts.add(b"c")
    >>> parts.size, parts.take(), parts.size
    (3, b'abc', 0)
    """

    def __init__(self) -> None:
        self._parts: list[bytes | bytearray] = []
        self.size = 0

    def add(self, part: bytes) -> None:
        """Add the next part."""
        self.size += len(part)
        if not self._parts or len(part) >= SMALL_PART:
            self._parts.append(part)
        elif isinstance(self._parts[-1], bytearray):
            self._parts[-1] += part
        else:
            self._parts.append(bytearray(part))

    def take(self) -> bytes:
        """Return all parts as one, and begin again; a single part is not copied."""
        whole = b"".join(self._parts)
        self._parts, self.size = [], 0
        return whole


async def read_body(receive: Receive, length: str, limits: Limits) -> bytes:
    """Return the body as it was sent; one that is too large is not read to its end.

    Parameters
    ----------
    receive : callable
        Returns the next part of the request.
    length : str
        The header Content-Length; empty if there is none.
    limits : Limits
        `body` bytes are the most that are read.

    Returns
    -------
    bytes
    """
    if length.isascii() and length.isdigit() and int(length[:18]) > limits.body:
        raise _too_large(limits.body)
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part = message.get("body", b"")
        size += len(part)
        if size > limits.body:
            raise _too_large(limits.body)
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def decompress(body: bytes, encoding: str, limits: Limits) -> bytes:
    """Return a body without its compression.

    Parameters
    ----------
    body : bytes
        As it was sent.
    encoding : str
        The header Content-Encoding; empty if there is none.
    limits : Limits
        `decompressed` bytes are the most that come out; no more are ever held.

    Returns
    -------
    bytes
    """
    kind = encoding.strip().lower()
    if kind in ("", "identity"):
        return body
    if kind not in _WINDOWS:
        raise RequestError(
            415, f"a body may be compressed by gzip or deflate; got {encoding!r:.40}."
        )
    try:
        return _inflated(body, _window(kind, body), limits.decompressed)
    except zlib.error as error:
        raise refuse(f"the body is no {kind} data ({error}).") from error


def _window(kind: str, body: bytes) -> int:
    raw = kind == "deflate" and (len(body) < 2 or int.from_bytes(body[:2], "big") % 31 != 0)
    return -15 if raw else _WINDOWS[kind]


def _inflated(body: bytes, window: int, limit: int) -> bytes:
    stream = zlib.decompressobj(window)
    parts, rest, size = [], body, 0
    while rest and not stream.eof:
        parts.append(stream.decompress(rest, PIECE))
        rest, size = stream.unconsumed_tail, size + len(parts[-1])
        if size > limit:
            parts.clear()
            raise _too_large(limit, " after decompression")
    if not stream.eof or stream.unused_data:
        raise refuse("the compressed body ends too early, or something follows it.")
    return b"".join(parts)


def _too_large(limit: int, when: str = "") -> RequestError:
    return RequestError(413, f"the body has more than {limit} bytes{when}, the limit here.")
