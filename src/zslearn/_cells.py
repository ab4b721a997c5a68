"""Files of cells as records: what separates the cells, where the table begins, what its header is.

Text with delimiters, JSON lines and Excel sheets come out as lines of text cells. The delimiter is
the one that gives records of one width; the header is told from the first sample by what stands
below it. Where that cannot be told for sure, the file is refused in one line.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from zslearn._files import damaged, first_line, text_encoding
from zslearn._optional import require
from zslearn.exceptions import InvalidInputError

Record = tuple[int, list[str]]
Records = Callable[[], Iterator[Record]]

_SAMPLE = 20
#: What stands where a number is missing: such a cell is neither a name nor a title.
_MISSING = frozenset(["", "-", "--", "?", ".", "n/a", "na", "#n/a", "nan", "null", "none", "nil"])
MINUSES = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d", "-"))
#: Titles of a column that names the rows, in letters without capitals.
_ROW_TITLES = frozenset(
    "# id ids idx index key name names nr no number row sample samples file filename image images "
    "picture photo path class classes label labels category species text spectrum wavelength "
    "object item animal".split()
)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Say whether a cell holds a number; Python's 1_000 and a second mark do not count."""
    try:
        number_of(cell, decimal)
    except ValueError:
        return False
    return True


def number_of(cell: str, decimal: str) -> float:
    """Return the number in a cell, or raise ValueError."""
    if "_" in cell or (decimal == "," and "." in cell):
        raise ValueError(cell)
    return float(cell.replace(",", ".") if decimal == "," else cell)


def is_no_name(cell: str, decimal: str = ".") -> bool:
    """Say whether a cell is a number, or stands where one is missing or misspelled."""
    return cell.strip().casefold() in _MISSING or is_number(cell.translate(MINUSES), decimal)


def is_row_title(title: str) -> bool:
    """Say whether the name of a column says that it names the rows."""
    word = title.strip().casefold()
    return word in ("", *_ROW_TITLES) or word.endswith(("_id", " id"))


def check_distinct(names: Sequence[str]) -> None:
    """Refuse two columns of one name; those without a name are told apart by their place."""
    twice = next((name for name, times in Counter(names).items() if name and times > 1), None)
    if twice is not None:
        raise InvalidInputError(f"two columns are called {twice!r}; rename one of them.")


# Layout: where the table begins, what separates its cells, which line is its header.


class Layout(NamedTuple):
    """How the records of a file become a table."""

    records: Records
    names: tuple[str, ...]
    width: int
    has_header: bool
    decimal: str = "."
    notes: tuple[str, ...] = ()

    def rows(self, skipped: list[int]) -> Iterator[Record]:
        """Yield the records below the header, all of one width; list empty ones between them."""
        empty: list[int] = []
        above, begun = self.has_header, False
        for line, cells in self.records():
            if not cells:
                empty.append(line)
                continue
            if not begun:
                begun = True
                empty.clear()
            if above:
                above = False
                continue
            if len(cells) == self.width + 1 and not cells[-1].strip():
                cells = cells[:-1]  # a delimiter at the end of the line
            if len(cells) != self.width:
                raise InvalidInputError(self._other_width(line, cells))
            skipped += empty
            empty.clear()
            yield line, cells

    def _other_width(self, line: int, cells: list[str]) -> str:
        where = "the header has" if self.has_header else "the first line has"
        more = len(cells) > self.width and not all(map(is_no_name, cells[self.width - 1 :]))
        hint = " Put a text that holds the delimiter in double quotes." if more else ""
        return f"Line {line} has {len(cells)} cells; {where} {self.width}.{hint}"


def find_layout(path: Path, header: bool | None, delimiter: str | None) -> Layout:
    """Find out how a file is to be read; what is given is not looked for."""
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
) -> Layout:
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
        first, below = first[:-1], [row[:-1] for row in below]
    if not (is_header(first, below, decimal) if header is None else header):
        fits = len(titles) == len(first) and all(titles) and not any(map(is_number, titles))
        names = tuple(titles) if fits else ()
        return Layout(records, names, len(first), False, decimal, notes)
    names = tuple(name.strip() for name in first)
    if _has_row_names(len(names), below, quoted, decimal):
        names = ("", *names)
    check_distinct(names)
    return Layout(records, names, len(names), True, decimal, notes)


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
    corner = first[0].strip()
    if corner and is_row_title(corner):
        return True
    numeric = [c for c in range(len(first)) if below and _is_numeric(below, c, decimal)]
    if not numeric:  # a table of text, or a single line
        others = [cell for cell in first[1:] if not is_no_name(cell, decimal)]
        plain = not any(is_number(cell, decimal) for cell in first)
        return plain and bool(others if len(first) > 1 else corner)
    above = [first[c].strip() for c in numeric if c or corner]
    titles = [cell for cell in above if not is_no_name(cell, decimal)]
    if 2 * len(titles) > len(above) or (not corner and (titles or not above)):
        return True  # text above numbers, or nothing above the index of pandas
    numbers = above[len(titles) :] if titles == above[:1] else above
    if not all(is_number(cell, decimal) for cell in numbers) or not _steps(numbers):
        return False
    if titles or not corner:
        return True
    values = [[row[c] for c in numeric] for row in below if len(row) == len(first)]
    surely = 4 if len(numeric) < len(first) else 3  # columns; a sample may have a name beside them
    return bool(values) and _is_count_header(numbers, values, surely)


def _is_numeric(rows: list[list[str]], column: int, decimal: str) -> bool:
    """Say whether a column holds numbers, in the rows that have it."""
    cells = [row[column] for row in rows if column < len(row)]
    return bool(cells) and all(is_number(cell, decimal) for cell in cells)


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


def _delimited(path: Path, header: bool | None, delimiter: str | None) -> Layout:
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
    rows = [row[:-1] if len(row) > 1 and not row[-1].strip() else row for row in rows]
    widths = [len(row) for row in rows]
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
            if "field limit" in str(error):
                raise InvalidInputError(
                    f"Line {skip + reader.line_num} has a cell of more than "
                    f"{csv.field_size_limit():,} letters. Shorten it, or close a quote left open."
                ) from error
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


_OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # old workbooks, and the envelope of encrypted ones


def _excel_records(path: Path) -> tuple[list[Record], tuple[str, ...]]:
    """Return the records of the first sheet, all as wide as the widest."""
    openpyxl = require("openpyxl", extra="table", purpose="Reading an Excel workbook")
    with open(path, "rb") as file:
        if file.read(8) == _OLE:
            raise InvalidInputError(
                "this is a workbook of Excel 97, or one with a password; save it as .xlsx without."
            )
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
