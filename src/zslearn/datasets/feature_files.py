"""Feature matrices in the files people have: .npy, .npz, CSV and Parquet."""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.exceptions import InvalidInputError, MissingFileError

ENDINGS = (".npy", ".npz", ".csv", ".parquet")


@dataclass(frozen=True)
class FeatureTable:
    """The numbers of a file.

    A table also has names of its columns of numbers, its first column of text and a column of
    labels.
    """

    X: NDArray[Any]
    ids: list[str] | None = None
    labels: NDArray[Any] | None = None
    columns: tuple[str, ...] = ()


def load_features(
    path: str | os.PathLike[str], *, ignore: Collection[str] = (), mmap: bool = False
) -> NDArray[Any]:
    r"""Load a feature matrix, for example to predict from.

    Parameters
    ----------
    path : path-like
        - ``.npy``: an array of shape (n_samples, n_features).
        - ``.npz``: the same under the name ``X``, or as the only array.
        - ``.csv``: one sample a line, with or without a header line; a first column that holds
          text, or has no name in the header, is taken for identifiers and left out.
        - ``.parquet``: the same as a table (needs ``pip install 'zslearn[table]'``).
    ignore : collection of str, default=()
        Columns of a table that are no features, for example its labels.
    mmap : bool, default=False
        Map a ``.npy`` file instead of reading it.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The features; integers and floats keep their type.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InvalidInputError
        If the file is of another kind, is damaged, or holds a cell that is no number.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from zslearn.datasets import load_features
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "new.csv")
    ...     _ = path.write_text("file,f0,f1\na.jpg,1,2\nb.jpg,3,4\n")
    ...     load_features(path)
    array([[1., 2.],
           [3., 4.]])
    """
    return read_feature_table(Path(path), ignore=ignore, mmap=mmap).X


def read_feature_table(
    path: Path, *, label: str | None = None, ignore: Collection[str] = (), mmap: bool = False
) -> FeatureTable:
    """Read a file of features; `label` is the column of a table that holds the classes."""
    if not path.is_file():
        raise MissingFileError(f"There is no file {str(path)!r}; check the path.")
    ending = path.suffix.lower()
    if ending in (".npy", ".npz"):
        return FeatureTable(_checked_matrix(read_array(path, "X", mmap=mmap), path))
    if ending == ".csv":
        return _read_csv(path, label, ignore)
    if ending == ".parquet":
        return _read_parquet(path, label, ignore)
    raise InvalidInputError(
        f"{path}: features are read from {', '.join(ENDINGS)}; got {ending or 'no ending'!r}."
    )


def table_columns(path: Path) -> list[str]:
    """Return the column names of a table; none for an array or a CSV file without a header."""
    if path.suffix.lower() == ".parquet":
        return list(_parquet(path, "read_schema").names)
    return _header(path)[0] if path.suffix.lower() == ".csv" else []


def read_parquet(path: Path) -> Any:
    """Read a Parquet file as a table of pyarrow."""
    return _parquet(path, "read_table")


def read_array(path: Path, name: str, *, mmap: bool = False) -> NDArray[Any]:
    """Read a ``.npy`` file, or the array `name`, or the only one, of an ``.npz`` file."""
    try:
        if mmap and path.suffix.lower() == ".npy":
            mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
            return mapped
        # numpy leaves a file open that it opened itself and found damaged.
        with path.open("rb") as file:
            return _only_array(np.load(file, allow_pickle=False), name, path)
    except InvalidInputError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidInputError(
            f"{path} cannot be read as plain arrays ({error}); pickled objects are never loaded."
        ) from error


def _only_array(stored: Any, name: str, path: Path) -> NDArray[Any]:
    """Return the array, or from an archive the one called `name` or the only one."""
    if isinstance(stored, np.ndarray):
        return stored
    if name not in stored.files and len(stored.files) != 1:
        raise InvalidInputError(
            f"{path} must hold an array {name!r} or one array only; it holds "
            f"{', '.join(stored.files) or 'none'}."
        )
    array: NDArray[Any] = stored[name if name in stored.files else stored.files[0]]
    return array


