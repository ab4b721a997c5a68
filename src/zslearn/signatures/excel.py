"""Tables in the first sheet of an Excel workbook."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from zslearn._files import PathLike, first_line
from zslearn._optional import require
from zslearn.exceptions import InvalidInputError
from zslearn.signatures.cells import CellTable, Record, make_table

# What openpyxl raises, depending on which part of a workbook is cut or damaged.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    NotImplementedError,
)


def open_excel(path: PathLike, *, header: bool | None = None) -> CellTable:
    """Open the first sheet of an ``.xlsx`` file (extra ``table``).

    Parameters
    ----------
    path : path-like
        The workbook. Formulas are read as the values saved with them.
    header : bool, optional
        Whether the first line names the columns; detected if not given.
    """
    openpyxl = require("openpyxl", extra="table", purpose="Reading an Excel workbook")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheet = book.worksheets[0]
            records = _records(sheet)
            title, n_sheets = sheet.title, len(book.worksheets)
        finally:
            book.close()
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise InvalidInputError(
            f"this is not a readable Excel workbook ({first_line(error)}). Save it again."
        ) from error
    note = f"read the sheet {title!r}, the first of {n_sheets}" if n_sheets > 1 else ""

    def source() -> Iterator[Record]:
        return iter(records)

    return make_table(source, header=header, note=note)


def _records(sheet: Any) -> list[Record]:
    """Return the lines that are not blank, all as wide as the widest."""
    rows = [[_text(value) for value in row] for row in sheet.iter_rows(values_only=True)]
    width = max((len(_stripped(row)) for row in rows), default=0)
    padded = ([*row, *[""] * (width - len(row))][:width] for row in rows)
    return [(line, row) for line, row in enumerate(padded, 1) if any(row)]


def _text(value: Any) -> str:
    """Return a cell as text; numbers can be read back from it exactly."""
    return "" if value is None else str(value)


def _stripped(row: list[str]) -> list[str]:
    while row and row[-1] == "":
        row = row[:-1]
    return row
