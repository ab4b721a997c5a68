"""A user's own data."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._files import check_is_file, naming
from zslearn.core.rows import plain_labels
from zslearn.datasets.column_tables import is_frame, parquet_table
from zslearn.datasets.dataset import ClassSplit, ZeroShotDataset
from zslearn.datasets.feature_files import (
    FeatureTable,
    read_array,
    read_feature_table,
    spelled_columns,
    table_columns,
)
from zslearn.exceptions import InvalidInputError, InvalidTypeError, MissingFileError
from zslearn.signatures import Signatures
from zslearn.signatures.excel import open_excel
from zslearn.signatures.files import read_cells

PathLike = str | os.PathLike[str]


def load_table(
    features: PathLike | ArrayLike,
    labels: PathLike | ArrayLike,
    signatures: PathLike | Signatures | Mapping[Any, Any],
    *,
    unseen: ArrayLike | None = None,
    ignore: Collection[str] = (),
    name: str = "own data",
) -> ZeroShotDataset:
    """Load your own data from ``.npy``, ``.npz``, CSV, Parquet or Excel files, or from pandas.

    Parameters
    ----------
    features : path-like, DataFrame or array-like of shape (n_samples, n_features)
        A file as :func:`load_features` reads it, a data frame, or the matrix. A first column of
        text in a table, or its index, is kept as `image_files`.
    labels : path-like, str or array-like of shape (n_samples,)
        The name of a column of the features table; or a file, ``.npy``, ``.npz`` (array ``y``),
        or text with one label per line, below a title if there is one; or the labels. A pandas
        Series with the same index as the features, in another order, is reordered to match.
    signatures : path-like, Signatures, DataFrame or mapping
        A CSV file or Excel sheet with a header line and then one line per class, its name first;
        an ``.npz`` file with ``names`` and ``vectors``; a Parquet table whose index or first
        column names the classes; a data frame with the classes as its index; or the table itself.
    unseen : array-like of labels, default=None
        The unseen classes. None takes the classes that have a signature and no row.
    ignore : collection of str, default=()
        Columns of a features table that are no features.
    name : str, default="own data"
        Name of the data set.

    Returns
    -------
    ZeroShotDataset
        With the semantic space "signatures" and, where a class is unseen, the split "own";
        `extra` holds "feature_columns", the names of the columns of a table of features, and
        "notes", how it was read where that had to be detected, such as decimal commas.
        Labels take the type of the class names, so the class 7 of a ``.npy`` file finds the
        "7" of a CSV file.

    Raises
    ------
    MissingFileError
        If a file is missing.
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
    table, y = _features_and_labels(features, labels, ignore)
    space = read_signatures(signatures)
    if _is_path(labels):
        y = _without_title(y, len(table.X), space)
    y = _as_class_names(y, space)
    if len(y) == len(table.X):  # labels without a signature are reported before splits
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
        extra={"feature_columns": table.columns, "notes": table.notes},
    )


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _features_and_labels(
    features: Any, labels: Any, ignore: Collection[str]
) -> tuple[FeatureTable, NDArray[Any]]:
    """Read both; text that names a column of the features table means that column."""
    if not _is_path(features) and not is_frame(features):
        y = read_labels(Path(labels)) if _is_path(labels) else np.asarray(plain_labels(labels))
        return FeatureTable(np.asanyarray(features)), y
    if not _is_path(labels):
        return read_feature_table(features, ignore=ignore), _aligned(labels, features)
    if is_column(labels, features):
        table = read_feature_table(features, take=[labels], ignore=ignore)
        return table, table.taken[labels]
    return read_feature_table(features, ignore=ignore), read_labels(Path(labels))


def is_column(name: str | os.PathLike[str], features: Any) -> bool:
    """Say whether a name is a column of a table rather than a file; refuse what is neither."""
    columns = table_columns(features)
    if isinstance(name, str) and name in columns:
        return True
    if columns and not Path(name).is_file():
        where = os.fspath(features) if _is_path(features) else "the table"
        raise MissingFileError(
            f"{os.fspath(name)!r} is neither a file nor a column of {where}, whose columns are "
            f"{spelled_columns(columns, os.fspath(name))}"
        )
    return False


def _aligned(labels: Any, features: Any) -> NDArray[Any]:
    """Reorder labels that have the same index as the features in another order."""
    ours: Any = getattr(labels, "index", None)
    theirs: Any = getattr(features, "index", None)
    if not hasattr(ours, "equals") or not hasattr(theirs, "equals") or ours.equals(theirs):
        return np.asarray(plain_labels(labels))
    same = ours.is_unique and theirs.is_unique and set(ours) == set(theirs)
    return np.asarray(plain_labels(labels.reindex(theirs) if same else labels))


def read_labels(path: Path) -> NDArray[Any]:
    """Read one label per row from an array or a text file."""
    check_is_file(path, "it must hold one label per row")
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
            else f"{path} is empty; it must hold one label per line."
        )
    return np.array([line.strip().strip('"') for line in lines])


def _without_title(y: NDArray[Any], n_rows: int, space: Signatures) -> NDArray[Any]:
    """Drop an extra first line that names no class: the title of the column."""
    is_title = y.dtype.kind == "U" and len(y) == n_rows + 1 and str(y[0]) not in map(str, space)
    return y[1:] if is_title else y


def read_signatures(source: Any) -> Signatures:
    """Read or make a class table from what `load_table` takes as `signatures`."""
    if isinstance(source, Signatures):
        return source
    if isinstance(source, Mapping):
        return Signatures.from_dict(source)
    if is_frame(source):
        return Signatures.from_frame(source)
    path = Path(source)
    ending = path.suffix.lower()
    if ending == ".npz":
        return Signatures.from_npz(path)
    if ending not in (".parquet", ".xlsx"):
        return Signatures.from_csv(path)
    check_is_file(path)
    with naming(path):
        if ending == ".xlsx":
            return Signatures(*read_cells(open_excel(path, header=True)))
        return _parquet_signatures(path)


def _parquet_signatures(path: Path) -> Signatures:
    """Read a table whose classes are its index, or else its first column."""
    table = parquet_table(path)
    dimensions = list(table.columns)
    if table.index is not None:
        names = table.index
    else:
        names = table.columns[dimensions.pop(0)].tolist() if dimensions else []
    if not dimensions:
        raise InvalidInputError("the table must hold the names of the classes and dimensions.")
    return Signatures(names, table.matrix(dimensions), dimensions)


def _as_class_names(y: NDArray[Any], space: Signatures) -> NDArray[Any]:
    """Convert labels to the type of the class names where only the type differs."""
    if y.dtype.kind == "b" and space.names.dtype.kind in "iu":
        raise InvalidTypeError(
            "The labels are True and False where the classes are numbers; convert them to the "
            "intended numbers."
        )
    if y.dtype.kind in "iub" and space.names.dtype.kind == "U":
        return y.astype(str)
    if y.dtype.kind == "U" and space.names.dtype.kind in "iu":
        try:
            return y.astype(np.int64)
        except (ValueError, OverflowError):
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
