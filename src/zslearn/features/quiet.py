"""Pillow without its warnings about odd files, also in several threads at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zslearn.core.threads import ForkSafeLock

_lock = ForkSafeLock()
_users = 0
_state: Any = None


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Suppress warnings raised inside Pillow until the last user is done.

    Warning filters apply to the whole process: if each thread restored what it found, the last one
    could restore what another had set.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _users, _state
    with _lock:
        if _users == 0:
            _state = warnings.catch_warnings()
            _state.__enter__()
            warnings.filterwarnings("ignore", module=r"PIL\.")
        _users += 1


def _leave() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            _state.__exit__(None, None, None)
