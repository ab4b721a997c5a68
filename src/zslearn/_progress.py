"""Progress of long work, on stderr: a bar where tqdm is installed, and plain lines."""

from __future__ import annotations

import importlib
import sys
from typing import Any


class _Silent:
    """Stands in for a bar that is not wanted or not available."""

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, _: int) -> None:
        """Do nothing."""


def progress_bar(total: int | None, label: str, unit: str, *, show: bool) -> Any:
    """Return a context manager with the method `update`."""
    if not show:
        return _Silent()
    try:
        tqdm = importlib.import_module("tqdm")
    except ModuleNotFoundError:
        return _Silent()
    large = total is None or total >= 10_000
    return tqdm.tqdm(total=total, desc=label, unit=unit, unit_scale=large)


def report(wanted: bool, message: str) -> None:
    """Write a line of progress, if wanted."""
    if wanted:
        sys.stderr.write(message + "\n")
