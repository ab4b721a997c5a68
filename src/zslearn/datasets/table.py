"""A user's own data: features, labels and class tables in the files people have."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn import _cells, _tables
from zslearn._files import check_is_file, damaged, naming
from zslearn._parameters import check_flags
from zslearn._tables import Table, column_names, is_frame, read_table, spelled_names
from zslearn.core.rows import plain_labels
from zslearn.datasets.dataset import ClassSplit, ZeroShotDataset
from zslearn.encoders.pictures import IMAGE_SUFFIXES
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingFileError,
    ZslearnWarning,
)
from zslearn.signatures import Signatures
from zslearn.signatures.files import read_classes

PathLike = str | os.PathLike[str]
_ARRAYS = (".npy", ".npz")
ENDINGS = (*_ARRAYS, *_tables.ENDINGS)


@dataclass(frozen=True)
class FeatureTable:
    """The numbers of a file, and for a table also the names of its rows and columns.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    ids : list of str or None
        Names of the samples: the first column if it holds text, one that numbers the samples, or
        the index.
    columns : tuple of str
        Names of the features; empty where the file has none.
    taken : mapping of str to ndarray of shape (n_samples,)
        Columns that were asked for by name, such as labels.
    notes : tuple of str
        How the file was read, where that had to be detected.
    left_out : tuple of str
        Those of the notes that name a column of numbers that is no feature.
    """

    X: NDArray[Any]
    ids: list[str] | None = None
    columns: tuple[str, ...] = ()
    taken: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def load_features(
    path: str | os.PathLike[str], *, ignore: Collection[str] = (), mmap: bool = False
) -> NDArray[Any]:
    r"""Load a feature matrix, for example to predict from.

    Parameters
    ----------
    path : path-like
        - ``.npy``: an array of shape (n_samples, n_features).
        - ``.npz``: the same under the name ``X``, or as the only array.
        - ``.csv``, ``.tsv``: one sample per line, with or without a header line; a first column
          that holds text or has no name in the header, and a column such as "id" that numbers the
          samples, name them and are left out. Semicolons, tabs, ``|`` and blanks between the cells,
          decimal commas, comments above the table, R's row names, delimiters at the end of the
          lines and UTF-16 with a byte-order mark are detected.
        - ``.jsonl``: the same as JSON lines, one object per sample.
        - ``.parquet``, ``.arrow``, ``.feather``: the same as a table; the index of pandas names the
          samples.
        - ``.xlsx``: the same in the first sheet (these need ``pip install 'zslearn[table]'``).
    ignore : collection of str, default=()
        Columns of a table that are not features, for example its labels.
    mmap : bool, default=False
        Map a ``.npy`` file instead of reading it; its values are not looked at then.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The features; integers and floats keep their type.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InvalidInputError
        If the file is of another kind or damaged, or has a cell that is not a finite number, an
        empty line between samples, or a line with more or fewer cells than the others.

    Warns
    -----
    ZslearnWarning
        If a column of numbers was left out because it numbers the samples.

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
    check_flags(mmap=mmap)
    table = read_feature_table(path, ignore=ignore, mmap=mmap)
    _warn_left_out(path, table.left_out)
    return table.X


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
        a table with one column or one called "label" or "class", or text with one label per line,
        below a title if there is one; or the labels. A pandas Series with the same index as the
        features, in another order, is reordered to match.
    signatures : path-like, Signatures, DataFrame or mapping
        A table in any of these files with one row per class, its name first, and a header; columns
        of yes and no, true and false, or x and nothing become 1 and 0. An ``.npz`` file with
        ``names`` and ``vectors``; a data frame with the classes as its index; or the table itself.
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
        "notes" and "signature_notes", how features and signatures were read where that had to be
        detected, such as decimal commas. Labels take the type of the class names, so the class 7
        of a ``.npy`` file finds the "7" of a CSV file.

    Raises
    ------
    MissingFileError
        If a file is missing.
    InvalidInputError
        If a file cannot be used or the parts do not fit together.

    Warns
    -----
    ZslearnWarning
        If a column of numbers was left out because it numbers the samples.

    Examples
    --------
    >>> from zslearn.datasets import load_table
    >>> table = {"cat": [1, 0], "dog": [0, 1], "fox": [0.4, 0.6]}
    >>> data = load_table([[0.9, 0.1], [0.2, 0.8]], ["cat", "dog"], table)
    >>> data.split("own")
    ClassSplit(2 seen, 1 unseen)
    """
    own = read_own_data(features, labels, signatures, unseen=unseen, ignore=ignore)
    _warn_left_out(features, own.extra["left_out"])
    return replace(own, name=name)


def read_own_data(
    features: Any,
    labels: Any,
    signatures: Any,
    *,
    unseen: ArrayLike | None = None,
    ignore: Collection[str] = (),
) -> ZeroShotDataset:
    """Do what `load_table` does, for callers that show the notes in `extra` themselves."""
    space, notes = read_noted_signatures(signatures)
    table, y = read_labeled(features, labels, space, ignore=ignore)
    if len(y) == len(table.X):  # labels without a signature are reported before splits
        space.index_of(np.unique(y))
    split = _split(y, space, unseen)
    return ZeroShotDataset(
        name="own data",
        X=table.X,
        y=y,
        semantics={"signatures": space},
        splits={} if split is None else {"own": split},
        image_files=table.ids,
        features=f"{table.X.shape[1]} dimensions" if table.X.ndim == 2 else "",
        source=str(features) if _is_path(features) else "arrays",
        extra={
            "feature_columns": table.columns,
            "notes": table.notes,
            "left_out": table.left_out,
            "signature_notes": notes,
        },
    )


def read_labeled(
    features: Any, labels: Any, space: Signatures, *, ignore: Collection[str] = ()
) -> tuple[FeatureTable, NDArray[Any]]:
    """Read features and labels as `load_table` does, labels in the type of the class names."""
    table, y = _features_and_labels(features, labels, ignore)
    if _is_path(labels):
        y = _without_title(y, len(table.X), space)
    return table, _as_class_names(y, space)


def _warn_left_out(source: Any, notes: Collection[str]) -> None:
    for note in notes:
        where = f"{os.fspath(source)}: " if _is_path(source) else ""
        warnings.warn(f"{where}{note}.", ZslearnWarning, stacklevel=3)


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


# Features.


def read_feature_table(
    source: Any,
    *,
    take: Collection[str] = (),
    ignore: Collection[str] = (),
    known: Collection[str] = (),
    mmap: bool = False,
) -> FeatureTable:
    """Read a file of features or a pandas frame.

    The columns `take` are kept apart; those that are `known` to be features, because a model
    learned from them, are never taken for names of the samples.
    """
    if _is_path(source):
        path = Path(source)
        _check_is_features(path)
        if path.suffix.lower() in _ARRAYS:
            X = read_array(path, "X", mmap=mmap)
            with naming(path):
                return FeatureTable(_checked_matrix(X))
    return _features_of(read_table(source, text=take), take, ignore, known)


def _features_of(
    table: Table, take: Collection[str], ignore: Collection[str], known: Collection[str]
) -> FeatureTable:
    """Sort the columns of a table into features, names of samples and what was asked for."""
    apart = {table.position(name) for name in [*take, *ignore]}
    rest = [column for column in range(len(table.columns)) if column not in apart]
    if table.skipped:
        raise table.refusal(
            f"Line {table.skipped[0]} is empty between samples. Delete it, or fill in the sample."
        )
    ids = None if table.index is None else [str(name) for name in table.index]
    if ids is None and rest and _names_samples(table, rest[0]):
        ids = table.texts(rest.pop(0))
    left_out = []
    counting = [column for column in rest if _numbers_samples(table, column)]
    for column in [c for c in counting if not table.names or table.names[c] not in known]:
        left_out.append(
            f"the column {table.title(column)} numbers the samples: it names them and is no feature"
        )
        rest.remove(column)
        ids = table.texts(column) if ids is None else ids
    if not rest:
        raise table.refusal("the table has no column of features.")
    return FeatureTable(
        table.numbers(rest),
        ids,
        tuple(table.names[column] for column in rest) if table.names else (),
        {name: table.take(name) for name in take},
        (*table.notes, *left_out),
        tuple(left_out),
    )


def _names_samples(table: Table, column: int) -> bool:
    """Say whether a column of text holds names rather than numbers with mistakes in them."""
    if not table.is_text(column):
        return False
    if table.names and _cells.is_row_title(table.names[column]):
        return True
    cells = table.texts(column)
    no_names = sum(_cells.is_no_name(cell, table.decimal) for cell in cells)
    return 2 * no_names < len(cells) and not _tables.are_truths(cells)


def _numbers_samples(table: Table, column: int) -> bool:
    """Say whether a column of numbers only tells the samples apart."""
    values = table.columns[column]
    if table.is_text(column) or values.dtype.kind == "b":
        return False
    if table.names:
        return _tables.counts_rows(table.names[column], values)
    # Without a header only the plain count 0, 1, 2 or 1, 2, 3 before fractions is taken for one.
    counted = len(values) > 2 and np.array_equal(values, np.arange(len(values)) + values[0])
    others = [c for c in range(1, len(table.columns)) if not table.is_text(c)]
    fractions = any((table.columns[c] % 1 != 0).any() for c in others)
    return column == 0 and bool(counted) and values[0] in (0, 1) and fractions


def read_array(path: Path, name: str, *, mmap: bool = False) -> NDArray[Any]:
    """Read a ``.npy`` file, or the array `name`, or the only one, of an ``.npz`` file."""
    check_is_file(path)
    with damaged(path, "file of plain arrays", "Pickled objects are never loaded."), naming(path):
        if mmap and path.suffix.lower() == ".npy":
            mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
            return mapped
        # numpy leaves a file open that it opened itself and found damaged.
        with path.open("rb") as file:
            return _only_array(np.load(file, allow_pickle=False), name)


def _only_array(stored: Any, name: str) -> NDArray[Any]:
    """Return the array, or from an archive the one called `name` or the only one."""
    if isinstance(stored, np.ndarray):
        return stored
    if name not in stored.files and len(stored.files) != 1:
        raise InvalidInputError(
            f"the archive must hold an array {name!r} or one array only; it holds "
            f"{', '.join(stored.files) or 'none'}."
        )
    key = name if name in stored.files else stored.files[0]
    array: NDArray[Any] = stored[key]
    if not isinstance(array, np.ndarray):  # numpy gives the bytes of what is no array
        raise InvalidInputError(f"its member {key!r} is not an array.")
    return array


def _checked_matrix(X: NDArray[Any]) -> NDArray[Any]:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(
            "features must be numbers of shape (n_samples, n_features); got type "
            f"{X.dtype} of shape {X.shape}."
        )
    if X.dtype.kind == "f" and not isinstance(X, np.memmap) and not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise InvalidInputError(
            f"row {row}, column {column}: {X[row, column]} is not a finite number. Fill it in, or "
            "leave out the row."
        )
    return X


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


# Labels.


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


def table_columns(source: Any) -> list[str]:
    """Return the column names of a table; none for an array or a file without a header."""
    if not _is_path(source):
        return column_names(source)
    if Path(source).suffix.lower() in _ARRAYS:
        return []
    _check_is_features(Path(source))
    return column_names(source)


def is_column(name: str | os.PathLike[str], features: Any) -> bool:
    """Say whether a name is a column of a table rather than a file; refuse what is neither."""
    columns = table_columns(features)
    if isinstance(name, str) and name in columns:
        return True
    if columns and not Path(name).is_file():
        where = os.fspath(features) if _is_path(features) else "the table"
        raise MissingFileError(
            f"{os.fspath(name)!r} is neither a file nor a column of {where}, whose columns are "
            f"{spelled_names(columns, os.fspath(name))}"
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
    """Read one label per row from an array, a table or a text file."""
    check_is_file(path, "it must hold one label per row")
    ending = path.suffix.lower()
    if ending in _ARRAYS:
        y = read_array(path, "y")
        if y.ndim != 1:
            raise InvalidInputError(f"{path}: labels must be a vector; got shape {y.shape}.")
        return y
    one_per_line = ending not in _tables.ENDINGS or len(_tables.first_row(path)) == 1
    if one_per_line and ending not in (".jsonl", ".xlsx", ".parquet", ".arrow", ".feather"):
        table, column = read_table(path, header=False, delimiter="\n", text=[0]), 0
    else:
        table = read_table(path)
        column = _label_column(table)
    if table.skipped:
        raise table.refusal(f"line {table.skipped[0]} is empty; every row needs a label.")
    return table.take(column)


def _label_column(table: Table) -> int:
    """Return the only column, or the one called "label" or "class"."""
    known = [i for i, name in enumerate(table.names) if name.casefold() in ("label", "class")]
    if len(table.columns) > 1 and len(known) != 1:
        raise table.refusal(
            f"which of the columns {spelled_names(table.names)[:-1]} holds the labels? Call it "
            "'label', or leave the others out."
        )
    return known[0] if known else 0


def _without_title(y: NDArray[Any], n_rows: int, space: Signatures) -> NDArray[Any]:
    """Drop an extra first line that names no class: the title of the column."""
    is_title = y.dtype.kind == "U" and len(y) == n_rows + 1 and str(y[0]) not in map(str, space)
    return y[1:] if is_title else y


# Signatures.


def read_signatures(source: Any) -> Signatures:
    """Read or make a class table from what `load_table` takes as `signatures`."""
    return read_noted_signatures(source)[0]


def read_noted_signatures(source: Any) -> tuple[Signatures, tuple[str, ...]]:
    """Return a class table, and how its file was read where that had to be found out."""
    if isinstance(source, Signatures):
        return source, ()
    if isinstance(source, Mapping):
        return Signatures.from_dict(source), ()
    if is_frame(source):
        return Signatures.from_frame(source), ()
    path = Path(source)
    if path.suffix.lower() == ".npz":
        return Signatures.from_npz(path), ()
    with naming(path):
        names, vectors, dimensions, notes = read_classes(path)
        return Signatures(names, vectors, dimensions), notes


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
