"""Refusals and warnings of scikit-learn, reported the way the command line reports its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from zslearn.exceptions import InvalidInputError, ZslearnError


@contextmanager
def user_data() -> Iterator[None]:
    """Turn scikit-learn's refusal of features or labels into an error of the library."""
    try:
        yield
    except ZslearnError:
        raise
    except ValueError as error:
        # The lines below the first advise on scikit-learn, not on this program.
        reason = str(error).strip().splitlines() or ["the data was refused"]
        raise InvalidInputError(reason[0]) from error


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
