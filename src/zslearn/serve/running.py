"""Run a server until it is told to end: it drains first, and reads changed models again."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors import Multiprocess

from zslearn._files import first_line
from zslearn.exceptions import ZslearnError
from zslearn.serve.application import create_app
from zslearn.serve.connections import BoundedProtocol
from zslearn.serve.metrics import forget_dead, set_up_logs, shared_figures
from zslearn.serve.settings import ServerSettings
from zslearn.serve.state import Server

log = logging.getLogger("zslearn.serve")
# Seconds from SIGTERM: so long the server answers "not ready" and new requests, so long it waits
# for running requests; together less than the ten seconds that orchestrators give.
DRAIN, WAIT = 1.0, 8.0
# Seconds between looks for changed model files.
LOOK = 2.0
# Seconds that a new worker may take to load its models, and before one that cannot is tried again.
START, PAUSE = 60, 1.0
ENDING = (signal.SIGTERM, signal.SIGINT)
# Bytes of the largest block that teaches glibc's allocator (32 MiB with what it adds).
LARGEST_BLOCK = 2**25 - 2**16
MakeApp = Callable[[ServerSettings], Starlette]


def run_server(
    settings: ServerSettings,
    *,
    log: str = "text",
    started: Callable[[Starlette, int], Any] | None = None,
    make_app: MakeApp = create_app,
) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP reads the models again.

    Parameters
    ----------
    settings : ServerSettings
        What is served, where, and to whom.
    log : {"text", "json", "errors"}, default="text"
        Log lines for people, as JSON, or without those of requests.
    started : callable, optional
        Called with the application and the port once clients can connect.
    make_app : callable, default=create_app
        Makes the application from the settings, for example with more routes.

    Examples
    --------
    >>> from zslearn.serve import ServerSettings, run_server
    >>> run_server(ServerSettings({"animals": "none.zsl"}, port=0))
    Traceback (most recent call last):
    zslearn.exceptions.MissingFileError: There is no file 'none.zsl'; check the path.
    """
    set_up_logs(log)
    with listen(settings) as socket:
        app = make_app(settings)  # for workers too: what is wrong is said here, once
        if started is not None:
            started(app, socket.getsockname()[1])
        if settings.workers == 1:
            _serve_alone(app, settings, socket)
            return
        app.state.server.close()
        with shared_figures():
            make = partial(worker_app, settings, log, make_app)
            Multiprocess(ServerConfig(make, settings, factory=True), sockets=[socket]).run()


class ServerConfig(uvicorn.Config):
    """How uvicorn runs an application of ours.

    Parameters
    ----------
    app : Starlette or callable
        The application, or with ``factory=True`` what makes it in each worker.
    settings : ServerSettings
        What is served.
    """

    def __init__(self, app: Any, settings: ServerSettings, *, factory: bool = False) -> None:
        super().__init__(
            app,
            factory=factory,
            workers=settings.workers,
            http=BoundedProtocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(min(max(settings.limits.seconds, 1), 75)),
            timeout_graceful_shutdown=int(WAIT),
            timeout_worker_healthcheck=START,
        )
        self.limits = settings.limits  # for `BoundedProtocol`


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


def worker_app(settings: ServerSettings, log_kind: str, make_app: MakeApp) -> Starlette:
    """Return the application of one of several worker processes."""
    set_up_logs(log_kind)
    forget_dead()
    try:
        return tended(make_app(settings))
    except (ZslearnError, OSError) as error:
        log.error("a worker cannot start: %s", first_line(error))
        time.sleep(PAUSE)
        sys.exit(1)


def tended(app: Starlette, early: tuple[int, ...] | list[int] = ()) -> Starlette:
    """Return an application that drains when its process is told to end, and reads models again.

    Parameters
    ----------
    app : Starlette
        Made by `create_app`.
    early : list of int
        Signals that came before the application was started.
    """
    inner = app.router.lifespan_context
    _keep_freed_memory()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[Any]:
        server: Server = app.state.server
        hangup = asyncio.Event()
        async with inner(app) as state:
            if threading.current_thread() is threading.main_thread():
                _drain_before_the_end(server, hangup, early)
            watching = asyncio.create_task(_watch(server, hangup))
            if server.settings.workers > 1:
                log.info("worker %d is ready", os.getpid())
            yield state
            watching.cancel()
        if server.pool.pending:  # computations that go on do not hold the process
            logging.shutdown()
            os._exit(0)

    app.router.lifespan_context = lifespan
    return app


def _keep_freed_memory() -> None:
    """Let the allocator keep what a request freed, for the next one.

    glibc gives freed memory back to the system, page by page, but keeps about as much as the
    largest block that was ever freed. Where a client sent megabytes over one connection, taking
    them anew was almost half of the time of a request. Other allocators do not care.
    """
    block = np.empty(LARGEST_BLOCK, dtype=np.uint8)  # its pages are never touched
    del block


def _serve_alone(app: Starlette, settings: ServerSettings, socket: socket.socket) -> None:
    """Serve in this process; it ends well when it is told to end."""
    early: list[int] = []
    # uvicorn sends itself the signal again when all is done, to whoever handled it before.
    before = {sig: signal.signal(sig, lambda sig, _: early.append(sig)) for sig in ENDING}
    try:
        uvicorn.Server(ServerConfig(tended(app, early), settings)).run([socket])
    finally:
        for sig, handler in before.items():
            signal.signal(sig, handler)


def _drain_before_the_end(
    server: Server, hangup: asyncio.Event, early: tuple[int, ...] | list[int]
) -> None:
    """Say "not ready" for a moment before uvicorn ends; a second signal ends at once."""
    loop = asyncio.get_running_loop()
    # uvicorn has installed its handlers already.
    end: dict[int, Any] = {sig: signal.getsignal(sig) for sig in ENDING}

    def begin(sig: int, _: Any) -> None:
        wait = 0.0 if server.stopping else DRAIN
        server.stopping = True
        loop.call_soon_threadsafe(loop.call_later, wait, end[sig], sig, None)

    for sig in ENDING:
        signal.signal(sig, begin)
    signal.signal(signal.SIGHUP, lambda *_: loop.call_soon_threadsafe(hangup.set))
    if early:
        begin(early[0], None)


async def _watch(server: Server, hangup: asyncio.Event) -> None:
    """Read models again that changed, or all at SIGHUP; end with the process of all workers."""
    parent = os.getppid()
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK):
                await hangup.wait()
        every = hangup.is_set()
        hangup.clear()
        if every or server.shelf.is_outdated():
            await asyncio.to_thread(server.shelf.reload, every=every)
        if server.settings.workers > 1 and os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
