"""Class tables in other forms: files, frames, and the tables that notebooks show.

CSV is for people, npz for exact and quick storage; nothing is pickled.
"""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import PathLike, first_line, guarded_cell, replacing, unguarded_cell
from zslearn._optional import require
from zslearn._tables import Table, check_spelled_once, is_missing, read_table
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.signatures.phrases import Phrases

FloatArray = NDArray[np.float64]
#: Names, vectors, dimensions (None without a header) and notes.
Classes = tuple[list[Any], FloatArray, list[str] | None, tuple[str, ...]]
# Rows and columns that a notebook shows.
_SHOWN = 6


def read_classes(source: Any, *, int_names: bool = False) -> Classes:
    """Return names, vectors, dimensions, and notes on how a class table was read.

    The names of the classes are the index of the table, or else its first column.
    """
    table = read_table(source, text=[0])
    names, columns = _class_names(table)
    if not columns:
        raise table.refusal(
            "a class table needs the names of the classes and at least one dimension, as in "
            "'class,stripes,swims'."
        )
    table = table.with_truths(columns)
    vectors = table.numbers(columns)
    notes = list(table.notes)
    if table.skipped:
        lines = f"line {table.skipped[0]} is" if len(table.skipped) == 1 else "empty lines are"
        notes.append(f"{lines} {'empty and ' * (len(table.skipped) == 1)}left out")
    if not table.names:
        _check_is_class(table, vectors[0])
        notes.append("it has no header, so the dimensions are called d0 and so on")
    dimensions = [table.names[column] for column in columns] if table.names else None
    if table.lines is not None:  # text, as `write_csv` guards it
        names = list(map(unguarded_cell, names))
        dimensions = None if dimensions is None else list(map(unguarded_cell, dimensions))
    return list(map(_integer, names)) if int_names else names, vectors, dimensions, tuple(notes)


def _class_names(table: Table) -> tuple[list[Any], list[int]]:
    """Return the names of the classes and the columns that are left."""
    columns = list(range(len(table.columns)))
    counts = table.index is not None and all(
        str(name).isdecimal() and int(name) == row for row, name in enumerate(table.index, 0)
    )
    if table.index is not None and not (counts and columns and table.is_text(0)):
        names = table.index
    else:
        names = table.texts(0) if table.lines is not None else table.take(0).tolist()
        del columns[0]
    for row, name in enumerate(names):
        if name == "" or is_missing(name):
            raise table.refusal(f"{table.place(row)} has no class name.")
    if all(isinstance(name, str) for name in names):
        check_spelled_once(names)
    return names, columns


def _check_is_class(table: Table, first: FloatArray) -> None:
    """Refuse a first line of increasing whole numbers: names of dimensions, or a class."""
    if len(first) > 1 and np.all(first % 1 == 0) and np.all(np.diff(first) > 0):
        raise table.refusal(
            "the first line may name the dimensions or be a class. Put a line above it that names "
            "them, as in 'class,stripes,swims'."
        )


def write_csv(
    path: PathLike, names: Sequence[object], vectors: FloatArray, dimensions: Sequence[str]
) -> None:
    """Write a header and one line per class, which is read back exactly.

    No name is run as a formula by a spreadsheet; reading takes the quote before it off again.
    """
    check_spelled_once(names)
    for name in (*names, *dimensions):
        if str(name) != str(name).strip() or not str(name):
            raise InvalidInputError(
                f"{name!r} is empty or has blanks around it, which a CSV file does not bring back. "
                "Rename it, or use to_npz."
            )
    # Before Python 3.13 the writer leaves a lone carriage return unquoted.
    odd = any("\r" in str(text) for text in (*names, *dimensions))
    with replacing(path) as file:
        writer = csv.writer(
            _TextLines(file),
            lineterminator="\n",
            quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL,
        )
        writer.writerow(["class", *map(guarded_cell, dimensions)])
        rows = zip(map(guarded_cell, names), vectors, strict=True)
        writer.writerows([name, *row.tolist()] for name, row in rows)


def read_npz(
    path: PathLike,
) -> tuple[NDArray[Any], NDArray[Any], list[str] | None, dict[str, Any]]:
    """Return names, vectors, dimensions, and what else there is: blocks, encoder and texts."""
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise InvalidInputError("This is not an .npz archive. Write one with to_npz.")
        file.seek(0)
        arrays = _plain_arrays(file)
    missing = [key for key in ("names", "vectors") if key not in arrays]
    if missing:
        raise InvalidInputError(
            f"The archive lacks {' and '.join(missing)}; it holds {', '.join(arrays) or 'nothing'}."
        )
    dimensions = arrays["dimensions"].tolist() if "dimensions" in arrays else None
    parts = {"blocks": _blocks(arrays), **_wording(arrays)}
    return arrays["names"], arrays["vectors"], dimensions, parts


def wording_of(
    encoder: Mapping[str, Any] | None,
    texts: Mapping[Any, Sequence[str]],
    phrases: Mapping[Any, Phrases],
) -> dict[str, Any]:
    """Return which encoder made a table, from which texts, and what can be left out of them."""
    if encoder is None and not texts and not phrases:
        return {}
    named = {
        "encoder": None if encoder is None else dict(encoder),
        "texts": [[name, list(given)] for name, given in texts.items()],
        "phrases": [[name, list(told.words)] for name, told in phrases.items()],
    }
    found: dict[str, Any] = {"wording": np.array(json.dumps(named))}
    if phrases:
        found["phrase_vectors"] = np.concatenate([told.vectors for told in phrases.values()])
    return found


