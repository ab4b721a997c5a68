"""A lock that does not outlive a fork."""

from __future__ import annotations

import os
from threading import Lock


class ForkSafeLock:
    """A lock that is open in a forked child, whichever thread of its parent held it.

    Make it once per module: it is renewed in every child for as long as the program runs.

    Examples
    --------
    >>> from zslearn.core.locks import ForkSafeLock
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
