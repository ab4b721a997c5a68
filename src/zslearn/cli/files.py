"""Lists of names, result tables and checks of paths."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from zslearn.exceptions import InvalidInputError, MissingFileError


def names_in(text: str | None) -> tuple[str, ...]:
    """Return the names of a list with commas, quoted like a line of CSV where needed.

    Examples
    --------
    >>> names_in('zebra, polar bear,"a, b"')
    ('zebra', 'polar bear', 'a, b')
    """
    if text is None:
        return ()
    cells = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(cell.strip() for cell in cells if cell.strip())


def check_target(path: str | None) -> None:
    """Refuse, before any work is done, a file that cannot be written."""
    if path is None:
        return
    place = Path(path)
    if place.is_dir():
        raise InvalidInputError(f"{path} is a folder; give the name of a file to write.")
    if not place.parent.is_dir():
        raise MissingFileError(f"There is no folder {str(place.parent)!r}; create it first.")
    if not os.access(place.parent, os.W_OK):
        raise InvalidInputError(f"{place.parent} is not writable; choose another folder.")


def echo_notes(path: str, notes: Sequence[str]) -> None:
    """Say on standard error how a file was read, where that had to be found out."""
    for note in notes:
        click.echo(f"{path}: {note}.", err=True)


def write_rows(path: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV with all their keys as columns; None is an empty cell.

    Text that a spreadsheet would run as a formula gets a quote before it, unless the environment
    has ``ZSLEARN_CSV_GUARD=0``.
    """
    from zslearn._files import guarded_cell, replacing

    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: guarded_cell(v) for k, v in row.items()} for row in rows)
    with replacing(path) as file:
        file.write(text.getvalue().encode())