def _checked_matrix(X: NDArray[Any], path: Path) -> NDArray[Any]:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(
            f"{path}: features must be numbers of shape (n_samples, n_features); got type "
            f"{X.dtype} of shape {X.shape}."
        )
    return X


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _header(path: Path) -> tuple[list[str], list[str]]:
    """Return the column names, empty without a header, and the first line of data."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [cells for cells, _ in zip(csv.reader(file), range(2), strict=False)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{path} is not a CSV file in UTF-8 ({error}).") from error
    if not lines:
        raise InvalidInputError(f"{path} is empty.")
    if not _is_header(lines[0]):
        return [], lines[0]
    if len(lines) < 2:
        raise InvalidInputError(f"{path} has a header and no line below it.")
    return lines[0], lines[1]


def _is_header(cells: list[str]) -> bool:
    """Only a header has text in a column after the first; a single column may be a header too.

    pandas numbers the columns of an array, and leaves its index, if it writes it, without a name.
    """
    titles = cells[1:] if cells[0] == "" else cells
    counted = len(titles) > 1 and titles == [str(i) for i in range(len(titles))]
    return counted or not any(map(_is_number, cells[1:] or cells))


def _load_csv(path: Path, columns: list[int], skip: int, dtype: type) -> NDArray[Any]:
    try:
        return np.loadtxt(
            path,
            dtype=dtype,
            delimiter=",",
            quotechar='"',
            comments=None,
            skiprows=skip,
            usecols=columns,
            ndmin=2,
            encoding="utf-8-sig",
        )
    except ValueError as error:
        raise InvalidInputError(f"{path}: {_first_fault(path, columns, skip) or error}") from error


def _first_fault(path: Path, columns: list[int], skip: int) -> str | None:
    """Find the first cell that is no number, and tell it as an editor counts lines."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, []) if skip else []
        for cells in filter(None, reader):
            line = f"line {reader.line_num}"
            if len(cells) <= max(columns):
                return f"{line} has {len(cells)} cells; {max(columns) + 1} are needed."
            wrong = [column for column in columns if not _is_number(cells[column])]
            if wrong:
                name = repr(header[wrong[0]]) if header else wrong[0] + 1
                return (
                    f"{line}, column {name}: {cells[wrong[0]]!r} is not a number. Correct it, or "
                    "leave out the column if it is no feature."
                )
    return None


def _read_csv(path: Path, label: str | None, ignore: Collection[str]) -> FeatureTable:
    names, first = _header(path)
    left_out = {names.index(name) for name in _known([*ignore, label], names, path)}
    skip = 1 if names else 0
    ids = None
    # The index of a pandas table has no name; it counts rows and would be learned from.
    unnamed = len(names) > 1 and names[0] == ""
    if 0 not in left_out and (unnamed or not _is_number(first[0])):
        ids = _load_csv(path, [0], skip, str)[:, 0].tolist()
        left_out.add(0)
    numeric = [column for column in range(len(first)) if column not in left_out]
    if not numeric:
        raise InvalidInputError(f"{path} has no column of features.")
    labels = None if label is None else _load_csv(path, [names.index(label)], skip, str)[:, 0]
    columns = tuple(names[column] for column in numeric) if names else ()
    return FeatureTable(_load_csv(path, numeric, skip, float), ids, labels, columns)


def _known(wanted: list[str | None], names: list[str], path: Path) -> list[str]:
    """Return the wanted columns, refusing those that are not there."""
    columns = [name for name in wanted if name is not None]
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise InvalidInputError(
            f"{path} has no column {unknown[0]!r}; its columns are "
            f"{', '.join(names[:8]) or 'not named'}{', ...' if len(names) > 8 else ''}."
        )
    return columns


def _parquet(path: Path, reader: str) -> Any:
    """Read a Parquet file by a function of pyarrow, refusing what is none."""
    parquet = require("pyarrow.parquet", extra="table", purpose="Reading Parquet")
    try:
        return getattr(parquet, reader)(path)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{path} is not a readable Parquet file ({error}).") from error


def _read_parquet(path: Path, label: str | None, ignore: Collection[str]) -> FeatureTable:
    table = read_parquet(path)
    names = table.column_names
    left_out = set(_known([*ignore, label], names, path))
    columns = {name: table[name].to_numpy() for name in names if name not in left_out}
    ids = None
    if columns and next(iter(columns.values())).dtype.kind not in "fiub":
        ids = [str(value) for value in columns.pop(next(iter(columns)))]
    text = [name for name, values in columns.items() if values.dtype.kind not in "fiub"]
    if text or not columns:
        raise InvalidInputError(
            f"{path}: column {text[0]!r} holds no numbers. Name it as labels or ignore it."
            if text
            else f"{path} has no column of features."
        )
    labels = None if label is None else np.asarray(table[label].to_pylist())
    return FeatureTable(np.column_stack(list(columns.values())), ids, labels, tuple(columns))
