"""The one reader of tables: CSV, TSV, JSON lines, Excel, Parquet, Arrow and pandas frames.

Text files and spreadsheets are read as records of cells: the delimiter is the one that gives
records of one width, the header is told from the first sample by what stands below it, and cells
become numbers block by block. Typed tables keep the types of their columns. What cannot be told
for sure is refused with line and cell, or read with a note; nothing is guessed in silence.
"""

from __future__ import annotations

import csv
import json
import os
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from numbers import Number
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._files import PathLike, check_is_file, damaged, first_line, naming, text_encoding
from zslearn._optional import require
from zslearn.exceptions import InvalidInputError, InvalidTypeError, did_you_mean

Record = tuple[int, list[str]]
Records = Callable[[], Iterator[Record]]

#: Endings of the files that hold a table; any other file is read as text with delimiters.
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".feather", ".xlsx")

_SAMPLE = 20
_BLOCK = 256
#: What stands where a number is missing: such a cell is neither a name nor a title.
_MISSING = frozenset(["", "-", "--", "?", ".", "n/a", "na", "#n/a", "nan", "null", "none", "nil"])
_MINUSES = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d", "-"))
#: Titles of a column that names the rows, in letters without capitals.
_ROW_TITLES = frozenset(
    "# id ids idx index key name names nr no number row sample samples file filename image images "
    "picture photo path class classes label labels category species text spectrum wavelength "
    "object item animal".split()
)
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
            found = self._matrix[1]
            if tuple(columns) != self._matrix[0]:
                found = found[:, [self._matrix[0].index(column) for column in columns]]
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
        plain = cells[row].translate(_MINUSES)
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
        layout = _find_layout(path, header, delimiter)
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
        return [name for name in _find_layout(path, None, None).names if name]


def first_row(path: PathLike) -> list[str]:
    """Return the cells of the first row of a file, whether it names the columns or not."""
    with naming(path):
        check_is_file(path)
        if _is_typed(Path(path)):
            return column_names(path)
        layout = _find_layout(Path(path), False, None)
        return [cell.strip() for cell in next(cells for _, cells in layout.records() if cells)]


def spelled_names(names: Sequence[str], wanted: str | None = None) -> str:
    """Spell the first columns of a table for a message, and the one nearest to a wanted name."""
    hint = "" if wanted is None else did_you_mean(wanted, names)
    more = ", ..." if len(names) > 8 else ""
    return f"{', '.join(map(str, names[:8])) or 'not named'}{more}.{hint}"


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


def is_number(cell: str, decimal: str = ".") -> bool:
    """Say whether a cell holds a number; Python's 1_000 and a second mark do not count."""
    try:
        _number(cell, decimal)
    except ValueError:
        return False
    return True


def _number(cell: str, decimal: str) -> float:
    if "_" in cell or (decimal == "," and "." in cell):
        raise ValueError(cell)
    return float(cell.replace(",", ".") if decimal == "," else cell)


def is_no_name(cell: str, decimal: str = ".") -> bool:
    """Say whether a cell is a number, or stands where one is missing or misspelled."""
    return cell.strip().casefold() in _MISSING or is_number(cell.translate(_MINUSES), decimal)


def counts_rows(title: str, values: NDArray[Any]) -> bool:
    """Say whether numbers only count the rows, or tell them apart under a title such as "id"."""
    word = title.strip().casefold()
    is_id = word in ("id", "ids") or word.endswith(("_id", " id"))
    if not (is_id or word in ("", *_COUNTING_TITLES) or word.startswith("unnamed:")):
        return False
    if values.dtype.kind == "f" and not bool(np.all(values % 1 == 0)):
        return False
    return len(np.unique(values)) == len(values) if is_id else bool(np.all(np.diff(values) > 0))


def is_row_title(title: str) -> bool:
    """Say whether the name of a column says that it names the rows."""
    word = title.strip().casefold()
    return word in ("", *_ROW_TITLES) or word.endswith(("_id", " id"))


