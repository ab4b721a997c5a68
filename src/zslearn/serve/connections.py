"""Connections: a bounded number, each closed when its client dawdles or never ends its head."""

from __future__ import annotations

import asyncio
import zlib
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from starlette.types import Message, Receive
from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from zslearn.serve.responses import BODY, RequestError, refuse, write_json
from zslearn.serve.settings import Limits

_HEAD = b"HTTP/1.1 "
# Bodies from here on are not worth a copy.
LONG = 2**16


class JoinedWrites:
    """A transport that keeps the head of an answer until the next piece, or until the loop turns.

    Head and body are sent together, since two packets wake the client twice.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop, self._head = transport, loop, b""
        self.is_closing = transport.is_closing
        self.n_writes = 0

    def write(self, data: bytes) -> None:
        """Send a piece; a head waits for what follows it."""
        self.n_writes += 1
        if self._head and len(data) < LONG:
            data, self._head = self._head + data, b""
        elif not self._head and data.startswith(_HEAD):
            self._head = data
            self._loop.call_soon(self._send_head)
            return
        self._send_head()
        self._transport.write(data)

    def write_whole(self, data: bytes) -> None:
        """Send a head with all that follows it."""
        self._send_head()
        self._transport.write(data)

    def close(self) -> None:
        """Send what waits, and close."""
        self._send_head()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _send_head(self) -> None:
        head, self._head = self._head, b""
        if head and not self._transport.is_closing():
            self._transport.write(head)


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


# A request is read, computed and sent, each within the time of the limits.
STEPS = 3
# After an answer to a body that was not read, so much more of it is taken before the connection is
# cut; closing at once would lose the answer on its way.
LINGER_SECONDS, LINGER_BYTES = 1.0, 2**24
# So many bytes may come that neither end a head nor belong to a body: addresses, headers, what
# follows a body. The reader of HTTP keeps them all.
MOST_HEAD = 2**16
# Requests that a client may send before it has read the answers to those before.
MOST_AHEAD = 64
# Stands in the scope of a request whose body is here to its end, and may be answered whole.
WHOLE = "zslearn.whole"


class _Cycle(RequestResponseCycle):
    """One request and its answer, which is one packet where one message has all of it."""

    async def send(self, message: Message) -> None:  # type: ignore[override]
        """Send a part of an answer."""
        body = message.get(BODY)
        if body is None:
            await super().send(message)  # type: ignore[arg-type]
        elif self.keep_alive and not (self.flow.write_paused or self.disconnected):
            self.response_started = self.response_complete = True
            lines = [_line(*header) for header in self.default_headers + message["headers"]]
            head = STATUS_LINE[message["status"]] + b"".join(lines) + b"\r\n"
            self.transport.write_whole(head + body)  # type: ignore[attr-defined]
            self.message_event.set()
            self.on_response()
        else:
            await super().send(message)  # type: ignore[arg-type]
            await super().send({"type": "http.response.body", "body": body})


@lru_cache(256)
def _line(name: bytes, value: bytes) -> bytes:
    """Return the line of a header; most answers have the same."""
    if HEADER_RE.search(name) or HEADER_VALUE_RE.search(value):
        raise ValueError(f"a header cannot hold {name!r}: {value!r}.")
    return name + b": " + value + b"\r\n"


class BoundedProtocol(HttpToolsProtocol):
    """One connection within the limits of its `ServerConfig`.

    `connections` are open at a time; one that sends no whole request within `seconds`, or does not
    take its answer, is closed.
    """

    limits: Limits
    _watch: asyncio.TimerHandle | None = None
    _looked_at: Any = None
    _sent = 0
    _stale = 0
    _unread: int | None = None
    _pointless = 0
    _parts: BodyParts

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many."""
        self.limits = self.config.limits  # type: ignore[attr-defined]
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        if len(self.connections) > self.limits.connections:
            self._refuse(503, "too many connections are open; try again.")
            return
        self._watch = self.loop.call_later(self.limits.seconds, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        if self.transport.is_closing():
            return
        if self._unread is None:
            self._pointless += len(data)
            super().data_received(data)
            if self._pointless > MOST_HEAD:
                self._refuse(431, f"a request may have {MOST_HEAD} bytes besides its body.")
            return
        self._unread += len(data)
        if self._unread > LINGER_BYTES:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        """Begin to answer, or to wait for the answers before."""
        self._pointless = 0
        if len(self.pipeline) >= MOST_AHEAD:
            self.transport.abort()
            return
        upgrade = self.parser.should_upgrade()
        if upgrade and self.parser.get_method() not in (b"GET", b"HEAD"):
            self._refuse(400, "only HTTP/1.1 is spoken here; leave out the header Upgrade.")
            return
        self._parts = BodyParts()
        super().on_headers_complete()
        self.cycle.__class__ = _Cycle
        if upgrade:  # what follows would be in the other protocol
            self.cycle.keep_alive = False

    def on_chunk_header(self) -> None:
        """Take a piece of a body that came without its length."""
        self._pointless = 0

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, which is handed on when it is whole or too large."""
        self._pointless = 0
        if self.cycle.response_complete:
            return
        self._parts.add(body)
        if self._parts.size > self.limits.body:
            super().on_body(self._parts.take())

    def on_message_complete(self) -> None:
        """End a request."""
        self._pointless = 0
        if not self.cycle.body:
            self.cycle.body = self._parts.take()  # type: ignore[assignment]
        self.scope[WHOLE] = True  # type: ignore[literal-required]
        super().on_message_complete()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer a client that has said everything and only listens now."""
        cycle = self.cycle
        whole = cycle is not None and not cycle.response_complete and not cycle.more_body
        if whole:
            cycle.keep_alive = False
        return whole

    def on_response_complete(self) -> None:
        """Cut off a client that goes on sending what nobody reads."""
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self.cycle.more_body and not self.transport.is_closing():
            self._unread = 0
            self._unset_keepalive_if_required()
            self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(400, "this is no HTTP request that can be read.")

    def _refuse(self, status: int, message: str) -> None:
        """Answer what never becomes a request, and close."""
        if self.transport.is_closing():
            return
        body = write_json({"error": message})
        retry = "retry-after: 1\r\n" if status == 503 else ""
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
            f"{retry}connection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _look(self) -> None:
        """Close the connection if nothing happened since it was last looked at."""
        waiting = self.cycle is None or self.cycle.response_complete
        # A stream of events is one long answer: what is sent of it and taken counts as well.
        sent = self.transport.n_writes  # type: ignore[attr-defined]
        taken = sent != self._sent and not self.transport.get_write_buffer_size()
        same = self.cycle is self._looked_at and not taken
        self._stale = self._stale + 1 if same else 0
        self._looked_at, self._sent = self.cycle, sent
        if (waiting and (self.cycle is None or self._stale)) or self._stale >= STEPS:
            self.transport.abort()
            return
        self._watch = self.loop.call_later(self.limits.seconds, self._look)
