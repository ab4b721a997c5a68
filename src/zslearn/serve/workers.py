"""Several worker processes that share one socket and the memory of the models."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette

from zslearn._files import first_line
from zslearn.exceptions import ZslearnError
from zslearn.serve.metrics import forget_process
from zslearn.serve.running import DRAIN, TICKS, WAIT, serve_process

log = logging.getLogger("zslearn.serve")
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