# Layout: where the table begins, what separates its cells, which line is its header.


class _Layout(NamedTuple):
    """How the records of a file become a table."""

    records: Records
    names: tuple[str, ...]
    width: int
    has_header: bool
    decimal: str = "."
    notes: tuple[str, ...] = ()


def _find_layout(path: Path, header: bool | None, delimiter: str | None) -> _Layout:
    ending = path.suffix.lower()
    if ending == ".jsonl":
        return _laid_out(lambda: _json_records(path), header=True)
    if ending in (".xlsx", ".xlsm"):
        rows, notes = _excel_records(path)
        return _laid_out(lambda: iter(rows), header=header, notes=notes)
    if ending in (".xls", ".ods", ".numbers"):
        raise InvalidInputError(f"spreadsheets are read from .xlsx; got {ending!r}. Save it so.")
    if delimiter == "\n":
        return _laid_out(lambda: _line_records(path), header=header)
    return _delimited(path, header, "\t" if ending == ".tsv" else delimiter)


def _laid_out(
    records: Records,
    *,
    header: bool | None,
    titles: Sequence[str] = (),
    quoted: bool = False,
    decimal: str = ".",
    notes: tuple[str, ...] = (),
) -> _Layout:
    """Look at the first records for the header.

    `titles` may be names, from a comment above the table; `quoted` says that the lines start in
    quotes, so that a first cell without a title above it is a name even if it is a number.
    """
    sample = list(islice((cells for _, cells in records() if cells), _SAMPLE + 1))
    if not sample:
        raise InvalidInputError("the file is empty.")
    first, below = sample[0], sample[1:]
    # A last cell that is empty in every record: the delimiter at the end of each.
    if len(first) > 1 and all(len(row) == len(first) and not row[-1] for row in sample):
        first = first[:-1]
    if not (is_header(first, below, decimal) if header is None else header):
        fits = len(titles) == len(first) and all(titles) and not any(map(is_number, titles))
        names = tuple(titles) if fits else ()
        return _Layout(records, names, len(first), False, decimal, notes)
    names = tuple(name.strip() for name in first)
    if _has_row_names(len(names), below, quoted, decimal):
        names = ("", *names)
    check_distinct(names)
    return _Layout(records, names, len(names), True, decimal, notes)


def _has_row_names(width: int, below: list[list[str]], quoted: bool, decimal: str) -> bool:
    """Recognize R's tables: every record starts with a name that the header does not count.

    A text with an unquoted comma makes a record too long as well, so the cells must be numbers, or
    the names R's own: 1, 2, 3 in quotes.
    """
    if not below or any(len(row) != width + 1 or not row[-1] for row in below):
        return False
    if quoted and [row[0] for row in below] == [str(i) for i in range(1, len(below) + 1)]:
        return True
    numbers = [is_number(cell, decimal) for row in below for cell in row[1:]]
    named = quoted or not any(is_number(row[0], decimal) for row in below)
    return named and sum(numbers) * 2 >= len(numbers)


def is_header(first: list[str], below: list[list[str]], decimal: str = ".") -> bool:
    """Say whether the first record names the columns: by text, or by numbers above other values.

    Numbers are names under a title such as "id", and where they increase by equal steps above
    fractions, as wavelengths and the 0, 1, 2 of pandas do. Where they may as well be a sample, the
    table is refused.
    """
    corner, others = first[0].strip(), first[1:]
    named = not corner or not is_no_name(corner, decimal)
    if not others:
        return bool(corner) and named
    if corner and is_row_title(corner):
        return True
    numbers = [is_number(cell, decimal) for cell in others]
    if not any(numbers):
        return named and not all(is_no_name(cell, decimal) for cell in others)
    if not all(numbers) or not below:
        return False
    counted, values = first[named:], [row[named:] for row in below]
    if not _steps(counted):
        return False
    if named and (not corner or all(is_number(row[0], decimal) for row in below if row)):
        return True  # text above numbers, or nothing above the index of pandas
    return _is_count_header(counted, values, surely=4 if named else 3)


