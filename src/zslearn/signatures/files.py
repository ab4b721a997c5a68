"""Class tables as files: CSV for people, npz for exact and quick storage; never pickled."""

from __future__ import annotations

import csv
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import PathLike, first_line, replacing
from zslearn.exceptions import InvalidInputError
from zslearn.signatures.cells import CellTable
from zslearn.signatures.delimited import open_delimited

FloatArray = NDArray[np.float64]
# What numpy raises, depending on where a file is cut or damaged.
ARRAY_DAMAGE = (
    ValueError,
    TypeError,
    SyntaxError,
    LookupError,
    OSError,
    EOFError,
    MemoryError,
    OverflowError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_csv(path: PathLike, *, int_names: bool) -> tuple[list[Any], FloatArray, list[str]]:
    """Return names, vectors and dimensions."""
    return read_cells(open_delimited(path, header=True), int_names=int_names)


def read_cells(
    table: CellTable, *, int_names: bool = False
) -> tuple[list[Any], FloatArray, list[str]]:
    """Return names, vectors and dimensions of a table with a header and its names first."""
    header = list(table.names)
    if len(header) < 2:
        raise InvalidInputError(
            "The first line must name the dimensions, as in 'class,stripes,swims'; "
            f"got {','.join(header)!r}."
        )
    if not any(map(_is_title, header[1:])):
        raise InvalidInputError(
            "The first line holds numbers; put a line above it that names the dimensions, as "
            "in 'class,stripes,swims'."
        )
    vectors, (names,) = table.split(range(1, len(header)), [0])
    if not names:
        raise InvalidInputError("The table is empty: there is a header but no class below it.")
    return list(map(_integer, names)) if int_names else names, vectors, header[1:]


def write_csv(
    path: PathLike, names: Sequence[object], vectors: FloatArray, dimensions: Sequence[str]
) -> None:
    """Write a header and one line per class; Python's repr of a float is read back exactly."""
    # Before Python 3.13 the writer leaves a lone carriage return unquoted.
    odd = any("\r" in str(text) for text in (*names, *dimensions))
    with replacing(path) as file:
        writer = csv.writer(
            _TextLines(file),
            lineterminator="\n",
            quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL,
        )
        writer.writerow(["class", *dimensions])
        writer.writerows([name, *row.tolist()] for name, row in zip(names, vectors, strict=True))


def read_npz(
    path: PathLike,
) -> tuple[NDArray[Any], NDArray[Any], list[str] | None, dict[str, slice] | None]:
    """Return names, vectors, dimensions and blocks."""
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
    return arrays["names"], arrays["vectors"], dimensions, _blocks(arrays)


def write_npz(
    path: PathLike,
    names: NDArray[Any],
    vectors: FloatArray,
    dimensions: Sequence[str],
    blocks: Mapping[str, slice],
) -> None:
    """Write plain arrays only, so that reading needs no pickle."""
    with replacing(path) as file:
        np.savez(
            file,
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


def _is_title(cell: str) -> bool:
    """Dimensions may be numbered 0, 1, 2; a fraction is a value."""
    try:
        return float(cell).is_integer()
    except ValueError:
        return True


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
            return {key: archive[key] for key in archive.files}
    except ValueError as error:
        raise InvalidInputError(
            f"The archive holds something other than plain arrays, and pickled objects are never "
            f"loaded ({first_line(error)}). Write it with to_npz."
        ) from error
    except ARRAY_DAMAGE as error:
        raise InvalidInputError(f"The archive is damaged ({first_line(error)}).") from error


def _blocks(arrays: Mapping[str, NDArray[Any]]) -> dict[str, slice] | None:
    """Return the blocks recorded in an archive, if any."""
    if "block_names" not in arrays or "block_stops" not in arrays:
        return None
    names, stops = arrays["block_names"].tolist(), arrays["block_stops"].tolist()
    return {name: slice(*ends) for name, *ends in zip(names, [0, *stops], stops, strict=False)}
