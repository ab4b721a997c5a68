"""One process that serves: it drains before it ends, and reads changed models again."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from socket import socket as Socket
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette

from zslearn._files import first_line
from zslearn.exceptions import ZslearnError
from zslearn.serve.application import create_app
from zslearn.serve.connections import bounded_protocol
from zslearn.serve.metrics import forget_process, set_up_logs, share_figures
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


TICK = 0.1
# A worker that ends by itself is started again, but not more often than this.
PAUSE = 1.0


class Supervisor:
    """Keeps worker processes running.

    The models are loaded once, here, and workers are forked, so that all share their memory. New
    models are loaded here too; only if that went well do new workers take over from the old ones.

    Parameters
    ----------
    make_app : callable
        Loads the models and returns the application.
    sockets : list of socket
        Where workers listen.
    n_workers : int
        How many.
    """

    def __init__(
        self, make_app: Callable[[], Starlette], sockets: list[socket.socket], n_workers: int
    ) -> None:
        self._make_app, self._sockets, self._n_workers = make_app, sockets, n_workers
        self.app = make_app()
        self._workers: set[int] = set()
        self._retired: set[int] = set()
        self._stopping = self._wants_reload = False

    def run(self) -> None:
        """Serve until told to end."""
        for sig in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sig, self._note_stop)
        signal.signal(signal.SIGHUP, self._note_reload)
        self._start()
        ticks = 0
        while not self._stopping:
            time.sleep(TICK)
            ticks += 1
            outdated = ticks % TICKS == 0 and self.app.state.server.shelf.is_outdated()
            if self._wants_reload or outdated:
                self._wants_reload = False
                self._replace()
            if self._reap():
                time.sleep(PAUSE)
            self._start()
        self._stop()

    def _start(self) -> None:
        """Fork workers until there are enough."""
        while len(self._workers) < self._n_workers and not self._stopping:
            child = os.fork()
            if child == 0:
                self._work()
            self._workers.add(child)

    def _work(self) -> None:
        """Serve, as a worker; never returns."""
        code = 1
        try:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            serve_process(self.app, self._sockets, watch=False)
            code = 0
        except BaseException as error:
            log.error("a worker failed: %s", first_line(error), exc_info=error)
        finally:
            logging.shutdown()
            os._exit(code)

    def _replace(self) -> None:
        """Load the models again; workers that have them take over."""
        try:
            app = self._make_app()
        except (ZslearnError, OSError) as error:
            # Do not try the same file every two seconds.
            self.app.state.server.shelf.note_files()
            log.error("the models served before stay: %s", first_line(error))
            return
        self.app = app
        old, self._workers = self._workers, set()
        self._start()
        self._retired |= old
        _signal(old, signal.SIGTERM)
        log.info("read the models again")

    def _reap(self) -> bool:
        """Note which workers ended; return whether one did so by itself."""
        failed = False
        for child in [*self._workers, *self._retired]:
            if os.waitpid(child, os.WNOHANG)[0]:
                forget_process(child)
                if child in self._workers:
                    log.error("worker %d ended by itself; another one is started", child)
                    failed = True
                self._workers.discard(child)
                self._retired.discard(child)
        return failed

    def _stop(self) -> None:
        """End all workers, at the latest ten seconds after the signal."""
        _signal(self._workers | self._retired, signal.SIGTERM)
        self._retired |= self._workers
        self._workers = set()
        deadline = time.monotonic() + DRAIN + WAIT + 0.5
        while self._retired and time.monotonic() < deadline:
            time.sleep(TICK / 2)
            self._reap()
        _signal(self._retired, signal.SIGKILL)

    def _note_stop(self, *_: Any) -> None:
        self._stopping = True

    def _note_reload(self, *_: Any) -> None:
        self._wants_reload = True


def _signal(children: set[int], sig: int) -> None:
    for child in children:
        try:
            os.kill(child, sig)
        except ProcessLookupError:
            pass


# What glibc calls the two settings; blocks below the first size are kept, up to the second in all.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
LARGEST_BLOCK, MOST_KEPT = 2**24, 2**27


def keep_memory() -> bool:
    """Let this process keep freed memory, within bounds; return whether its C library can."""
    try:
        change = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # not glibc
        return False
    return bool(change(_MMAP_THRESHOLD, LARGEST_BLOCK) and change(_TRIM_THRESHOLD, MOST_KEPT))


def run_server(
    settings: ServerSettings,
    *,
    log: str = "text",
    started: Callable[[Starlette, int], Any] | None = None,
    make_app: Callable[[ServerSettings], Starlette] = create_app,
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
    keep_memory()
    with listen(settings) as socket:
        if settings.workers > 1:
            _serve_by_workers(partial(make_app, settings), socket, settings.workers, started)
            return
        app = make_app(settings)
        if started is not None:
            started(app, socket.getsockname()[1])
        serve_process(app, [socket])


def _serve_by_workers(
    make_app: Callable[[], Starlette],
    socket: Socket,
    n_workers: int,
    started: Callable[[Starlette, int], Any] | None,
) -> None:
    """Serve by several processes, which count together in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="zslearn-metrics-") as folder:
        share_figures(folder)
        supervisor = Supervisor(make_app, [socket], n_workers)
        if started is not None:
            started(supervisor.app, socket.getsockname()[1])
        supervisor.run()
