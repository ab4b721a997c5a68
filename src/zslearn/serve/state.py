"""What the requests of one server share."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.types import Receive, Scope

from zslearn.serve.connections import WHOLE, decompress, read_body
from zslearn.serve.metrics import ServerMetrics
from zslearn.serve.models import ModelShelf
from zslearn.serve.responses import RequestError
from zslearn.serve.settings import ServerSettings
from zslearn.serve.work import WorkPool


class Server:
    """Settings, models and threads of one server.

    Parameters
    ----------
    settings : ServerSettings
        What is served, and to whom.

    Attributes
    ----------
    shelf : ModelShelf
        The models.
    pool : WorkPool
        The threads that compute.
    metrics : ServerMetrics
        Its figures.
    stopping : bool
        Whether the server is about to end; it is not ready then.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.shelf = ModelShelf(settings)
        self.pool = WorkPool(settings.limits)
        self.metrics = ServerMetrics()
        self.stopping = False

    def close(self) -> None:
        """Begin nothing more, and close what is open."""
        self.pool.close()
        self.shelf.close()

    @property
    def ready(self) -> bool:
        """Whether requests can be answered."""
        return not self.stopping and self.shelf.ready


def server_of(request: Request) -> Server:
    """Return the server that a request was sent to."""
    server: Server = request.app.state.server
    return server


async def read_request(request: Request) -> bytes:
    """Return the body of a request, decompressed."""
    return await read_content(server_of(request), request.scope, request.receive)


async def read_content(server: Server, scope: Scope, receive: Receive) -> bytes:
    """Return the body of a request, decompressed, without Starlette's wrappers."""
    limits = server.settings.limits
    length = header(scope, b"content-length") or ""
    if WHOLE in scope:  # nothing to wait for, so no clock is needed
        body = await read_body(receive, length, limits)
    else:
        try:
            async with asyncio.timeout(limits.seconds):
                body = await read_body(receive, length, limits)
        except TimeoutError as error:
            raise RequestError(
                408, f"the body did not arrive within {limits.seconds:g} seconds."
            ) from error
    encoding = header(scope, b"content-encoding")
    if not encoding:
        return body
    return await server.pool.run(decompress, body, encoding, limits)


def header(scope: Scope, name: bytes) -> str | None:
    """Return the first header of a name, given in small letters."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value, "latin-1")
    return None
