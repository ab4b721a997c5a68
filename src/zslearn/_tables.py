"""The one reader of tables: CSV, TSV, JSON lines, Excel, Parquet, Arrow and pandas frames.

Files of cells become columns block by block: numbers as long as every cell is one, text otherwise.
Typed tables keep the types of their columns. A cell that is not what is asked for is refused with
its line, and how a file was read is noted; nothing is guessed in silence.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Number
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._cells import (
    MINUSES,
    Layout,
    check_distinct,
    find_layout,
    is_number,
    number_of,
)
from zslearn._files import PathLike, check_is_file, damaged, naming, printable
from zslearn._optional import require
from zslearn.exceptions import InvalidInputError, InvalidTypeError, did_you_mean

#: Endings of the files that hold a table; any other file is read as text with delimiters.
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".feather", ".xlsx")

_BLOCK = 2**16  # cells that are held as text at a time
_COUNTING_TITLES = frozenset("# idx index key nr no row sample".split())


@dataclass(frozen=True)
class Table:
    """Columns of text or numbers with names, and where each row stood in the file.

    Attributes
    ----------
    names : tuple of str
        Names of the columns, without blanks around them; empty without a header.
    columns : tuple of ndarray of shape (n_rows,)
        Numbers where every cell is one (float64 from text), otherwise objects.
    index : list or None
        Names of the rows: the index of pandas or R, which has no title.
    lines : sequence of int or None
        The line each row ended on, for messages; None where rows are only counted.
    notes : tuple of str
        How the file was read, where that had to be found out.
    skipped : tuple of int
        Empty lines between rows.
    source : str
        The file, named in front of messages; empty for a frame.
    decimal : {".", ","}
        The decimal mark of a text file.
    """

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    index: list[Any] | None = None
    lines: Sequence[int] | None = None
    notes: tuple[str, ...] = ()
    skipped: tuple[int, ...] = ()
    source: str = ""
    decimal: str = "."
    _written: Callable[[int], list[str]] | None = None
    _matrix: tuple[tuple[int, ...], NDArray[np.float64]] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else len(self.index or [])

    def position(self, name: str) -> int:
        """Return where a column stands; the closest name is offered for one that is not there."""
        if name.strip() not in self.names:
            raise self.refusal(
                f"there is no column {name!r}; the columns are {spelled_names(self.names, name)}"
            )
        return self.names.index(name.strip())

    def title(self, column: int) -> str:
        """Return the name of a column for a message, or its number where it has none."""
        return repr(self.names[column]) if self.names else str(column + 1)

    def place(self, row: int) -> str:
        """Return where a row stands, for a message."""
        return f"Row {row}" if self.lines is None else f"Line {self.lines[row]}"

    def refusal(self, message: str) -> InvalidInputError:
        """Return the error for something wrong with this table, its file named in front."""
        return InvalidInputError(f"{self.source}: {message}" if self.source else message)

    def is_text(self, column: int) -> bool:
        """Say whether a column holds anything other than numbers."""
        return self.columns[column].dtype.kind not in "fiub"

    def texts(self, column: int | str) -> list[str]:
        """Return a column as written, without blanks around the cells; a missing value is ""."""
        at = self.position(column) if isinstance(column, str) else column
        if self._written is not None:
            return [cell.strip() for cell in self._written(at)]
        return [
            "" if is_missing(value) else str(value).strip() for value in self.columns[at].tolist()
        ]

    def take(self, column: int | str) -> NDArray[Any]:
        """Return a column without gaps, such as labels: text from a text file, else its type."""
        at = self.position(column) if isinstance(column, str) else column
        cells = self.columns[at].tolist() if self._written is None else self.texts(at)
        for row, cell in enumerate(cells):
            if is_missing(cell) or cell == "":
                raise self.refusal(
                    f"{self.place(row)} has no value in column {self.title(at)}; fill it in."
                )
            if not isinstance(cell, str | Number):
                raise self.refusal(
                    f"{self.place(row)}, column {self.title(at)} holds a {type(cell).__name__}; "
                    "only text or numbers are read."
                )
        return np.array([cell.strip() if isinstance(cell, str) else cell for cell in cells])

    def numbers(self, columns: Sequence[int]) -> NDArray[Any]:
        """Return columns side by side, or name the first cell that is not a finite number."""
        for column in columns:
            if self.is_text(column):
                raise self._no_number(column)
        if self._matrix is not None and set(columns) <= set(self._matrix[0]):
            places, found = self._matrix
            kept = [places.index(column) for column in columns]
            first = kept[0] if kept else 0
            in_a_row = kept == list(range(first, first + len(kept)))  # then nothing is copied
            found = found[:, first : first + len(kept)] if in_a_row else found[:, kept]
        else:
            found = np.column_stack([self.columns[column] for column in columns])
        finite = np.isfinite(found)
        if not finite.all():
            row, at = (int(i) for i in np.argwhere(~finite)[0])
            column = columns[at]
            cell = self.texts(column)[row] if self._written else str(found[row, at])
            raise self.refusal(
                f"{self.place(row)}, column {self.title(column)}: {cell!r} is not a finite number. "
                "Fill it in, or leave out the row."
            )
        return found

    def with_truths(self, columns: Sequence[int]) -> Table:
        """Turn columns of yes and no, true and false, or x and nothing into 1 and 0, and say so."""
        changed = list(self.columns)
        spelled: dict[tuple[str, str], list[str]] = {}
        for column in columns:
            words = [text.casefold() for text in self.texts(column)] if self.is_text(column) else []
            pair = next((pair for pair in _TRUTHS if words and _is_pair(set(words), pair)), None)
            if pair is not None:
                changed[column] = np.array([float(word == pair[0]) for word in words])
                spelled.setdefault(pair, []).append(self.title(column))
        notes = [
            f"{yes} and {no or 'empty cells'} in {_listed(titles)} are read as 1 and 0"
            for (yes, no), titles in spelled.items()
        ]
        return replace(
            self,
            columns=tuple(changed),
            notes=(*self.notes, *notes),
            _matrix=self._matrix if not spelled else None,
        )

    def _no_number(self, column: int) -> InvalidInputError:
        """Return the error that names the first cell of a column that is not a number."""
        if self._written is None:
            return self.refusal(
                f"column {self.title(column)} does not hold numbers. Name it as labels or ignore "
                "it."
            )
        cells = self._written(column)
        strange = (row for row, cell in enumerate(cells) if not is_number(cell, self.decimal))
        row = next(strange, 0)
        plain = cells[row].translate(MINUSES)
        remedy = "Correct it, or leave out the column if it does not hold numbers."
        if is_number(plain, self.decimal):
            remedy = f"Its minus is a dash; write {plain.strip()!r}."
        elif are_truths(cells):
            remedy = "Write 1 and 0, or leave out the column."
        elif len(self.columns) == 1 and len(cells[row].split()) > 1:
            remedy = "Put commas or tabs between the cells."
        return self.refusal(
            f"{self.place(row)}, column {self.title(column)}: {cells[row]!r} is not a number. "
            f"{remedy}"
        )


_TRUTHS = (("yes", "no"), ("true", "false"), ("x", ""))


def _is_pair(words: set[str], pair: tuple[str, str]) -> bool:
    return words <= set(pair) and words != {""}


def are_truths(cells: Iterable[str]) -> bool:
    """Say whether cells hold yes and no, true and false, or x and nothing."""
    words = {cell.strip().casefold() for cell in cells}
    return any(_is_pair(words, pair) for pair in _TRUTHS)


def read_table(
    source: Any,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    text: Collection[str | int] = (),
) -> Table:
    r"""Read a table, whatever program wrote it.

    Parameters
    ----------
    source : path-like or DataFrame
        ``.jsonl``, ``.parquet``, ``.arrow``, ``.feather`` and ``.xlsx`` by their ending; any other
        file is text in UTF-8, or UTF-16 with a byte-order mark, with commas, semicolons, tabs,
        ``|`` or blanks between its cells.
    header : bool, optional
        Whether the first line names the columns; found out if not given.
    delimiter : str, optional
        What separates the cells of a text file; ``"\n"`` makes one cell of every line. Found out
        if not given.
    text : collection of str or int
        Columns of a text file, by name or by place in it, that are kept as text even if they look
        like numbers, such as labels. It saves a second look at the file; `Table.texts` gives the
        text of any column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "europe.csv")
    ...     _ = path.write_text("f0;f1\n1,5;2\n")
    ...     table = read_table(path)
    >>> table.names, table.numbers([0, 1]).tolist(), table.notes
    (('f0', 'f1'), [[1.5, 2.0]], ('read with semicolons between cells and decimal commas',))
    """
    if not isinstance(source, str | os.PathLike):
        return _frame_table(source)
    path = Path(source)
    with naming(path):
        check_is_file(path)
        if _is_typed(path):
            return _arrow_table(path)
        layout = find_layout(path, header, delimiter)
        return _table_of(layout, str(path), text)


def column_names(source: Any) -> list[str]:
    """Return the names of the columns of a table without reading its rows; none if it has none."""
    if not isinstance(source, str | os.PathLike):
        return [str(name).strip() for name in source.columns]
    path = Path(source)
    with naming(path):
        check_is_file(path)
        if _is_typed(path):
            with damaged(path, _ARROW_KINDS[path.suffix.lower()]):
                return [str(name).strip() for name in _arrow_schema(path).names]
        return [name for name in find_layout(path, None, None).names if name]


def first_row(path: PathLike) -> list[str]:
    """Return the cells of the first row of a file, whether it names the columns or not."""
    with naming(path):
        check_is_file(path)
        if _is_typed(Path(path)):
            return column_names(path)
        layout = find_layout(Path(path), False, None)
        return [cell.strip() for cell in next(cells for _, cells in layout.records() if cells)]


def spelled_names(names: Sequence[str], wanted: str | None = None) -> str:
    """Spell the first columns of a table for a message, and the one nearest to a wanted name."""
    hint = "" if wanted is None else did_you_mean(wanted, names)
    more = ", ..." if len(names) > 8 else ""
    shown = ", ".join(printable(str(name)) for name in names[:8])
    return f"{shown or 'not named'}{more}.{hint}"


def check_spelled_once(names: Iterable[Any], what: str = "class") -> None:
    """Refuse names that differ in capitals or blanks only: one thing under two names."""
    seen: dict[str, str] = {}
    for name in dict.fromkeys(map(str, names)):
        other = seen.setdefault(" ".join(name.split()).casefold(), name)
        if other != name:
            raise InvalidInputError(
                f"the {what} {name!r} differs from {other!r} in capitals or blanks only; write "
                "both alike."
            )


def is_frame(value: object) -> bool:
    """Say whether a value is a pandas DataFrame, without importing pandas."""
    return all(hasattr(value, part) for part in ("index", "columns", "to_numpy"))


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def counts_rows(title: str, values: NDArray[Any]) -> bool:
    """Say whether numbers only count the rows, or tell them apart under a title such as "id"."""
    word = title.strip().casefold()
    is_id = word in ("id", "ids") or word.endswith(("_id", " id"))
    if not (is_id or word in ("", *_COUNTING_TITLES) or word.startswith("unnamed:")):
        return False
    if values.dtype.kind == "f" and not bool(np.all(values % 1 == 0)):
        return False
    return len(np.unique(values)) == len(values) if is_id else bool(np.all(np.diff(values) > 0))


# From records to columns.


def _table_of(layout: Layout, source: str, text: Collection[str | int]) -> Table:
    """Turn records into columns, a block at a time, so that cells never fill the memory."""
    width, names = layout.width, layout.names
    # The index of pandas or R has no title; it counts rows and would be learned from.
    index = int(width > 1 and layout.has_header and names[0] == "")
    as_text = {c if isinstance(c, int) else names.index(c) for c in text if _has(c, names)}
    as_text = (as_text | set(range(index))) & set(range(width))
    numeric = [c for c in range(width) if c not in as_text]
    kept: dict[int, list[str]] = {c: [] for c in sorted(as_text | {0})}
    lines, skipped = array("q"), list[int]()
    blocks: list[tuple[list[int], NDArray[np.float64]]] = []
    rows = layout.rows(skipped)
    while block := list(islice(rows, max(1, _BLOCK // width))):
        lines.extend(line for line, _ in block)
        cells = [row for _, row in block]
        numeric, numbers = _convert(cells, numeric, layout.decimal)
        if not blocks:
            kept |= {c: [] for c in range(width) if c not in numeric and c not in kept}
        blocks.append((numeric, numbers))
        for column, found in kept.items():
            found.extend(row[column] for row in cells)
    if not blocks:
        raise InvalidInputError("there is a header but no line below it.")
    # A column that began with numbers and has text below is looked at again.
    late = [c for c in range(width) if c not in numeric and c not in kept]
    kept |= _cells_of(layout, late)
    matrix = _joined(blocks, numeric, len(lines))
    by_column = dict(zip(numeric, matrix.T, strict=True))
    return Table(
        names[index:],
        tuple(
            by_column[c] if c in by_column else np.array(kept[c], dtype=object)
            for c in range(index, width)
        ),
        index=[cell.strip() for cell in kept[0]] if index else None,
        lines=lines,
        notes=layout.notes,
        skipped=tuple(skipped),
        source=source,
        decimal=layout.decimal,
        _written=lambda c: kept[c + index] if c + index in kept else _again(layout, c + index),
        _matrix=(tuple(c - index for c in numeric), matrix),
    )


def _has(column: str | int, names: tuple[str, ...]) -> bool:
    return isinstance(column, int) or column in names


def _convert(
    cells: list[list[str]], numeric: list[int], decimal: str
) -> tuple[list[int], NDArray[np.float64]]:
    """Return the columns that hold numbers only, and their numbers."""
    try:
        return numeric, _floats(cells, numeric, decimal)
    except ValueError:
        pass
    still = []
    for column in numeric:
        try:
            _floats(cells, [column], decimal)
        except ValueError:
            continue
        still.append(column)
    return still, _floats(cells, still, decimal)


def _floats(cells: list[list[str]], columns: list[int], decimal: str) -> NDArray[np.float64]:
    if not columns:
        return np.empty((len(cells), 0))
    rows: Any = cells
    if len(columns) < len(cells[0]):
        pick = itemgetter(*columns) if len(columns) > 1 else lambda row: (row[columns[0]],)
        rows = list(map(pick, cells))
    if decimal == "," or any("_" in "".join(row) for row in rows):
        rows = [[number_of(cell, decimal) for cell in row] for row in rows]
    return np.array(rows, dtype=np.float64)


def _joined(
    blocks: list[tuple[list[int], NDArray[np.float64]]], columns: list[int], n_rows: int
) -> NDArray[np.float64]:
    """Put blocks below each other, giving each up once it is copied."""
    matrix = np.empty((n_rows, len(columns)))
    while blocks:
        own, numbers = blocks.pop()
        if own != columns:
            numbers = numbers[:, [own.index(column) for column in columns]]
        matrix[n_rows - len(numbers) : n_rows] = numbers
        n_rows -= len(numbers)
    return matrix


def _cells_of(layout: Layout, columns: list[int]) -> dict[int, list[str]]:
    """Return the cells of some columns as written, from a second look at the file."""
    found: dict[int, list[str]] = {column: [] for column in columns}
    for _, cells in layout.rows([]) if columns else ():
        for column in columns:
            found[column].append(cells[column])
    return found


def _again(layout: Layout, column: int) -> list[str]:
    return _cells_of(layout, [column])[column]


# Tables with typed columns.

_ARROW_KINDS = {".parquet": "Parquet file", ".arrow": "Arrow file", ".feather": "Arrow file"}


def _is_typed(path: Path) -> bool:
    return path.suffix.lower() in _ARROW_KINDS


def _frame_table(frame: Any) -> Table:
    """Return a pandas frame as a table; an index that only counts the rows gives no names."""
    if not is_frame(frame):
        raise InvalidTypeError(
            f"a table is read from a file or a pandas DataFrame; got {type(frame).__name__}."
        )
    columns = [frame.iloc[:, i].to_numpy() for i in range(frame.shape[1])]
    return _typed([str(name) for name in frame.columns], columns, row_names(frame))


def row_names(frame: Any) -> list[Any] | None:
    """Return the index of a pandas frame; None where it only counts, or there is no frame."""
    if not is_frame(frame) or type(frame.index).__name__ == "RangeIndex":
        return None
    names: list[Any] = frame.index.tolist()
    return names


def _arrow_table(path: Path) -> Table:
    """Read a Parquet or Arrow file; the columns that pandas wrote its index to name the rows."""
    with damaged(path, _ARROW_KINDS[path.suffix.lower()]):
        table = _read_arrow(path)
        # Arrow trusts the offsets and texts of a file; a wrong one would end the interpreter.
        table.validate(full=True)
        listed = _index_columns(table.schema.metadata)
        plain = [_decoded(table.column(i)) for i in range(table.num_columns)]
        names = [str(name) for name in table.column_names]
        index = [
            column.to_pylist() for name, column in zip(names, plain, strict=True) if name in listed
        ]
        kept = [i for i, name in enumerate(names) if name not in listed]
        values = {i: _values(names[i], plain[i]) for i in kept}
    rows = None
    if index:
        rows = (
            index[0]
            if len(index) == 1
            else [" ".join(map(str, r)) for r in zip(*index, strict=True)]
        )
    found = _typed([names[i] for i in values], list(values.values()), rows)
    return replace(found, source=str(path))


def _read_arrow(path: Path) -> Any:
    if path.suffix.lower() == ".parquet":
        parquet = require("pyarrow.parquet", extra="table", purpose="Reading Parquet")
        return parquet.read_table(path)
    return _open_arrow(path).read_all()


def _open_arrow(path: Path) -> Any:
    """Open an Arrow file in either of its two forms."""
    pyarrow = require("pyarrow", extra="table", purpose="Reading an Arrow file")
    content = pyarrow.py_buffer(path.read_bytes())
    form = pyarrow.ipc.open_file if bytes(content[:6]) == b"ARROW1" else pyarrow.ipc.open_stream
    return form(content)


def _arrow_schema(path: Path) -> Any:
    if path.suffix.lower() == ".parquet":
        parquet = require("pyarrow.parquet", extra="table", purpose="Reading Parquet")
        return parquet.read_schema(path)
    return _open_arrow(path).schema


def _decoded(column: Any) -> Any:
    """Return a column of categories as their values."""
    kind = column.type
    return column.cast(kind.value_type) if hasattr(kind, "index_type") else column


def _values(name: str, column: Any) -> NDArray[Any]:
    try:
        values: NDArray[Any] = column.to_numpy()
        return values
    except NotImplementedError as error:
        raise InvalidInputError(
            f"column {name!r} is of the type {column.type}, which is neither numbers nor text; "
            "leave it out."
        ) from error


def _index_columns(metadata: Mapping[bytes, bytes] | None) -> list[str]:
    """Return the columns in which pandas stored an index that does more than count."""
    try:
        described = json.loads((metadata or {}).get(b"pandas", b"{}"))
        listed = described.get("index_columns", [])
        return [name for name in listed if isinstance(name, str)]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []


def _typed(names: list[str], columns: list[NDArray[Any]], index: list[Any] | None) -> Table:
    """Make a table of columns that have types of their own."""
    names = [name.strip() for name in names]
    check_distinct(names)
    return Table(tuple(names), tuple(map(_plain_column, columns)), index=index)


def _plain_column(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers kept as objects, such as decimals, as floats, and times as text."""
    if values.dtype.kind in "mM":
        return values.astype(str).astype(object)
    if values.dtype.kind != "O":
        return values
    cells = values.tolist()
    if not all(is_missing(c) or (isinstance(c, Number) and not isinstance(c, bool)) for c in cells):
        return values
    try:
        return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    except (TypeError, OverflowError):  # complex numbers, and those that no float can hold
        return values


def _listed(titles: Sequence[str]) -> str:
    more = f" and {len(titles) - 5} more" if len(titles) > 5 else ""
    return ("column " if len(titles) == 1 else "columns ") + ", ".join(titles[:5]) + more
