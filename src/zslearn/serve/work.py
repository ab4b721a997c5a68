"""Computation in threads: a few at a time, a bounded number waiting, each for a bounded time.

What takes less than the way to a thread and back is computed at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from zslearn.exceptions import ZslearnError, refused_data
from zslearn.serve.responses import RequestError
from zslearn.serve.settings import Limits

Result = TypeVar("Result")
# Seconds for which one request may hold up all others.
QUICK = 0.002
MOST_SLOW = 8


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
        job = self._threads.submit(checked, work, *args)
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


class Pace:
    """Whether the small requests of a model were quick lately.

    A slow one may be an accident of the machine, several are not; what was slow must be quick
    for a while before it counts as quick again.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.is_quick
    False
    >>> [pace.run(abs, -number) for number in range(12)][-1], pace.is_quick
    (11, True)
    """

    def __init__(self) -> None:
        self._slow = MOST_SLOW  # what is not known yet counts as slow

    @property
    def is_quick(self) -> bool:
        """Whether a request need not go to a thread."""
        return self._slow <= MOST_SLOW / 2

    def run(self, work: Callable[..., Result], *args: Any) -> Result:
        """Return the result of a call, and note how long it took."""
        start = time.perf_counter()
        try:
            return checked(work, *args)
        finally:
            slow = time.perf_counter() - start > QUICK
            self._slow = min(max(self._slow + (2 if slow else -1), 0), MOST_SLOW)


def checked(work: Callable[..., Result], *args: Any) -> Result:
    """Return the result of a call; data that scikit-learn refuses is the client's mistake."""
    try:  # `user_data` would do it as well, but takes longer than small work
        return work(*args)
    except ZslearnError:
        raise
    except ValueError as error:
        raise refused_data(error) from error


def _tell(loop: asyncio.AbstractEventLoop, end: Callable[..., None], job: Future[Any]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(end, job)
