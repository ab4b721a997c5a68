"""Connections: a bounded number, each closed when its client dawdles."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from zslearn.serve.settings import Limits

_FULL = b'{"error":"too many connections are open; try again."}'
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(_FULL), _FULL)
)
# A request is read, computed and sent, each within the time of the limits.
STEPS = 3
# After an answer to a body that was not read, so much more of it is taken before the connection is
# cut; closing at once would lose the answer on its way.
LINGER_SECONDS, LINGER_BYTES = 1.0, 2**24


class BoundedProtocol(H11Protocol):
    """One connection within some limits."""

    limits: Limits
    _watch: asyncio.TimerHandle | None = None
    _looked_at: Any = None
    _stale = 0
    _unread: int | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.write(FULL)
            transport.close()
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
            super().data_received(data)
            return
        self._unread += len(data)
        if self._unread > LINGER_BYTES:
            self.transport.abort()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer a client that has said everything and only listens now."""
        cycle = self.cycle
        whole = cycle is not None and not cycle.response_complete and not cycle.more_body
        if whole:
            cycle.keep_alive = False
        return whole

    def on_response_complete(self) -> None:
        """Cut off a client that goes on sending what nobody reads."""
        super().on_response_complete()
        if self.cycle.more_body and not self.transport.is_closing():
            self._unread = 0
            self._unset_keepalive_if_required()
            self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _look(self) -> None:
        """Close the connection if nothing happened since it was last looked at."""
        waiting = self.cycle is None or self.cycle.response_complete
        self._stale = self._stale + 1 if self.cycle is self._looked_at else 0
        self._looked_at = self.cycle
        if (waiting and (self.cycle is None or self._stale)) or self._stale >= STEPS:
            self.transport.abort()
            return
        self._watch = self.loop.call_later(self.limits.seconds, self._look)


def bounded_protocol(limits: Limits) -> type[H11Protocol]:
    """Return the protocol of one connection within some limits.

    Parameters
    ----------
    limits : Limits
        `connections` are open at a time; one that sends no whole request within `seconds`, or
        does not take its answer, is closed.

    Returns
    -------
    class
        As ``uvicorn.Config(http=...)`` takes it.
    """
    return type("LimitedProtocol", (BoundedProtocol,), {"limits": limits})
