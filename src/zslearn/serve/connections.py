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

    class BoundedProtocol(H11Protocol):
        _watch: asyncio.TimerHandle | None = None
        _looked_at: Any = None
        _stale = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                transport.write(FULL)
                transport.close()
                return
            self._watch = self.loop.call_later(limits.seconds, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._watch is not None:
                self._watch.cancel()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if not self.transport.is_closing():
                super().data_received(data)

        def _look(self) -> None:
            """Close the connection if nothing happened since it was last looked at."""
            waiting = self.cycle is None or self.cycle.response_complete
            self._stale = self._stale + 1 if self.cycle is self._looked_at else 0
            self._looked_at = self.cycle
            if (waiting and (self.cycle is None or self._stale)) or self._stale >= STEPS:
                self.transport.abort()
                return
            self._watch = self.loop.call_later(limits.seconds, self._look)

    return BoundedProtocol
