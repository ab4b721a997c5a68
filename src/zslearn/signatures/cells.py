"""Tables of text cells, from CSV or a spreadsheet: which line is the header, what is a number."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError

Record = tuple[int, list[str]]
_SAMPLE = 20


@dataclass(frozen=True)
class CellTable:
    """A table whose rows all have the same number of cells.

    Attributes
    ----------
    names : tuple of str
        Names of the columns; empty without a header. Names of rows, which R writes without a
        title, have the name "".
    width : int
        Number of columns.
    decimal : {".", ","}
        Decimal mark.
    note : str
        How the file was read, where that had to be detected; else empty.
    """

    source: Callable[[], Iterator[Record]]
    names: tuple[str, ...]
    width: int
    has_header: bool
    decimal: str = "."
    note: str = ""

    def rows(self) -> Iterator[Record]:
        """Yield the lines below the header with their numbers, all of one width."""
        for line, cells in islice(self.source(), int(self.has_header), None):
            if len(cells) == self.width + 1 and cells[-1] == "":
                cells = cells[:-1]  # a delimiter at the end of the line
            if len(cells) != self.width:
                where = "the header has" if self.has_header else "the first line has"
                raise InvalidInputError(
                    f"Line {line} has {len(cells)} cells; {where} {self.width}."
                )
            yield line, cells

    def first(self) -> list[str]:
        """Return the first line of data."""
        for _, cells in self.rows():
            return cells
        raise InvalidInputError("There is a header but no line below it.")

    def numbers(self, cells: list[str], line: int, columns: Sequence[int]) -> list[float]:
        """Return the numbers in some cells of a line, or name the cell that is not a number."""
        chosen = [cells[column] for column in columns]
        odd = self.decimal == "," or "_" in "".join(chosen)
        try:
            return list(map(self._number if odd else float, chosen))
        except ValueError as error:
            column, cell = next(
                (column, cells[column]) for column in columns if not self.is_number(cells[column])
            )
            name = repr(self.names[column]) if self.names else column + 1
            raise InvalidInputError(
                f"Line {line}, column {name}: {cell!r} is not a number. Correct it, or leave out "
                "the column if it does not hold numbers."
            ) from error

    def split(
        self, numeric: Sequence[int], text: Sequence[int]
    ) -> tuple[NDArray[np.float64], list[list[str]]]:
        """Return some columns as a matrix and some as text, one list per column."""
        flat = array("d")
        texts: list[list[str]] = [[] for _ in text]
        for line, cells in self.rows():
            flat.extend(self.numbers(cells, line, numeric))
            for values, column in zip(texts, text, strict=True):
                values.append(cells[column])
        matrix = np.frombuffer(flat, np.float64) if flat else np.empty(0)
        return matrix.reshape(-1, len(numeric)), texts

    def is_number(self, cell: str) -> bool:
        """Say whether a cell holds a number."""
        return is_number(cell, self.decimal)

    def _number(self, cell: str) -> float:
        if not self.is_number(cell):
            raise ValueError(cell)
        return float(cell.replace(",", "."))


def is_number(cell: str, decimal: str = ".") -> bool:
    """Say whether a cell holds a number; Python's 1_000 and a second mark do not count."""
    if "_" in cell or (decimal == "," and "." in cell):
        return False
    try:
        float(cell.replace(",", ".") if decimal == "," else cell)
    except ValueError:
        return False
    return True


def make_table(
    source: Callable[[], Iterator[Record]],
    *,
    header: bool | None = None,
    titles: Sequence[str] = (),
    row_names: bool = False,
    decimal: str = ".",
    note: str = "",
) -> CellTable:
    """Look at the first lines of a table for its header.

    Parameters
    ----------
    source : callable
        Yields the lines, each with its number, from the start at every call.
    header : bool, optional
        Whether the first line is a header; detected if not given.
    titles : sequence of str
        What may be the names of columns, in a comment above the table.
    row_names : bool, default=False
        Whether the lines start in quotes, so that a first cell without a title above it is a name
        even if it is a number.
    decimal, note
        See `CellTable`.
    """
    sample = [cells for _, cells in islice(source(), _SAMPLE)]
    if not sample:
        raise InvalidInputError("The file is empty.")
    below = sample[1:]
    has_header = _is_header(sample[0], below, decimal) if header is None else header
    if not has_header:
        width = len(_trimmed(sample[0], sample))
        return CellTable(source, _comment_names(titles, width), width, False, decimal, note)
    names = _trimmed(sample[0], sample)
    if _has_row_names(names, below, None if row_names else decimal):
        names = ["", *names]
    return CellTable(source, tuple(names), len(names), True, decimal, note)


def _is_header(cells: list[str], below: list[list[str]], decimal: str) -> bool:
    """Say whether the first line names columns: it has text after the first cell, or counts up.

    pandas counts the columns of an array. Before them it writes its index, with or without a name.
    """
    titles = cells if is_number(cells[0], decimal) else cells[1:]
    if len(titles) > 1 and titles == [str(i) for i in range(len(titles))]:
        indexed = len(titles) < len(cells)
        return cells[0] == "" or (bool(below) and _counts_columns([r[indexed:] for r in below]))
    first, *others = (is_number(cell, decimal) for cell in cells)
    if not others:
        return not first
    return not any(others) and not first and any(cells[1:])


def _counts_columns(below: list[list[str]]) -> bool:
    """Distinguish a line 0, 1, 2 that counts columns from a sample by the fractions below it."""
    if all("." in cell or "e" in cell.lower() or not cell for cells in below for cell in cells):
        return True
    raise InvalidInputError(
        "The first line reads 0, 1, 2 and so on: it may count the columns or be a sample. Name the "
        "columns in a line above the samples, such as f0, f1, f2."
    )


def _trimmed(cells: list[str], sample: list[list[str]]) -> list[str]:
    """Drop a last cell that is empty in every line: the delimiter at the end of each."""
    if len(cells) > 1 and all(len(row) == len(cells) and row[-1] == "" for row in sample):
        return cells[:-1]
    return cells


def _has_row_names(names: list[str], below: list[list[str]], decimal: str | None) -> bool:
    """Recognize R's tables, whose lines start with a name that the header does not count."""
    return bool(below) and all(
        len(row) == len(names) + 1
        and row[-1] != ""
        and (decimal is None or not is_number(row[0], decimal))
        for row in below
    )


def _comment_names(titles: Sequence[str], width: int) -> tuple[str, ...]:
    """Take names from a comment if it has one for each column and none is a number."""
    fits = len(titles) == width and all(titles) and not any(map(is_number, titles))
    return tuple(titles) if fits else ()
