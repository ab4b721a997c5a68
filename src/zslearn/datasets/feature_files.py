"""Feature matrices in the files people have: .npy, .npz, CSV, Parquet and Excel."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import check_is_file, first_line, naming
from zslearn.datasets.column_tables import ColumnTable, frame_table, parquet_names, parquet_table
from zslearn.encoders.pictures import IMAGE_SUFFIXES
from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.signatures.cells import CellTable
from zslearn.signatures.delimited import open_delimited
from zslearn.signatures.excel import open_excel
from zslearn.signatures.files import ARRAY_DAMAGE

ENDINGS = (".npy", ".npz", ".csv", ".parquet", ".xlsx")


@dataclass(frozen=True)
class FeatureTable:
    """The numbers of a file, and for a table also the names of its rows and columns.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    ids : list of str or None
        Names of the samples: the first column if it holds text, or the index.
    columns : tuple of str
        Names of the features; empty where the file has none.
    taken : mapping of str to ndarray of shape (n_samples,)
        Columns that were asked for by name, such as labels.
    notes : tuple of str
        How the file was read, where that had to be detected.
    """

    X: NDArray[Any]
    ids: list[str] | None = None
    columns: tuple[str, ...] = ()
    taken: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def load_features(
    path: str | os.PathLike[str], *, ignore: Collection[str] = (), mmap: bool = False
) -> NDArray[Any]:
    r"""Load a feature matrix, for example to predict from.

    Parameters
    ----------
    path : path-like
        - ``.npy``: an array of shape (n_samples, n_features).
        - ``.npz``: the same under the name ``X``, or as the only array.
        - ``.csv``: one sample per line, with or without a header line; a first column that holds
          text, or has no name in the header, is treated as identifiers and left out. Semicolons,
          tabs and blanks between the cells, decimal commas, comments above the table, R's row
          names and delimiters at the end of the lines are detected.
        - ``.parquet``: the same as a table; the index of pandas is treated as identifiers.
        - ``.xlsx``: the same in the first sheet (both need ``pip install 'zslearn[table]'``).
    ignore : collection of str, default=()
        Columns of a table that are not features, for example its labels.
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
        If the file is of another kind or damaged, or has a cell that is not a number or a line with
        more or fewer cells than the others.

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
    return read_feature_table(path, ignore=ignore, mmap=mmap).X


def read_feature_table(
    source: Any, *, take: Collection[str] = (), ignore: Collection[str] = (), mmap: bool = False
) -> FeatureTable:
    """Read a file of features or a pandas frame; the columns `take` are kept apart."""
    if not isinstance(source, str | os.PathLike):
        return _of_columns(frame_table(source), take, ignore)
    path = Path(source)
    _check_is_features(path)
    ending = path.suffix.lower()
    if ending in (".npy", ".npz"):
        X = read_array(path, "X", mmap=mmap)
        with naming(path):
            return FeatureTable(_checked_matrix(X))
    with naming(path):
        if ending == ".parquet":
            return _of_columns(parquet_table(path), take, ignore)
        return _of_cells(_cells(path), take, ignore)


def table_columns(source: Any) -> list[str]:
    """Return the column names of a table; none for an array or a CSV file without a header."""
    if not isinstance(source, str | os.PathLike):
        return list(frame_table(source).columns)
    path = Path(source)
    ending = path.suffix.lower()
    if ending in (".npy", ".npz"):
        return []
    _check_is_features(path)
    with naming(path):
        return parquet_names(path) if ending == ".parquet" else list(_cells(path).names)


def spelled_columns(names: Sequence[str], wanted: str | None = None) -> str:
    """Spell the first columns of a table for a message, and the one nearest to a wanted name."""
    hint = "" if wanted is None else did_you_mean(wanted, names)
    more = ", ..." if len(names) > 8 else ""
    return f"{', '.join(map(str, names[:8])) or 'not named'}{more}.{hint}"


def read_array(path: Path, name: str, *, mmap: bool = False) -> NDArray[Any]:
    """Read a ``.npy`` file, or the array `name`, or the only one, of an ``.npz`` file."""
    check_is_file(path)
    with naming(path):
        try:
            if mmap and path.suffix.lower() == ".npy":
                mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
                return mapped
            # numpy leaves a file open that it opened itself and found damaged.
            with path.open("rb") as file:
                return _only_array(np.load(file, allow_pickle=False), name)
        except InvalidInputError:
            raise
        except ARRAY_DAMAGE as error:
            raise InvalidInputError(
                f"the file cannot be read as plain arrays ({first_line(error)}); pickled objects "
                "are never loaded."
            ) from error


