"""Run a server until it is told to end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from socket import socket as Socket
from typing import Any

from starlette.applications import Starlette

from zslearn.serve.application import create_app
from zslearn.serve.logs import set_up_logs
from zslearn.serve.memory import keep_memory
from zslearn.serve.metrics import share_figures
from zslearn.serve.running import listen, serve_process
from zslearn.serve.settings import ServerSettings
from zslearn.serve.workers import Supervisor


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
