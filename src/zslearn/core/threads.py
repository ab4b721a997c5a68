"""The one knob for threads, and work on blocks in several of them with one BLAS thread each."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Thread
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from zslearn._parameters import Whole, check_value
from zslearn.core.locks import ForkSafeLock

Item = TypeVar("Item")
Result = TypeVar("Result")

VARIABLE = "ZSLEARN_THREADS"
# Every thread holds a block of its own, so more of them cost memory on very wide machines.
_MOST_BY_DEFAULT = 16
# Starting threads costs about a millisecond, which this many scores take several times over.
_WORTH_THREADS = 2e7
_chosen: ContextVar[int | None] = ContextVar("zslearn_threads", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Set how many threads streaming fits and large predictions use inside a ``with`` block.

    Each thread works on a block of its own with one BLAS thread, which is faster than one stream
    of blocks with all BLAS threads and never uses more cores than asked for. Without it the number
    is taken from the environment variable ``ZSLEARN_THREADS``, and otherwise is the number of cores
    this process may use, 16 at most.

    Parameters
    ----------
    n : int
        Number of threads, at least 1.

    Examples
    --------
    >>> from zslearn.core.threads import n_threads, threads
    >>> with threads(3):
    ...     n_threads()
    3
    """
    check_value("threads", n, Whole(1))
    token = _chosen.set(int(n))
    try:
        yield
    finally:
        _chosen.reset(token)


def n_threads() -> int:
    """Return the number of threads in force."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    text = os.environ.get(VARIABLE)
    if text:
        n = int(text) if text.strip().isdecimal() else text
        check_value(VARIABLE, n, Whole(1))
        return int(n)
    return min(cores(), _MOST_BY_DEFAULT)


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n: int
) -> Iterator[Result]:
    """Yield ``function(item)`` in the order of the items, computed by n threads.

    Items are read by the caller's thread while the others work, which overlaps reading and
    computing; at most n + 1 items and results exist at once.
    """
    if n == 1:
        with one_blas_thread():
            yield from map(function, items)
        return
    with one_blas_thread(), ThreadPoolExecutor(n, "zslearn", _limit_this_thread) as pool:
        pending: deque[Future[Result]] = deque()
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > n:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def map_blocks(
    function: Callable[[Item], Result], blocks: Sequence[Item], size: float
) -> Iterator[Result]:
    """Yield ``function(block)`` in order, in threads if the work is large enough to gain by them.

    Parameters
    ----------
    function : callable
        Work on one block, without side effects.
    blocks : sequence
        The blocks.
    size : float
        Number of results computed in all, each a product over the dimensions.
    """
    if len(blocks) < 2 or size < _WORTH_THREADS:
        return map(function, blocks)
    return map_in_order(function, blocks, min(n_threads(), len(blocks)))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let every BLAS library work with one thread, until the last of all users is done."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


class _BlasLimit:
    """The limit holds for the whole process, so its users are counted."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._users = 0
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                _in_a_thread_of_its_own(self._set)
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                _in_a_thread_of_its_own(self._limiter.restore_original_limits)

    def _set(self) -> None:
        self._limiter = _controller().limit(limits=1, user_api="blas")


def _in_a_thread_of_its_own(function: Callable[[], None]) -> None:
    # threadpoolctl lets the thread that set a limit change it until that thread has ended, and
    # the last user is often another thread than the first.
    helper = Thread(target=function)
    helper.start()
    helper.join()


def _limit_this_thread() -> None:
    """Limit libraries that count by thread; for the others the limit is set already."""
    _controller().limit(limits=1, user_api="blas")


_limit = _BlasLimit()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