def _check_is_features(path: Path) -> None:
    """Refuse what is not a file of features; for a folder of photographs say what to do."""
    if path.is_dir():
        check_no_pictures(path)
    check_is_file(path)
    if path.suffix.lower() in IMAGE_SUFFIXES:
        raise InvalidInputError(
            f"{path} is a picture. Turn pictures into features first: zslearn features "
            f"{path.parent}"
        )
    if path.suffix.lower() not in ENDINGS:
        raise InvalidInputError(
            f"{path}: features are read from {', '.join(ENDINGS)}; got "
            f"{path.suffix.lower() or 'no ending'!r}."
        )


def check_no_pictures(folder: Path) -> None:
    """Answer a folder of photographs, given where features are expected, with the right command."""
    found = sum(path.suffix.lower() in IMAGE_SUFFIXES for path in folder.rglob("*"))
    if found:
        raise InvalidInputError(
            f"{folder} holds {found} pictures, not features. Turn them into features first: "
            f"zslearn features {folder}"
        )


def _only_array(stored: Any, name: str) -> NDArray[Any]:
    """Return the array, or from an archive the one called `name` or the only one."""
    if isinstance(stored, np.ndarray):
        return stored
    if name not in stored.files and len(stored.files) != 1:
        raise InvalidInputError(
            f"the archive must hold an array {name!r} or one array only; it holds "
            f"{', '.join(stored.files) or 'none'}."
        )
    array: NDArray[Any] = stored[name if name in stored.files else stored.files[0]]
    return array


def _checked_matrix(X: Any) -> NDArray[Any]:
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(
            "features must be numbers of shape (n_samples, n_features); got type "
            f"{getattr(X, 'dtype', type(X).__name__)} of shape {np.shape(X)}."
        )
    return X


def _cells(path: Path) -> CellTable:
    return open_excel(path) if path.suffix.lower() == ".xlsx" else open_delimited(path)


def _of_cells(table: CellTable, take: Collection[str], ignore: Collection[str]) -> FeatureTable:
    """Read a table of text cells in one pass."""
    names = list(table.names)
    _check_known([*ignore, *take], names)
    taken = {name: names.index(name) for name in take}
    left_out = {names.index(name) for name in [*ignore, *take]}
    first = table.first()
    # The index of a pandas table has no name; it counts rows and would be learned from.
    unnamed = len(names) > 1 and names[0] == ""
    has_ids = 0 not in left_out and (unnamed or not table.is_number(first[0]))
    numeric = [i for i in range(table.width) if i not in left_out and (i > 0 or not has_ids)]
    if not numeric:
        raise InvalidInputError("the table has no column of features.")
    X, texts = table.split(numeric, [*taken.values(), 0])
    if has_ids and not unnamed:
        _check_are_names(texts[-1], table)
    return FeatureTable(
        X,
        texts[-1] if has_ids else None,
        tuple(names[column] for column in numeric) if names else (),
        {name: np.array(values) for name, values in zip(taken, texts, strict=False)},
        (table.note,) if table.note else (),
    )


def _check_are_names(ids: list[str], table: CellTable) -> None:
    """Refuse a first column of numbers with one mistake in its first line."""
    if len(ids) > 1 and all(map(table.is_number, ids[1:])):
        name = repr(table.names[0]) if table.names else 1
        raise InvalidInputError(
            f"Column {name} starts with {ids[0]!r}, then has numbers. Correct the cell, or "
            "leave out the column if it does not hold numbers."
        )


def _of_columns(table: ColumnTable, take: Collection[str], ignore: Collection[str]) -> FeatureTable:
    """Sort the columns of a table into features, names and what was asked for."""
    names = list(table.columns)
    _check_known([*ignore, *take], names)
    rest = [name for name in names if name not in {*ignore, *take}]
    ids = None if table.index is None else [str(name) for name in table.index]
    if ids is None and rest and table.columns[rest[0]].dtype.kind not in "fiub":
        ids = [str(value) for value in table.columns[rest.pop(0)]]
    if not rest:
        raise InvalidInputError("the table has no column of features.")
    taken = {name: _complete(table.columns[name], name) for name in take}
    return FeatureTable(table.matrix(rest), ids, tuple(rest), taken)


def _complete(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the values of a column as plain text or numbers, refusing one with gaps."""
    gaps = [row for row, value in enumerate(values.tolist()) if value is None or value != value]
    if gaps:
        raise InvalidInputError(f"column {name!r} has no value in row {gaps[0]}; fill it in.")
    return np.array(values.tolist()) if values.dtype.kind == "O" else values


def _check_known(wanted: Sequence[str], names: Sequence[str]) -> None:
    """Refuse columns that are missing or appear twice."""
    for name in wanted:
        if name not in names:
            raise InvalidInputError(
                f"there is no column {name!r}; the columns are {spelled_columns(names, name)}"
            )
    for name, times in Counter(names).items():
        if name and times > 1:
            raise InvalidInputError(f"two columns are called {name!r}; rename one of them.")
