"""Tables with typed columns: Parquet files and pandas frames, whose index names the samples."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line
from zslearn._optional import require
from zslearn.exceptions import InvalidInputError


@dataclass(frozen=True)
class ColumnTable:
    """Columns by their names, and the names of the rows, if the table has an index.

    Attributes
    ----------
    columns : mapping of str to ndarray of shape (n_rows,)
        The values; those that are not numbers as objects.
    index : list of str or None
        Names of the rows; None where they are only counted.
    """

    columns: Mapping[str, NDArray[Any]]
    index: list[Any] | None = None

    def matrix(self, names: Collection[str]) -> NDArray[Any]:
        """Return some columns side by side, refusing one that does not hold numbers."""
        for name in names:
            if self.columns[name].dtype.kind not in "fiub":
                raise InvalidInputError(
                    f"column {name!r} does not hold numbers. Name it as labels or ignore it."
                )
        return np.column_stack([self.columns[name] for name in names])


def is_frame(value: object) -> bool:
    """Say whether a value is a pandas DataFrame, without importing pandas."""
    return all(hasattr(value, part) for part in ("index", "columns", "to_numpy"))


def frame_table(frame: Any) -> ColumnTable:
    """Return a pandas frame as a table; an index that only counts the rows gives no names."""
    names = [str(name) for name in frame.columns]
    _check_distinct(names)
    columns = {name: frame.iloc[:, i].to_numpy() for i, name in enumerate(names)}
    return ColumnTable(columns, sample_names(frame))


def sample_names(features: Any) -> list[Any] | None:
    """Return the index of a pandas frame; None where it only counts, or there is no frame."""
    if not is_frame(features) or type(features.index).__name__ == "RangeIndex":
        return None
    names: list[Any] = features.index.tolist()
    return names


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file, the index among them."""
    schema = _read(path, "read_schema")
    return [str(name) for name in schema.names]


def parquet_table(path: Path) -> ColumnTable:
    """Read a Parquet file; the columns that pandas wrote its index to name the rows."""
    table = _read(path, "read_table")
    names = [str(name) for name in table.column_names]
    _check_distinct(names)
    index = [name for name in _index_columns(table.schema.metadata) if name in names]
    try:
        values = {name: table[name].to_numpy() for name in names if name not in index}
        rows = [table[name].to_pylist() for name in index]
    except _damage() as error:
        raise _unreadable(error) from error
    if len(rows) > 1:
        return ColumnTable(values, [" ".join(map(str, row)) for row in zip(*rows, strict=True)])
    return ColumnTable(values, rows[0] if rows else None)


def _read(path: Path, reader: str) -> Any:
    """Read a Parquet file with a function of pyarrow, refusing other files."""
    parquet = require("pyarrow.parquet", extra="table", purpose="Reading Parquet")
    try:
        return getattr(parquet, reader)(path)
    except _damage() as error:
        raise _unreadable(error) from error


def _damage() -> tuple[type[BaseException], ...]:
    """Return what pyarrow raises, depending on where a file is cut or damaged."""
    pyarrow = require("pyarrow", extra="table", purpose="Reading Parquet")
    return (pyarrow.ArrowException, OSError, ValueError, TypeError, LookupError, OverflowError)


def _unreadable(error: BaseException) -> InvalidInputError:
    return InvalidInputError(f"this is not a readable Parquet file ({first_line(error)}).")


def _index_columns(metadata: Mapping[bytes, bytes] | None) -> list[str]:
    """Return the columns in which pandas stored an index that does more than count."""
    try:
        described = json.loads((metadata or {}).get(b"pandas", b"{}"))
        listed = described.get("index_columns", [])
        return [name for name in listed if isinstance(name, str)]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []


def _check_distinct(names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"two columns are called {twice!r}; rename one of them.")
