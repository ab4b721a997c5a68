"""The head of an answer and its body are sent together, since two packets wake the client twice."""

from __future__ import annotations

import asyncio
from typing import Any

_HEAD = b"HTTP/1.1 "
# Bodies from here on are not worth a copy.
LONG = 2**16


class JoinedWrites:
    """A transport that keeps the head of an answer until the next piece, or until the loop turns.

    Parameters
    ----------
    transport : asyncio.Transport
        What sends.
    loop : asyncio.AbstractEventLoop
        The loop of the connection.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""
        self.is_closing = transport.is_closing
        self.get_extra_info = transport.get_extra_info
        self.pause_reading, self.resume_reading = transport.pause_reading, transport.resume_reading
        self.abort = transport.abort

    def write(self, data: bytes) -> None:
        """Send a piece; a head waits for what follows it."""
        if self._head and len(data) < LONG:
            data, self._head = self._head + data, b""
            self._transport.write(data)
        elif not self._head and data.startswith(_HEAD):
            self._head = data
            self._loop.call_soon(self._send_head)
        else:
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
