"""What every command prints and writes: tables, JSON, notes on files, rows as CSV."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn._files import json_ready
from zslearn.exceptions import InvalidInputError, MissingFileError

if TYPE_CHECKING:
    from zslearn.zero_shot.expectation import Expectation, ExpectedRejection


# Color and cursor commands (CSI), and titles and links (OSC) up to their end.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)?")


def format_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """Return rows as aligned text, numbers to the right.

    Parameters
    ----------
    rows : sequence of mappings
        Cells by key; a missing key or None is an empty cell.
    columns : mapping of str to str
        Keys to show, in order, and their titles.

    Returns
    -------
    str
        Lines without a final line break.

    Examples
    --------
    >>> print(format_table([{"n": "cat", "a": 0.5}, {"n": "ox", "a": 10}], {"n": "name", "a": ""}))
    name
    ----  ------
    cat   0.5000
    ox        10
    """
    body = [[cell_text(row.get(key)) for key in columns] for row in rows]
    right = [_is_numeric([row.get(key) for row in rows]) for key in columns]
    titles = list(columns.values())
    widths = [max(map(display_width, column)) for column in zip(titles, *body, strict=True)]
    lines = [titles, ["-" * width for width in widths], *body]
    return "\n".join(_aligned(line, widths, right) for line in lines)


def cell_text(value: Any) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}"
    return printable(str(value))


def printable(text: str) -> str:
    """Drop what a terminal would obey instead of show: escape sequences and control letters."""
    plain = _ESCAPES.sub("", text)
    return "".join(letter for letter in plain if letter == " " or not _is_control(letter))


def _is_control(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp")


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    shown = (c for c in text if not unicodedata.combining(c))
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)


def echo_json(value: Any) -> None:
    """Print a value as JSON that every parser takes: NaN and infinities become null."""
    click.echo(json.dumps(json_ready(value), indent=2, ensure_ascii=False, allow_nan=False))


def _is_numeric(values: Sequence[Any]) -> bool:
    """Say whether a column holds numbers only."""
    present = [value for value in values if value is not None]
    return bool(present) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in present
    )


def _aligned(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, numeric in zip(cells, widths, right, strict=True):
        space = " " * (width - display_width(cell))
        padded.append(space + cell if numeric else cell + space)
    return "  ".join(padded).rstrip()


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


def check_target(path: str | None, may_replace: Collection[str] = ()) -> None:
    """Refuse, before any work is done, a file that cannot be written, or that is read.

    Parameters
    ----------
    path : str or None
        The file, if one is written.
    may_replace : collection of str, default=()
        Parameters of the command whose file may be replaced.
    """
    if path is None:
        return
    _check_is_no_input(path, may_replace)
    place = Path(path)
    if place.is_dir():
        raise InvalidInputError(f"{path} is a folder; give the name of a file to write.")
    if not place.parent.is_dir():
        raise MissingFileError(f"There is no folder {str(place.parent)!r}; create it first.")
    if not os.access(place.parent, os.W_OK):
        raise InvalidInputError(f"{place.parent} is not writable; choose another folder.")


def _check_is_no_input(path: str, may_replace: Collection[str]) -> None:
    """Refuse to write to a file that the command line names a second time, to be read."""
    context = click.get_current_context(silent=True)
    if context is None or not Path(path).is_file():
        return
    named = []
    for parameter in context.command.params:
        given = context.params.get(parameter.name or "")
        files = given if isinstance(given, tuple) else (given,)
        if parameter.name not in may_replace and any(map(partial(_is_file, path), files)):
            option = isinstance(parameter, click.Option)
            named.append(parameter.opts[-1] if option else parameter.human_readable_name)
    if len(named) > 1:
        raise click.UsageError(
            f"{path} is {' and '.join(named)} at once, and would be replaced; choose another name"
        )


def _is_file(path: str, given: Any) -> bool:
    """Say whether a value given to a command is the path of a file."""
    try:
        return isinstance(given, str) and Path(path).samefile(given)
    except (OSError, ValueError):  # there is no such file; a long text is no path at all
        return False


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


def expectation_of(model: Any) -> Expectation | None:
    """Return what to expect of a model by `AutoZeroShotClassifier`; None of others.

    Parameters
    ----------
    model : estimator
        Fitted; with a bias against seen classes the classifier inside is asked.

    Returns
    -------
    Expectation or None
    """
    inner = model if hasattr(model, "expected_accuracy_") else getattr(model, "estimator_", None)
    return getattr(inner, "expected_accuracy_", None)


def rejection_of(model: Any) -> ExpectedRejection | None:
    """Return what `zslearn predict --reject` is expected to reject; None where nothing is known.

    Parameters
    ----------
    model : estimator
        Fitted; of a pipeline or the like the classifier inside is asked.

    Returns
    -------
    ExpectedRejection or None
        Among all classes, seen ones included; as text it is one line.
    """
    inner = model if hasattr(model, "expected_rejection_") else getattr(model, "estimator_", None)
    found: dict[str, ExpectedRejection] = getattr(inner, "expected_rejection_", {})
    return found.get("all")
