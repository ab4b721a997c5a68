"""Computation in threads: a few at a time, a bounded number waiting, each for a bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from zslearn.exceptions import user_data
from zslearn.serve.errors import RequestError
from zslearn.serve.settings import Limits

Result = TypeVar("Result")


class WorkPool:
    """Runs the work of requests in threads.

    Parameters
    ----------
    limits : Limits
        `concurrency` threads, `queue` requests that wait, `seconds` for each.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.concurrency, "zslearn-serve")
        self.pending = 0

    async def run(self, work: Callable[..., Result], *args: Any) -> Result:
        """Return the result of a call, or refuse it: 503 when too many wait, 504 when too long."""
        if self.pending >= self._limits.concurrency + self._limits.queue:
            raise RequestError(503, "too many requests are waiting; try again.", retry_after=1)
        loop = asyncio.get_running_loop()
        self.pending += 1
        job = self._threads.submit(_checked, work, args)
        job.add_done_callback(lambda done: _tell(loop, self._end, done))
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await asyncio.wrap_future(job)
        except TimeoutError as error:
            # What has begun goes on and keeps its thread; what has not is dropped.
            raise RequestError(
                504, f"the answer took longer than {self._limits.seconds:g} seconds."
            ) from error

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _end(self, _: Future[Any]) -> None:
        self.pending -= 1


def _checked(work: Callable[..., Result], args: tuple[Any, ...]) -> Result:
    with user_data():
        return work(*args)


def _tell(loop: asyncio.AbstractEventLoop, end: Callable[..., None], job: Future[Any]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(end, job)
