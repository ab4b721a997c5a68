"""The one knob for threads, and work on blocks in several of them with one BLAS thread each.

`threads` sets their number, `map_blocks` and `map_in_order` use them, and `limit_blas` keeps BLAS
from using more: threadpoolctl knows no limit that several threads of a process share, so the wishes
of all users are kept here and the smallest is in force. Locks survive a fork.
"""

from __future__ import annotations

import importlib
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock, Thread
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from zslearn._parameters import Whole, check_value

Item = TypeVar("Item")
Result = TypeVar("Result")

VARIABLE = "ZSLEARN_THREADS"
# Every thread holds a block of its own, so more of them cost memory on very wide machines.
_MOST_BY_DEFAULT = 16
# Starting threads costs about a millisecond, which this many scores take several times over.
_WORTH_THREADS = 2e7
# Limiting BLAS costs up to a millisecond; fewer scores than this take less.
_WORTH_A_LIMIT = 1e4
# One thread does this many multiplications in about five seconds.
_WORTH_BLAS_THREADS = 1e11
_chosen: ContextVar[int | None] = ContextVar("zslearn_threads", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Set how many threads the library uses inside a ``with`` block.

    In streaming fits and large predictions each thread works on a block of its own with one BLAS
    thread, which is faster than one stream of blocks with all BLAS threads and never uses more
    cores than asked for. In `fit` on rows in memory it is the number of BLAS threads of large
    problems; small ones use one. Without it the number is taken from the environment variable
    ``ZSLEARN_THREADS``, and otherwise is the number of cores this process may use, 16 at most.

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


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
        if size <= _WORTH_A_LIMIT:
            return map(function, blocks)
        with limit_blas(n_threads()):
            return iter([function(block) for block in blocks])
    return map_in_order(function, blocks, min(n_threads(), len(blocks)))


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n: int
) -> Iterator[Result]:
    """Yield ``function(item)`` in the order of the items, computed by n threads.

    Items are read by the caller's thread while the others work, which overlaps reading and
    computing; at most n + 1 items and results exist at once.
    """
    if n == 1:
        with limit_blas(1):
            yield from map(function, items)
        return
    with limit_blas(1), ThreadPoolExecutor(n, "zslearn", _limit_this_thread) as pool:
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


def limit_blas_for(multiplications: float) -> AbstractContextManager[None]:
    """Limit BLAS to one thread for small work, and to the number of `n_threads` for large work.

    On a busy machine BLAS threads spend their time waiting for each other: with two of them on two
    busy cores a fit of seconds took minutes. One thread gets its share of a core.
    """
    return limit_blas(1 if multiplications < _WORTH_BLAS_THREADS else n_threads())


@contextmanager
def limit_blas(n: int) -> Iterator[None]:
    """Let every BLAS library use n threads at most inside a ``with`` block; never more than before.

    The limit holds for the whole process: while several users ask for different ones, the smallest
    is in force.
    """
    _limit.enter(n)
    try:
        yield
    finally:
        _limit.leave(n)


class ForkSafeLock:
    """A lock that is open in a forked child, whichever thread of its parent held it.

    Make it once per module: it is renewed in every child for as long as the program runs.

    Examples
    --------
    >>> from zslearn.core.threads import ForkSafeLock
    >>> lock = ForkSafeLock()
    >>> with lock:
    ...     total = 1 + 1
    >>> total
    2
    """

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):  # not on Windows, which never forks
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class _BlasLimit:
    """The limit holds for the whole process, so the wishes of its users are kept."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._wishes: list[int] = []
        self._before: list[tuple[Any, int]] = []  # libraries and their threads without a limit

    def enter(self, n: int) -> None:
        with self._lock:
            if not self._wishes:
                self._before = [(library, library.num_threads) for library in _blas_libraries()]
            self._wishes.append(n)
            self._apply()

    def leave(self, n: int) -> None:
        with self._lock:
            self._wishes.remove(n)
            self._apply()

    def _apply(self) -> None:
        most = min(self._wishes, default=math.inf)
        _set_threads([(library, int(min(n, most))) for library, n in self._before])


_limit = _BlasLimit()


def _set_threads(wanted: list[tuple[Any, int]]) -> None:
    """Give libraries their numbers of threads."""

    def open_ones() -> list[tuple[Any, int]]:
        return [(library, n) for library, n in wanted if library.num_threads != n]

    def work() -> None:
        for library, n in open_ones():
            library.set_num_threads(n)

    if open_ones():
        # threadpoolctl lets the thread that changed a limit change it again until that thread has
        # ended, and the last user is often another thread than the first.
        helper = Thread(target=work)
        helper.start()
        helper.join()
    work()  # where this thread has a limit of its own


def _limit_this_thread() -> None:
    """Limit libraries that count by thread; for the others the limit is set already."""
    _controller().limit(limits=1, user_api="blas")


def _blas_libraries() -> list[Any]:
    """Return what controls each BLAS library that can be controlled."""
    found = _controller().lib_controllers
    return [library for library in found if library.user_api == "blas" and library.num_threads]


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes milliseconds. Both of numpy's and scipy's must be there.
    importlib.import_module("scipy.linalg")
    return ThreadpoolController()
