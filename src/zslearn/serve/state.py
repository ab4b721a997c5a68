"""What the requests of one server share: its models, as files and as they are now, and threads."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from starlette.requests import Request
from starlette.types import Receive, Scope

from zslearn._files import first_line
from zslearn.exceptions import ZslearnError, did_you_mean
from zslearn.serve.changes import VERSION, ChangedModel, ServedModel, open_model
from zslearn.serve.connections import WHOLE, decompress, read_body
from zslearn.serve.metrics import ServerMetrics
from zslearn.serve.responses import RequestError
from zslearn.serve.settings import ServerSettings, changes_path
from zslearn.serve.work import WorkPool

logger = logging.getLogger("zslearn.serve")


class ModelSlot:
    """The place of one model: its file, and what is served of it now.

    Parameters
    ----------
    name : str
        The name it is served under.
    settings : ServerSettings
        Its file, and where the changes of its classes are kept.
    """

    def __init__(self, name: str, settings: ServerSettings) -> None:
        self.name = name
        self.path = Path(settings.models[name])
        self._changes = changes_path(settings, name)
        self._limits, self._read_only = settings.limits, settings.read_only
        self._served: ChangedModel | None = None
        self._stamp: tuple[int, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether the model can be asked."""
        return self._served is not None

    def load(self) -> None:
        """Read the file; if it cannot be read, what was served before stays."""
        self._stamp = self._facts()
        base, before = open_model(self.name, self.path), self._served
        self._served = ChangedModel(base, self._changes, self._limits, read_only=self._read_only)
        if before is not None:
            before.close()

    def unload(self) -> None:
        """Stop serving it."""
        served, self._served = self._served, None
        if served is not None:
            served.close()

    def is_outdated(self) -> bool:
        """Say whether the file is another one than when it was last read."""
        return self.is_ready and self._facts() not in (self._stamp, ())

    def changes(self) -> ChangedModel:
        """Return the model whose classes can be changed."""
        if self._served is None:
            raise RequestError(503, f"{self.name} is not loaded.", retry_after=5)
        return self._served

    def model(self) -> ServedModel:
        """Return the model with the newest classes."""
        return self.changes().newest()

    def _facts(self) -> tuple[int, ...]:
        try:
            facts = self.path.stat()
        except OSError:
            return ()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size


class ModelShelf:
    """All models of a server.

    Parameters
    ----------
    settings : ServerSettings
        `models` are the files by name.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.slots = {name: ModelSlot(name, settings) for name in settings.models}

    def load(self) -> None:
        """Read every file."""
        for slot in self.slots.values():
            slot.load()

    def warm(self) -> None:
        """Open the encoders of samples, in the process that will use them."""
        for slot in self.slots.values():
            encoder = slot.model().encoder if slot.is_ready else None
            if encoder is not None:
                encoder.opened.fit()

    def reload(self, *, every: bool) -> None:
        """Read every file again, or those that changed; a bad one leaves what was served."""
        for slot in self.slots.values():
            if slot.is_outdated() or (every and slot.is_ready):
                try:
                    slot.load()
                    logger.info("read %s again", slot.path)
                except (ZslearnError, OSError) as error:
                    logger.error("%s as served before stays: %s", slot.name, first_line(error))

    def is_outdated(self) -> bool:
        """Say whether a file is another one than when it was last read."""
        return any(slot.is_outdated() for slot in self.slots.values())

    def close(self) -> None:
        """Close what the models hold open."""
        for slot in self.slots.values():
            slot.unload()

    @property
    def ready(self) -> bool:
        """Whether every model can be asked."""
        return all(slot.is_ready for slot in self.slots.values())

    def slot(self, name: str, version: str = VERSION) -> ModelSlot:
        """Return the place of a model, or refuse an unknown name or version."""
        if name not in self.slots:
            hint = did_you_mean(name, self.slots)
            raise RequestError(404, f"there is no model {name!r:.80}.{hint}")
        if version != VERSION:
            raise RequestError(404, f"{name} has the version {VERSION} only.")
        return self.slots[name]


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
