"""One process that serves: it drains before it ends, and reads changed models again."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
import time
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette

from zslearn.serve.connections import bounded_protocol
from zslearn.serve.settings import ServerSettings
from zslearn.serve.state import Server

log = logging.getLogger("zslearn.serve")
# Seconds from SIGTERM: so long the server answers "not ready" and new requests, so long it waits
# for running requests; together less than the ten seconds that orchestrators give.
DRAIN, WAIT = 1.0, 8.0
# A changed model file is looked for every so many ticks of a tenth of a second.
TICKS = 20


class DrainingServer(uvicorn.Server):
    """Answers requests until SIGTERM or SIGINT; SIGHUP reads the models again.

    Parameters
    ----------
    app : Starlette
        Made by `create_app`.
    watch : bool
        Whether changed model files are read again by themselves.
    """

    def __init__(self, app: Starlette, *, watch: bool = True) -> None:
        self._shared: Server = app.state.server
        settings = self._shared.settings
        super().__init__(
            uvicorn.Config(
                app,
                http=bounded_protocol(settings.limits),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=int(min(max(settings.limits.seconds, 1), 75)),
                timeout_graceful_shutdown=int(WAIT),
            )
        )
        self._watch = watch
        self._leave_at: float | None = None
        self._wants_reload = False
        self._parent = os.getppid()
        self._reload: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Say "not ready" for a moment, then end; a second signal ends at once."""
        if self._leave_at is not None:
            self.should_exit = True
        self._shared.stopping = True
        self._leave_at = time.monotonic() + DRAIN

    async def on_tick(self, counter: int) -> bool:
        """Look ten times a second whether to end or to read models again."""
        if self._leave_at is not None and time.monotonic() >= self._leave_at:
            self.should_exit = True
        if self._reload is None or self._reload.done():
            outdated = self._watch and counter % TICKS == 0 and self._shared.shelf.is_outdated()
            if self._wants_reload or outdated:
                every, self._wants_reload = self._wants_reload, False
                work = asyncio.to_thread(self._shared.shelf.reload, every=every)
                self._reload = asyncio.create_task(work)
        if not self._watch and os.getppid() != self._parent:
            self._shared.stopping = self.should_exit = True  # the supervisor is dead
        return await super().on_tick(counter)

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until told to end."""
        if self._watch and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGHUP, self._note_reload)
        super().run(sockets)

    def _note_reload(self, *_: Any) -> None:
        self._wants_reload = True


def listen(settings: ServerSettings) -> socket.socket:
    """Return a socket that listens where the settings say."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio sends small answers at once only where the protocol is named.
    server = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((settings.host, settings.port))
    except OSError as error:
        server.close()
        place = f"{settings.host}:{settings.port}"
        raise type(error)(error.errno, f"cannot listen ({error.strerror})", place) from error
    server.listen(1024)
    server.setblocking(False)
    return server


def serve_process(app: Starlette, sockets: list[socket.socket], *, watch: bool = True) -> None:
    """Serve in this process until told to end; computations that go on do not hold it."""
    DrainingServer(app, watch=watch).run(sockets)
    server: Server = app.state.server
    if server.pool.pending:
        logging.shutdown()
        os._exit(0)
