"""The studio as the server has it: opening, then open; its work in the order of the requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zslearn.serve.errors import RequestError
from zslearn.serve.settings import Limits
from zslearn.serve.studio.entrance import Entrance
from zslearn.serve.studio.events import Events
from zslearn.serve.studio.maps import make_map
from zslearn.serve.studio.packed import pack
from zslearn.serve.studio.session import Session
from zslearn.serve.studio.thumbnails import Thumbnails
from zslearn.serve.work import WorkPool

Result = TypeVar("Result")


class Studio:
    """What the requests of the page share.

    Parameters
    ----------
    kept : Path or None
        File of the secret of the entrance.
    limits : Limits or None
        What a request may cost.

    Attributes
    ----------
    entrance : Entrance
        Who may come in.
    events : Events
        Who is told of changes.
    session : Session or None
        The open studio; None while it is being prepared.
    progress : dict or None
        How far that is.
    """

    def __init__(self, kept: Path | None = None, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self.entrance = Entrance(kept)
        self.events = Events()
        self.session: Session | None = None
        self.thumbnails: Thumbnails | None = None
        self.progress: dict[str, Any] | None = None
        # One thread: changes happen in the order they were asked for.
        self._pool = WorkPool(replace(limits, concurrency=1, queue=max(limits.queue, 256)))
        self._newest: dict[tuple[str, Any], int] = {}
        self._maps: dict[tuple[Any, ...], NDArray[np.float32]] = {}

    def open(self, session: Session, xy: NDArray[np.float32] | None = None) -> None:
        """Show a session from now on; `xy` is its first map, if it is made already."""
        if xy is not None:
            self._maps["pca",] = xy
        self.thumbnails = Thumbnails(session.collection)
        self.session, self.progress = session, None
        self.events.publish("changed", {"revision": session.view.revision, "by": ""})

    def opened(self) -> Session:
        """Return the session, or refuse while there is none."""
        if self.session is None:
            raise RequestError(503, "the pictures are still being prepared.", retry_after=1)
        return self.session

    async def run(self, work: Callable[..., Result], *args: Any) -> Result:
        """Do something with the session, after all that was asked for before."""
        return await self._pool.run(work, *args)

    async def run_newest(
        self, work: Callable[[], bytes], document: dict[str, Any], final: bool, by: str
    ) -> bytes:
        """Do an edit, unless it is a step of a slider and a later one waits already."""
        key = by, document.get("class") if isinstance(document.get("class"), int) else None
        ticket = self._newest[key] = self._newest.get(key, 0) + 1

        def unless_newer() -> bytes:
            if not final and self._newest.get(key) != ticket:
                return pack({"superseded": True}, {})
            return work()

        return await self._pool.run(unless_newer)

    def map(self, session: Session, kind: str) -> NDArray[np.float32]:
        """Return a map, made once; that of the semantics for each method."""
        state = session.view.state
        key = (kind, state.method, state.lam.get(state.method)) if kind == "attributes" else (kind,)
        if key not in self._maps:
            self._maps[key] = make_map(session, kind)
        return self._maps[key]