def _wording(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Read what `wording_of` wrote."""
    if "wording" not in arrays:
        return {}
    try:
        stored = json.loads(str(arrays["wording"]))
        phrases = phrases_in(stored.get("phrases", ()), arrays.get("phrase_vectors"))
        parts = {"encoder": stored["encoder"], "texts": dict(stored["texts"])}
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise InvalidInputError(f"The archive is damaged ({first_line(error)}).") from error
    return parts | {"phrases": phrases}


def phrases_in(
    named: Sequence[Sequence[Any]], vectors: NDArray[np.float32] | None
) -> dict[Any, Phrases]:
    """Return the phrases of classes from a list of names and words, and the vectors of all.

    Parameters
    ----------
    named : sequence of (label, sequence of str)
        Classes and their phrases.
    vectors : ndarray of shape (n_phrases, n_dimensions) or None
        One after the other; None where there are no phrases.

    Returns
    -------
    dict of label to Phrases
    """
    sizes = [len(words) for _, words in named]
    if vectors is None or np.ndim(vectors) != 2 or len(vectors) != sum(sizes):
        if not sizes:
            return {}
        raise InvalidInputError("the phrases of the classes do not fit their vectors.")
    parts = np.split(vectors, np.cumsum(sizes)[:-1]) if sizes else []
    return {
        name: Phrases(tuple(words), part) for (name, words), part in zip(named, parts, strict=True)
    }


def write_npz(
    path: PathLike,
    names: NDArray[Any],
    vectors: FloatArray,
    dimensions: Sequence[str],
    blocks: Mapping[str, slice],
    **wording: Any,
) -> None:
    """Write plain arrays only, so that reading needs no pickle."""
    with replacing(path) as file:
        np.savez(
            file,
            **wording,
            names=names,
            vectors=vectors,
            dimensions=np.array(dimensions),
            block_names=np.array(list(blocks)),
            block_stops=np.array([block.stop for block in blocks.values()]),
        )


class _TextLines:
    """The `write` that csv.writer needs, on a binary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, line: str) -> int:
        return self._file.write(line.encode())


def _integer(cell: str) -> int:
    try:
        return int(cell)
    except ValueError as error:
        raise InvalidInputError(
            f"The class name {cell!r} is not an integer. Leave out int_names."
        ) from error


def _plain_arrays(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Load every array of an archive, refusing Python objects."""
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except ValueError as error:
        raise InvalidInputError(
            f"The archive holds something other than plain arrays, and pickled objects are never "
            f"loaded ({first_line(error)}). Write it with to_npz."
        ) from error
    except Exception as error:
        raise InvalidInputError(f"The archive is damaged ({first_line(error)}).") from error
    for key, array in arrays.items():
        if not isinstance(array, np.ndarray):  # numpy gives the bytes of what is no array
            raise InvalidInputError(f"{key} is not an array.")
    return arrays


def _blocks(arrays: Mapping[str, NDArray[Any]]) -> dict[str, slice] | None:
    """Return the blocks recorded in an archive, if any."""
    if "block_names" not in arrays or "block_stops" not in arrays:
        return None
    names, stops = arrays["block_names"].tolist(), arrays["block_stops"].tolist()
    return {name: slice(*ends) for name, *ends in zip(names, [0, *stops], stops, strict=False)}


def read_frame(frame: Any) -> tuple[list[Any], NDArray[Any], list[str]]:
    """Return names, vectors and dimensions of a frame whose index names the classes."""
    if not all(hasattr(frame, part) for part in ("index", "columns", "to_numpy")):
        raise InvalidTypeError(
            f"from_frame takes a pandas DataFrame; got {type(frame).__name__}. "
            "Use Signatures(names, vectors) for arrays or from_dict for a dict."
        )
    return frame.index.tolist(), frame.to_numpy(), [str(column) for column in frame.columns]


def read_if_frame(table: Any, make: Callable[[Any], Any]) -> Any:
    """Return what `make` gives of a frame; anything else as it is."""
    return make(table) if hasattr(table, "columns") else table


def make_frame(names: NDArray[Any], vectors: NDArray[np.float64], dimensions: Sequence[str]) -> Any:
    """Return a frame with the classes as its index."""
    pandas = require("pandas", extra="table", purpose="A data frame")
    index = pandas.Index(names.tolist(), name="class")
    return pandas.DataFrame(vectors.copy(), index=index, columns=list(dimensions))


def make_html(
    title: str, names: NDArray[Any], vectors: NDArray[np.float64], dimensions: Sequence[str]
) -> str:
    """Return the first classes and dimensions as an HTML table under a title."""
    wide, long = len(dimensions) > _SHOWN, len(names) > _SHOWN
    head = ["", *dimensions[:_SHOWN], *["…"] * wide]
    rows = [
        [str(name), *(f"{value:.4g}" for value in row[:_SHOWN]), *["…"] * wide]
        for name, row in zip(names[:_SHOWN], vectors, strict=False)
    ]
    rows += [["…"] * len(head)] * long
    return make_html_table(title, head, rows)


def make_html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table under a title."""
    lines = [_line("th", head), *(_line("td", row) for row in rows)]
    return f"<p>{escape(title)}</p><table>{''.join(lines)}</table>"


def _line(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
