"""The application: who may ask, and routes behind these checks, as any ASGI server runs it."""

from __future__ import annotations

import hmac
import logging
import socket
import time
import traceback
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from zslearn._files import first_line
from zslearn.exceptions import WriteError, ZslearnError
from zslearn.serve.changes import VERSION
from zslearn.serve.classes import OPERATIONS as CLASS_OPERATIONS
from zslearn.serve.connections import Disconnected
from zslearn.serve.metrics import log_request
from zslearn.serve.openapi import DOCS
from zslearn.serve.responses import HEADER_LENGTH, RequestError, error_response
from zslearn.serve.routes import INFERENCE, OPERATIONS
from zslearn.serve.settings import LOOPBACK, ServerSettings
from zslearn.serve.state import Server

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# Probes of an orchestrator bring no key; they learn nothing but whether the server is up.
OPEN_PATHS = ("/v2/health/live", "/v2/health/ready")
# Pages come with the program and load nothing else; pictures may also be made by their scripts.
_POLICY = b"default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'"
DECIDING = (b"host", b"origin", b"sec-fetch-site", b"authorization", b"x-api-key")
HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    # Pages of other ports of this machine are of the same site, so they could embed pictures.
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class SecurityMiddleware:
    """Refuses a request before it is routed: 421 for its host, 403 for its origin, 401 for its key.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    settings : ServerSettings
        `allowed_hosts`, `origins` and `api_key`.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        self._hosts = allowed_hosts(settings)
        self._key = None if settings.api_key is None else settings.api_key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if len(headers) < len(scope["headers"]):
            _check_single(scope["headers"])
        self._check_host(headers)
        self._check_origin(headers, scope["method"])
        self._check_key(headers, scope["path"])
        await self._app(scope, receive, send)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        """Refuse a foreign name: a page whose name leads here must not act for the user."""
        if "*" in self._hosts:
            return
        host = host_name(headers.get(b"host", b"").decode("latin-1"))
        if host not in self._hosts:
            raise RequestError(
                421, f"this server does not answer to the name {host!r:.80}; see --allow-host."
            )

    def _check_origin(self, headers: dict[bytes, bytes], method: str) -> None:
        """Refuse requests that pages of others make, if they can change anything."""
        if method in SAFE_METHODS:
            return
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin in self._settings.origins:
            return
        site = headers.get(b"sec-fetch-site", b"none")
        host = headers.get(b"host", b"").decode("latin-1")
        same = not origin or (host and origin.partition("://")[2] == host)
        if not same or site not in (b"none", b"same-origin"):
            raise RequestError(
                403,
                f"pages of {origin or 'another site'!r:.80} may not do this; see --allow-origin.",
            )

    def _check_key(self, headers: dict[bytes, bytes], path: str) -> None:
        if self._key is None or path in OPEN_PATHS:
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        key = given.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
        if not hmac.compare_digest(key, self._key):
            raise RequestError(401, "an API key is needed: send it as 'Authorization: Bearer KEY'.")


def _check_single(headers: list[tuple[bytes, bytes]]) -> None:
    """Refuse a header that comes twice, of those that decide; others could read the other one."""
    names = [name for name, _ in headers if name in DECIDING]
    if len(set(names)) < len(names):
        raise RequestError(400, "a header that may come once comes twice, such as Host.")


def allowed_hosts(settings: ServerSettings) -> frozenset[str]:
    """Return the names by which the server may be called; ports do not matter."""
    own = {*LOOPBACK, settings.host, socket.gethostname()} - {"0.0.0.0", "::"}
    return frozenset(name.lower().strip("[]") for name in (*own, *settings.allowed_hosts))


@lru_cache(16)
def host_name(header: str) -> str:
    """Return the name in a Host header, without its port and in small letters.

    Examples
    --------
    >>> host_name("LocalHost:8080"), host_name("[::1]:80"), host_name("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0].rstrip(".")


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


def create_app(settings: ServerSettings, *, routes: Sequence[BaseRoute] = ()) -> Starlette:
    """Load the models and return the application that serves them.

    Parameters
    ----------
    settings : ServerSettings
        What is served, and to whom.
    routes : sequence of BaseRoute
        More addresses, for example of pages; they are behind the same checks.

    Returns
    -------
    Starlette
        ``app.state.server`` is what its requests share.

    Examples
    --------
    >>> import os, tempfile
    >>> from starlette.testclient import TestClient
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.persistence import save
    >>> from zslearn.serve import ServerSettings, create_app
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.zsl")
    >>> save(SAEClassifier(data.signatures, lam=0.1).fit(data.X, data.y), path)
    >>> app = create_app(ServerSettings({"made": path}))
    >>> TestClient(app, base_url="http://localhost").get("/v2/models/made/ready").json()
    {'name': 'made', 'ready': True, 'live': True}
    """
    server = Server(settings)
    server.shelf.load()

    def observe(scope: Scope, status: int, seconds: float) -> None:
        server.metrics.observe(scope, status, seconds)
        log_request(scope, status, seconds)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        server.shelf.warm()
        yield
        server.close()

    operations = [*INFERENCE, *CLASS_OPERATIONS, *OPERATIONS, *DOCS]
    app = _Application(
        routes=[*(one.route() for one in operations), *routes],
        middleware=[
            Middleware(AccessMiddleware, observe=observe),
            *_cross_origin(settings),
            Middleware(SecurityMiddleware, settings=settings),
            Middleware(_DirectMiddleware, known=_inference(settings.models)),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.server, app.state.operations = server, operations
    return app


def _cross_origin(settings: ServerSettings) -> list[Middleware]:
    """Return what lets pages of listed origins read answers; nothing if none is listed."""
    if not settings.origins:
        return []
    headers = ["authorization", "content-type", "content-encoding", "x-api-key", HEADER_LENGTH]
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=headers,
            expose_headers=[HEADER_LENGTH],
        )
    ]


class _DirectMiddleware:
    """Leads inference to its endpoint without the search for a route: most requests ask for it.

    Parameters
    ----------
    app : ASGI application
        All routes.
    known : mapping of path to facts
        What the scope of a request lacks, as its route would give it.
    """

    def __init__(self, app: ASGIApp, known: Mapping[str, Mapping[str, Any]]) -> None:
        self._app, self._known = app, known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the routes do it."""
        facts = self._known.get(scope["path"]) if scope.get("method") == "POST" else None
        if facts is None:
            await self._app(scope, receive, send)
            return
        scope.update(facts)
        await facts["endpoint"](scope, receive, send)


def _inference(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what belongs to the scope of each address of inference."""
    return {
        one.path.format(**params): {
            "route": one.route(),
            "endpoint": one.endpoint,
            "path_params": params,
        }
        for one in INFERENCE
        for params in ({"name": name, "version": VERSION} for name in names)
    }


class _Application(Starlette):
    """Starlette without its own answers to errors: `AccessMiddleware` answers all of them alike."""

    def build_middleware_stack(self) -> ASGIApp:
        """Return the routes behind the middleware that was given."""
        app: ASGIApp = self.router
        for middleware in reversed(self.user_middleware):
            app = middleware.cls(app, *middleware.args, **middleware.kwargs)
        return app