def _is_count_header(first: list[str], below: list[list[str]], surely: int) -> bool:
    """Say whether increasing whole numbers are names, by what stands below them, or ask."""
    from_zero = first == [str(i) for i in range(len(first))]
    if not from_zero and any(map(_steps, below)):
        return False  # the samples below look alike
    even = len(_steps(first)) == 1
    fractions = all(_is_fraction(cell) for row in below for cell in row)
    if fractions and even and (len(first) >= surely or (from_zero and surely < 4)):
        return True
    if fractions or from_zero or (even and len(first) > 2):
        raise InvalidInputError(
            f"the first line reads {', '.join(first[:3])} and so on: it may count the columns or "
            "be a sample. Name the columns in a line above it, such as id, f0, f1."
        )
    return False


def _steps(cells: list[str]) -> set[int]:
    """Return by how much whole numbers increase from cell to cell; empty if they do not."""
    if len(cells) < 2 or not all(cell.strip().isdecimal() for cell in cells):
        return set()
    steps = {int(b) - int(a) for a, b in pairwise(cells)}
    return steps if min(steps) > 0 else set()


def _is_fraction(cell: str) -> bool:
    return "." in cell or "," in cell or "e" in cell.casefold() or not cell


# Text with delimiters.


class _Dialect(NamedTuple):
    delimiter: str
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL

    def reader(self, file: Iterable[str]) -> Any:
        return csv.reader(
            file,
            delimiter=self.delimiter,
            quoting=self.quoting,
            # People put a blank behind a comma; blanks around cells are dropped anyway.
            skipinitialspace=self.delimiter != "\t",
            strict=True,
        )


# In sentences commas are frequent and tabs are not: where several fit, the rarer one is meant.
_DIALECTS = (
    _Dialect("\t"),
    _Dialect("\t", csv.QUOTE_NONE),
    _Dialect("|"),
    _Dialect(";"),
    _Dialect(","),
)
_SPELLED = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "blanks", "|": "|"}


def _delimited(path: Path, header: bool | None, delimiter: str | None) -> _Layout:
    """Find delimiter, decimal mark and comments of a text table."""
    skip, announced, comment, body = _preamble(path)
    wanted = delimiter or announced
    dialects = [d for d in _DIALECTS if wanted in (None, d.delimiter)] or [_Dialect(wanted or ",")]
    samples = {dialect: _sample(path, dialect, skip) for dialect in dialects}
    fitting = {dialect: _fit(rows) for dialect, rows in samples.items() if _fit(rows)}
    if not fitting and wanted is None:
        blanks = _Dialect(" ")
        samples[blanks] = _sample(path, blanks, skip)
        fit = _fit(samples[blanks])
        fitting = {blanks: fit} if fit and fit[1] > 0.5 else {}
    dialect = max(fitting, key=lambda d: fitting[d], default=_Dialect(wanted or ","))
    rows = samples.get(dialect, [])
    decimal = _decimal(rows[1:] or rows, dialect.delimiter)
    titles: list[str] = next(dialect.reader([comment]), []) if comment else []
    usual = dialect.delimiter == "," or (path.suffix.lower() == ".tsv" and decimal == ".")
    between = f"read with {_SPELLED.get(dialect.delimiter, dialect.delimiter)} between cells"
    return _laid_out(
        lambda: _delimited_records(path, dialect, skip),
        header=header,
        titles=[title.strip() for title in titles],
        quoted=all(line.startswith('"') for line in body),
        decimal=decimal,
        notes=() if usual else (between + " and decimal commas" * (decimal == ","),),
    )


