"""Around every request: its log line, its figures, and an answer whatever goes wrong."""

from __future__ import annotations

import logging
import time
import traceback
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from zslearn._files import first_line
from zslearn.exceptions import WriteError, ZslearnError
from zslearn.serve.bodies import Disconnected
from zslearn.serve.errors import RequestError
from zslearn.serve.responses import error_response
from zslearn.serve.security import HEADERS

log = logging.getLogger("zslearn.serve")
# What the log shows for a client that went away before its answer.
GONE = 499


class AccessMiddleware:
    """Answers refusals as ``{"error": "..."}`` and notes every request.

    Parameters
    ----------
    app : ASGI application
        What answers.
    observe : callable
        Called with the scope, the status and the seconds of every request.
    """

    def __init__(self, app: ASGIApp, observe: Any) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and answer it if nobody did."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        status = GONE

        async def send_noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except Disconnected:
            pass
        except Exception as error:
            refusal = _refusal(error, scope)
            _let_go(error)
            if status == GONE:
                await refusal(scope, receive, send_noted)
        finally:
            self._observe(scope, status, time.perf_counter() - start)


def _refusal(error: Exception, scope: Scope) -> Any:
    """Return the answer to a request that raised an error."""
    if isinstance(error, RequestError):
        return error_response(error.status, error.message, error.retry_after)
    if isinstance(error, HTTPException):
        return error_response(
            error.status_code,
            f"{scope['method']} {scope['path']!r:.100}: {error.detail}; /docs lists all addresses.",
        )
    if isinstance(error, WriteError):
        log.error("%s", error)
        return error_response(503, "the change could not be written; the server's log says why.", 5)
    if isinstance(error, ZslearnError):
        return error_response(400, first_line(error))
    if isinstance(error, MemoryError):
        return error_response(503, "not enough memory for this request.", 1)
    log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
    return error_response(500, "the server failed; its log says why.")


def _let_go(error: BaseException | None) -> None:
    """Free what the frames of an error hold, such as bodies; they would wait for the collector."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
