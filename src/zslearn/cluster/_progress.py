"""Progress of iterative mappings, told on stderr."""

from __future__ import annotations

import sys


def report(wanted: bool, message: str) -> None:
    """Write a line of progress to stderr, if wanted."""
    if wanted:
        sys.stderr.write(message + "\n")
