"""Text tables as programs write them: commas, semicolons, tabs or blanks, decimal commas."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from itertools import islice, takewhile
from typing import IO

from zslearn._files import PathLike, first_line
from zslearn.exceptions import InvalidInputError
from zslearn.signatures.cells import CellTable, Record, is_number, make_table

_SAMPLE = 20
#: Delimiter and decimal mark, the usual ones first.
_DIALECTS = ((",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), (" ", "."))
_SPELLED = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "blanks"}


def open_delimited(path: PathLike, *, header: bool | None = None) -> CellTable:
    r"""Open a text table, detecting its delimiter, decimal mark, comments and header.

    Parameters
    ----------
    path : path-like
        A file in UTF-8.
    header : bool, optional
        Whether the first line names the columns; detected if not given.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "europe.csv")
    ...     _ = path.write_text("f0;f1\n1,5;2\n")
    ...     table = open_delimited(path)
    ...     table.names, table.split([0, 1], [])[0].tolist(), table.note
    (('f0', 'f1'), [[1.5, 2.0]], 'read with semicolons between cells and decimal commas')
    """
    lines = _first_lines(path)
    announced = _announced(lines)
    skipped = 1 if announced else 0
    comments = list(takewhile(_is_comment, lines[skipped:]))
    if len(comments) + skipped < len(lines) and _is_titled(lines[skipped:], len(comments)):
        comments.pop()
    body = lines[skipped + len(comments) :]
    delimiter, decimal = _dialect(body, announced)
    titles = _cells([comments[-1].lstrip("#").strip()], delimiter) if comments else []
    return make_table(
        partial(_records, path, delimiter, skipped + len(comments)),
        header=header,
        titles=[title.strip() for title in titles[0]] if titles else (),
        row_names=all(line.startswith('"') for line in body[1:]),
        decimal=decimal,
        note=_note(delimiter, decimal),
    )


def _records(path: PathLike, delimiter: str, skip: int) -> Iterator[Record]:
    """Yield the records that are not blank, each with the line it ends on."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        before = sum(1 for _ in _through(file, skip))
        reader = csv.reader(
            file, delimiter=delimiter, skipinitialspace=delimiter == " ", strict=True
        )
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield before + reader.line_num, cells
        except csv.Error as error:
            line = before + reader.line_num
            raise InvalidInputError(f"Line {line} is not CSV: {first_line(error)}.") from error


def _first_lines(path: PathLike) -> list[str]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(islice((line for line in file if line.strip()), _SAMPLE))


def _through(file: IO[str], n_lines: int) -> Iterator[str]:
    """Yield lines until `n_lines` that are not blank have been read."""
    while n_lines and (line := file.readline()):
        n_lines -= bool(line.strip())
        yield line


def _announced(lines: list[str]) -> str | None:
    """Return the delimiter that Excel declares on a separate line, as in ``sep=;``."""
    first = lines[0].strip().strip('"') if lines else ""
    return first[4:] if first.lower().startswith("sep=") and len(first) == 5 else None


def _is_comment(line: str) -> bool:
    return line.startswith("#")


def _is_titled(lines: list[str], n_comments: int) -> bool:
    """Say whether a first ``#`` is a separate cell, so that the line is a header, not a comment."""
    last = lines[n_comments - 1] if n_comments else ""
    return len(last) > 1 and last[1] in _SPELLED and last[1] != " "


def _dialect(lines: list[str], announced: str | None) -> tuple[str, str]:
    """Return the delimiter and decimal mark that give the most numbers, in lines of one width."""
    best, found = 0.0, (announced or ",", ".")
    for delimiter, decimal in _DIALECTS:
        if announced not in (None, delimiter):
            continue
        rows = _cells(lines, delimiter)
        fit = _share_of_numbers(rows[1:] or rows, decimal) * _share_of_one_width(rows)
        if fit > best:
            best, found = fit, (delimiter, decimal)
    return found


def _share_of_numbers(rows: list[list[str]], decimal: str) -> float:
    cells = [cell for row in rows for cell in row]
    return sum(is_number(cell, decimal) for cell in cells) / max(1, len(cells))


def _share_of_one_width(rows: list[list[str]]) -> float:
    """Return how many lines have the most frequent number of cells; 0 if they are not split."""
    widths = [len(row) for row in rows]
    return max(map(widths.count, widths)) / len(widths) if max(widths, default=0) > 1 else 0.0


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " "))
    except csv.Error:  # the actual reading says in which line
        return []
    return [row for row in rows if row]


def _note(delimiter: str, decimal: str) -> str:
    if (delimiter, decimal) == _DIALECTS[0]:
        return ""
    mark = " and decimal commas" if decimal == "," else ""
    return f"read with {_SPELLED.get(delimiter, repr(delimiter))} between cells{mark}"
