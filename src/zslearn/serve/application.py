"""The application: routes behind the checks, as any ASGI server runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Scope

from zslearn.serve.access import AccessMiddleware
from zslearn.serve.logs import log_request
from zslearn.serve.responses import HEADER_LENGTH
from zslearn.serve.routes import classes, docs, health, infer, operations, predict
from zslearn.serve.security import SecurityMiddleware
from zslearn.serve.settings import ServerSettings
from zslearn.serve.state import Server


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
        server.pool.close()

    app = _Application(
        routes=[
            *infer.ROUTES,
            *classes.ROUTES,
            *health.ROUTES,
            *operations.ROUTES,
            *predict.ROUTES,
            *docs.ROUTES,
            *routes,
        ],
        middleware=[
            Middleware(AccessMiddleware, observe=observe),
            *_cross_origin(settings),
            Middleware(SecurityMiddleware, settings=settings),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.server = server
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


class _Application(Starlette):
    """Starlette without its own answers to errors: `AccessMiddleware` answers all of them alike."""

    def build_middleware_stack(self) -> ASGIApp:
        """Return the routes behind the middleware that was given."""
        app: ASGIApp = self.router
        for middleware in reversed(self.user_middleware):
            app = middleware.cls(app, *middleware.args, **middleware.kwargs)
        return app