def _sample(path: Path, dialect: _Dialect, skip: int) -> list[list[str]]:
    """Return the first records that are not empty; none if this is not how they are written."""
    records = _delimited_records(path, dialect, skip)
    try:
        return list(islice((cells for _, cells in records if cells), _SAMPLE + 1))
    except InvalidInputError:
        return []  # the actual reading says in which line


def _fit(rows: list[list[str]]) -> tuple[bool, float, float]:
    """Return whether records have one width, which share of cells are numbers, how many have it.

    Empty if the records are not split.
    """
    # A delimiter at the end of a line is no cell.
    widths = [len(row) - (len(row) > 1 and not row[-1].strip()) for row in rows]
    [(width, times)] = Counter(widths).most_common(1) or [(0, 0)]
    if width < 2:
        return ()  # type: ignore[return-value]
    cells = [cell for row in rows[1:] or rows for cell in row]
    numbers = sum(is_number(cell) or is_number(cell, ",") for cell in cells)
    return times == len(widths), numbers / len(cells), times / len(widths)


def _preamble(path: Path) -> tuple[int, str | None, str, list[str]]:
    """Return lines to skip, the delimiter Excel declares, the last comment, and a few lines."""
    with open(path, encoding=text_encoding(path), newline="") as file:
        lines = list(islice(file, 10 * _SAMPLE))
    skip, announced, comment = 0, None, ""
    for number, line in enumerate(lines):
        stripped = line.strip().strip('"')
        if announced is None and stripped[:4].lower() == "sep=" and len(stripped) == 5:
            announced, skip = stripped[4:], number + 1
        # A "#" that is a cell of its own begins a header: "#,f0,f1".
        elif line.startswith("#") and line[1:2] not in (",", ";", "\t", "|"):
            comment, skip = line.lstrip("#").strip(), number + 1
        elif stripped:
            break
    return skip, announced, comment, [line for line in lines[skip:] if line.strip()][:_SAMPLE]


def _delimited_records(path: Path, dialect: _Dialect, skip: int) -> Iterator[Record]:
    """Yield the records, each with the line it ends on; one without content has no cells."""
    with open(path, encoding=text_encoding(path), newline="") as file:
        for _ in islice(file, skip):
            pass
        reader = dialect.reader(file)
        try:
            for cells in reader:
                yield skip + reader.line_num, cells if any(map(str.strip, cells)) else []
        except csv.Error as error:
            raise InvalidInputError(
                f"Line {skip + reader.line_num} is not CSV: {first_line(error)}."
            ) from error


def _line_records(path: Path) -> Iterator[Record]:
    with open(path, encoding=text_encoding(path)) as file:
        for number, line in enumerate(file, 1):
            cell = line.strip()
            quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
            yield number, [cell[1:-1].replace('""', '"') if quoted else cell] if cell else []


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """Return the decimal mark: a comma only if it is no delimiter and gives more numbers."""
    if delimiter in (",", " "):
        return "."
    counts = {m: sum(is_number(cell, m) for row in rows for cell in row) for m in (".", ",")}
    return max(counts, key=lambda mark: counts[mark])


# Other files of cells.


def _json_records(path: Path) -> Iterator[Record]:
    """Yield the keys of the first object of JSON lines, then the values of each."""
    keys: list[str] | None = None
    with open(path, encoding=text_encoding(path)) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                yield number, []
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidInputError(
                    f"Line {number} is not JSON ({first_line(error)})."
                ) from error
            if not isinstance(row, dict) or not row:
                raise InvalidInputError(
                    f'Line {number} must hold an object, as in {{"text": "...", "label": "..."}}.'
                )
            if keys is None:
                keys = list(row)
                yield number, keys
            differing = sorted(set(keys) ^ set(row))
            if differing:
                raise InvalidInputError(
                    f"Line {number} and the first one differ in the key {differing[0]!r}; give "
                    "every line the same keys, with null for a missing value."
                )
            yield number, [_json_cell(row[key], key, number) for key in keys]


