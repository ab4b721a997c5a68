"""Warnings, reported the way the command line reports its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def warnings_as_lines(prefix: str = "") -> Iterator[None]:
    """Print each kind of warning once, as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            messages = dict.fromkeys(" ".join(str(item.message).split()) for item in caught)
            for message in messages:
                click.echo(f"Warning: {prefix}{message}", err=True)
