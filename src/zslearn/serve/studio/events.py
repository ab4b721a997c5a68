"""Server-sent events: what changed, to every open tab."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from zslearn.serve.json_text import write_json

# Seconds between looks whether the server is about to end, and between signs of life.
LOOK, ALIVE = 0.5, 15.0
# A tab that reads nothing misses events; it asks for the state when it reads again.
WAITING = 256


class Events:
    """Passes events from any thread to the tabs that listen."""

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Queue[bytes], asyncio.AbstractEventLoop] = {}

    def publish(self, event: str, data: Any) -> None:
        """Send an event to all tabs."""
        message = b"event: %s\ndata: %s\n\n" % (event.encode(), write_json(data))
        for queue, loop in list(self._listeners.items()):
            if not loop.is_closed():
                loop.call_soon_threadsafe(_put, queue, message)

    async def listen(self, hello: bytes, stopping: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Yield events as a tab reads them, until the server is about to end.

        Parameters
        ----------
        hello : bytes
            What is sent first.
        stopping : callable
            Says whether to end.
        """
        queue: asyncio.Queue[bytes] = asyncio.Queue(WAITING)
        self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield b"retry: 500\n\n" + hello
            idle = 0.0
            while not stopping():
                try:
                    yield await asyncio.wait_for(queue.get(), LOOK)
                    idle = 0.0
                except TimeoutError:
                    idle += LOOK
                    if idle >= ALIVE:
                        idle = 0.0
                        yield b": alive\n\n"
        finally:
            self._listeners.pop(queue, None)


def _put(queue: asyncio.Queue[bytes], message: bytes) -> None:
    if not queue.full():
        queue.put_nowait(message)