def _json_cell(value: Any, key: str, number: int) -> str:
    if isinstance(value, dict | list):
        raise InvalidInputError(
            f"Line {number}: {key!r} holds {'an object' if isinstance(value, dict) else 'a list'}; "
            "only text and numbers are read."
        )
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    text = str(value)
    if text != text.encode(errors="ignore").decode():
        raise InvalidInputError(f"Line {number}: {key!r} holds half a character.")
    return text


def _excel_records(path: Path) -> tuple[list[Record], tuple[str, ...]]:
    """Return the records of the first sheet, all as wide as the widest."""
    openpyxl = require("openpyxl", extra="table", purpose="Reading an Excel workbook")
    with damaged(path, "Excel workbook"):
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheets = book.worksheets
            values = [list(row) for row in sheets[0].iter_rows(values_only=True)] if sheets else []
            titles = [str(sheet.title) for sheet in sheets]
        finally:
            book.close()
    # Numbers can be read back exactly from their text.
    rows = [["" if value is None else str(value) for value in row] for row in values]
    widths = (max((i for i, cell in enumerate(row, 1) if cell.strip()), default=0) for row in rows)
    width = max(widths, default=0)
    note = f"read the sheet {titles[0]!r}, the first of {len(titles)}" if len(titles) > 1 else ""
    padded = ([*row, *[""] * (width - len(row))][:width] for row in rows)
    records = [(n, row if any(map(str.strip, row)) else []) for n, row in enumerate(padded, 1)]
    return records, (note,) if note else ()


# From records to columns.


def _table_of(layout: _Layout, source: str, text: Collection[str | int]) -> Table:
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
    rows = _rows(layout, skipped)
    while block := list(islice(rows, _BLOCK)):
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


def _rows(layout: _Layout, skipped: list[int]) -> Iterator[Record]:
    """Yield the records below the header, all of one width, and list empty ones between them."""
    empty: list[int] = []
    above = layout.has_header
    for line, cells in layout.records():
        if not cells:
            empty.append(line)
            continue
        if above:
            above = False
            empty.clear()
            continue
        if len(cells) == layout.width + 1 and not cells[-1].strip():
            cells = cells[:-1]  # a delimiter at the end of the line
        if len(cells) != layout.width:
            raise InvalidInputError(_other_width(line, cells, layout))
        if len(layout.names) or skipped or line > len(empty) + 1:
            skipped += empty
        empty.clear()
        yield line, cells


def _other_width(line: int, cells: list[str], layout: _Layout) -> str:
    where = "the header has" if layout.has_header else "the first line has"
    more = len(cells) > layout.width and not all(map(is_no_name, cells[layout.width - 1 :]))
    hint = " Put a text that holds the delimiter in double quotes." if more else ""
    return f"Line {line} has {len(cells)} cells; {where} {layout.width}.{hint}"


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
        rows = [[_number(cell, decimal) for cell in row] for row in rows]
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


def _cells_of(layout: _Layout, columns: list[int]) -> dict[int, list[str]]:
    """Return the cells of some columns as written, from a second look at the file."""
    found: dict[int, list[str]] = {column: [] for column in columns}
    for _, cells in _rows(layout, []) if columns else ():
        for column in columns:
            found[column].append(cells[column])
    return found


def _again(layout: _Layout, column: int) -> list[str]:
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
        values = {i: column.to_numpy() for i, column in enumerate(plain) if names[i] not in listed}
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


def check_distinct(names: Sequence[str]) -> None:
    """Refuse two columns of one name; those without a name are told apart by their place."""
    twice = next((name for name, times in Counter(names).items() if name and times > 1), None)
    if twice is not None:
        raise InvalidInputError(f"two columns are called {twice!r}; rename one of them.")


def _listed(titles: Sequence[str]) -> str:
    more = f" and {len(titles) - 5} more" if len(titles) > 5 else ""
    return ("column " if len(titles) == 1 else "columns ") + ", ".join(titles[:5]) + more
