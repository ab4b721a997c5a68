"""A user's own data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.datasets.class_split import ClassSplit
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.datasets.feature_files import (
    FeatureTable,
    read_array,
    read_feature_table,
    read_parquet,
    table_columns,
)
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures import Signatures

PathLike = str | os.PathLike[str]


def load_table(
    features: PathLike | ArrayLike,
    labels: PathLike | ArrayLike,
    signatures: PathLike | Signatures | Mapping[Any, Any],
    *,
    unseen: ArrayLike | None = None,
    name: str = "own data",
) -> ZeroShotDataset:
    """Load your own data from ``.npy``, ``.npz``, CSV or Parquet files.

    Parameters
    ----------
    features : path-like or array-like of shape (n_samples, n_features)
        A file as :func:`load_features` reads it, or the matrix. A first column of text in a
        table is kept as `image_files`.
    labels : path-like, str or array-like of shape (n_samples,)
        The name of a column of the features table; or a file, ``.npy``, ``.npz`` (array ``y``),
        or text with one label a line, below a title if there is one; or the labels.
    signatures : path-like, Signatures or mapping
        A CSV file with a header line and then one line a class, its name first; an ``.npz`` file
        with ``names`` and ``vectors``; a Parquet table whose first column names the classes; or
        the table itself.
    unseen : array-like of labels, default=None
        The unseen classes. None takes the classes that have a signature and no row.
    name : str, default="own data"
        Name of the data set.

    Returns
    -------
    ZeroShotDataset
        With the semantic space "signatures" and, where a class is unseen, the split "own";
        `extra` holds "feature_columns", the names of the columns of a table of features.
        Labels take the type of the class names, so the class 7 of a ``.npy`` file finds the
        "7" of a CSV file.

    Raises
    ------
    MissingFileError
        If a file is not there.
    InvalidInputError
        If a file cannot be used or the parts do not fit together.

    Examples
    --------
    >>> from zslearn.datasets import load_table
    >>> table = {"cat": [1, 0], "dog": [0, 1], "fox": [0.4, 0.6]}
    >>> data = load_table([[0.9, 0.1], [0.2, 0.8]], ["cat", "dog"], table)
    >>> data.split("own")
    ClassSplit(2 seen, 1 unseen)
    """
    table, y = _features_and_labels(features, labels)
    space = _signatures(signatures)
    if _is_path(labels):
        y = _without_title(y, len(table.X), space)
    y = _as_class_names(y, space)
    if len(y) == len(table.X):  # labels without a signature are told before splits are made
        space.index_of(np.unique(y))
    split = _split(y, space, unseen)
    return ZeroShotDataset(
        name=name,
        X=table.X,
        y=y,
        semantics={"signatures": space},
        splits={} if split is None else {"own": split},
        image_files=table.ids,
        features=f"{table.X.shape[1]} dimensions" if table.X.ndim == 2 else "",
        source=str(features) if _is_path(features) else "arrays",
        extra={"feature_columns": table.columns},
    )


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _features_and_labels(features: Any, labels: Any) -> tuple[FeatureTable, NDArray[Any]]:
    """Read both; a text that names a column of the features table is that column."""
    if not _is_path(features):
        y = read_labels(Path(labels)) if _is_path(labels) else np.asarray(labels)
        return FeatureTable(np.asanyarray(features)), y
    path = Path(features)
    if not _is_path(labels):
        return read_feature_table(path), np.asarray(labels)
    columns = table_columns(path) if path.is_file() else []
    if isinstance(labels, str) and labels in columns:
        table = read_feature_table(path, label=labels)
        return table, np.asarray(table.labels)
    if columns and not Path(labels).is_file():
        raise MissingFileError(
            f"labels={os.fspath(labels)!r} is neither a file nor a column of {path}, whose columns "
            f"are {', '.join(columns[:8])}{', ...' if len(columns) > 8 else ''}."
        )
    return read_feature_table(path), read_labels(Path(labels))


def read_labels(path: Path) -> NDArray[Any]:
    """Read one label a row from an array or a text file."""
    if not path.is_file():
        raise MissingFileError(f"There is no file {str(path)!r}; it must hold one label a row.")
    if path.suffix.lower() in (".npy", ".npz"):
        y = read_array(path, "y")
        if y.ndim != 1:
            raise InvalidInputError(f"{path}: labels must be a vector; got shape {y.shape}.")
        return y
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: not UTF-8 text ({error}).") from error
    while lines and not lines[-1].strip():
        lines.pop()
    empty = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if empty or not lines:
        raise InvalidInputError(
            f"{path}: line {empty[0]} is empty; every row needs a label."
            if empty
            else f"{path} is empty; it must hold one label a line."
        )
    return np.array([line.strip().strip('"') for line in lines])


def _without_title(y: NDArray[Any], n_rows: int, space: Signatures) -> NDArray[Any]:
    """Drop a first line that is one too many and names no class: the title of the column."""
    is_title = y.dtype.kind == "U" and len(y) == n_rows + 1 and str(y[0]) not in map(str, space)
    return y[1:] if is_title else y


def _signatures(source: Any) -> Signatures:
    """Read or make the class table."""
    if isinstance(source, Signatures):
        return source
    if isinstance(source, Mapping):
        return Signatures.from_dict(source)
    path = Path(source)
    ending = path.suffix.lower()
    if ending == ".npz":
        return Signatures.from_npz(path)
    if ending == ".parquet":
        return _parquet_signatures(path)
    return Signatures.from_csv(path)


def _parquet_signatures(path: Path) -> Signatures:
    if not path.is_file():
        raise MissingFileError(f"There is no file {str(path)!r}; check the path.")
    table = read_parquet(path)
    first, *others = table.column_names
    if not others:
        raise InvalidInputError(f"{path} has the column {first!r} alone; it must hold dimensions.")
    vectors = np.column_stack([table[name].to_numpy() for name in others])
    return Signatures(table[first].to_pylist(), vectors, others)


def _as_class_names(y: NDArray[Any], space: Signatures) -> NDArray[Any]:
    """Give labels the type of the class names where they differ only in that."""
    if y.dtype.kind in "iu" and space.names.dtype.kind == "U":
        return y.astype(str)
    if y.dtype.kind == "U" and space.names.dtype.kind in "iu":
        try:
            return y.astype(np.int64)
        except ValueError:
            return y
    return y


def _split(y: NDArray[Any], space: Signatures, unseen: ArrayLike | None) -> ClassSplit | None:
    """Return the seen classes, which are those with rows, and the unseen ones."""
    names = space.names
    with_rows = np.isin(names, y)
    if unseen is None:
        held_out = names[~with_rows]
    else:
        held_out = _as_class_names(np.atleast_1d(np.asarray(unseen)), space)
        space.index_of(held_out)
    seen = names[with_rows & ~np.isin(names, held_out)]
    if not held_out.size:
        return None
    if not seen.size:
        raise InvalidInputError(
            "Every class that has rows is listed as unseen, so there is nothing to train on."
        )
    return ClassSplit(seen, held_out)
