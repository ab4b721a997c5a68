"""Readers of other people's files: HDF5 with MATLAB 7.3, and Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import damaged, inside, naming
from zslearn._optional import require
from zslearn.core.moment_pass import Block
from zslearn.datasets import hdf5
from zslearn.exceptions import InvalidInputError
from zslearn.scale.source import RowSource, Source, label_sum

FEATURE_KEYS = ("X", "features", "feat", "data")
LABEL_KEYS = ("y", "labels", "label", "targets")
_CONTINUE = "It is damaged or gone; a checkpoint lets the pass continue."
MAX_FEATURES = 2**22  # more is a false claim, and one block of it would fill the memory
Keys = tuple[str, str]


class ContainerSource(RowSource):
    """Features and labels stored as data sets of one HDF5 or Zarr file.

    MATLAB writes matrices with their axes reversed, so the samples may lie along either axis: they
    lie along the one that is as long as the labels.
    """

    def __init__(self, path: Path, container: Any, keys: Keys | None) -> None:
        features, labels = keys or (found_key(path, container, FEATURE_KEYS, "features"), None)
        label_key = labels or found_key(path, container, LABEL_KEYS, "labels")
        self._key = features
        self._X = _member(path, container, features)
        self._y = plain_labels(np.asarray(_member(path, container, label_key)[()]), path)
        shape = self._X.shape
        if np.dtype(self._X.dtype).kind not in "fiu":
            raise InvalidInputError(f"{path}: {features!r} must hold numbers; got {self._X.dtype}.")
        if len(shape) != 2 or len(self._y) not in shape:
            raise InvalidInputError(
                f"{path}: {features!r} of shape {shape} does not fit {len(self._y)} labels of "
                f"{label_key!r}."
            )
        self.path, self.files = path, [path]
        self._reversed = shape[0] != len(self._y)
        self.n_rows, self.n_features = (shape[1], shape[0]) if self._reversed else shape
        if not 0 < self.n_features <= MAX_FEATURES:
            raise InvalidInputError(f"{path}: {features!r} claims {self.n_features} features.")

    def read(self, start: int, stop: int) -> NDArray:
        """Return the features of these rows."""
        with damaged(self.path, f"file at rows {start} to {stop - 1}", _CONTINUE):
            if self._reversed:
                return np.ascontiguousarray(np.asarray(self._X[:, start:stop]).T)
            return np.asarray(self._X[start:stop])

    def labels(self) -> NDArray:
        """Return the labels of all rows."""
        return self._y

    def identity(self) -> list[Any]:
        """Return name and shape of the features."""
        return [
            self.path.name,
            self._key,
            self.n_rows,
            self.n_features,
            str(self._X.dtype),
            label_sum(self._y),
        ]


def open_hdf5(path: Path, keys: Keys | None) -> ContainerSource:
    """Open an HDF5 file or a MATLAB 7.3 file."""
    remedy = (
        "A MATLAB file must be of version 7.3: save it with -v7.3, or load it with "
        "zslearn.datasets."
    )
    with damaged(path, "HDF5 file", remedy):
        return ContainerSource(path, _Hdf5(hdf5.open_file(path)), keys)


class _Hdf5:
    """Names and data sets of an HDF5 file, each checked before it is read."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)

    def __contains__(self, name: str) -> bool:
        return self._file.get(name, getlink=True) is not None

    def __getitem__(self, name: str) -> Any:
        item = hdf5.member(self._file, name)
        if not hasattr(item, "shape"):
            raise InvalidInputError(f"{name!r} is a group; name a data set in it.")
        return item


class ParquetSource(Source):
    """A column of lists, or of binary values of one length, and a column of labels.

    Binary values are read as float32, the layout that Arrow and Spark tables read fastest.
    """

    def __init__(self, path: Path, keys: Keys | None) -> None:
        parquet = require("pyarrow.parquet", extra="table", purpose="Reading Parquet")
        self.path, self.files = path, [path]
        with damaged(path, "Parquet file"):
            self._file = parquet.ParquetFile(path)
            names = self._file.schema_arrow.names
        self._keys = keys or (
            found_key(path, names, FEATURE_KEYS, "features"),
            found_key(path, names, LABEL_KEYS, "labels"),
        )
        for key in self._keys:
            _check_known(path, key, names)
        self.n_rows = self._file.metadata.num_rows
        with damaged(path, "Parquet file at its first row"):
            first = next(self._file.iter_batches(batch_size=1, columns=[self._keys[0]]), None)
        if first is None or not self.n_rows:
            raise InvalidInputError(f"{path} holds no rows.")
        self.n_features = self._matrix(first.column(0)).shape[1]

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield blocks of rows."""
        start = 0
        batches = self._file.iter_batches(batch_size=block_rows, columns=list(self._keys))
        while True:
            with damaged(self.path, f"Parquet file after row {start}", _CONTINUE):
                batch = next(batches, None)
            if batch is None:
                return
            if start >= skip * block_rows:
                X, y = (batch.column(batch.schema.names.index(key)) for key in self._keys)
                yield Block(start, self._matrix(X), arrow_labels(y, self.path))
            start += batch.num_rows

    def labels(self) -> NDArray:
        """Return the labels of all rows, from their own column."""
        with damaged(self.path, "Parquet file"):
            column = self._file.read(columns=[self._keys[1]]).column(0)
        return arrow_labels(column, self.path)

    def identity(self) -> list[Any]:
        """Return name and shape of the features."""
        return [self.path.name, *self._keys, self.n_rows, self.n_features]

    def _matrix(self, column: Any) -> NDArray:
        """Turn a column of lists or of binary values into a matrix."""
        if column.null_count:
            raise InvalidInputError(f"{self.path}: column {self._keys[0]!r} has missing values.")
        with damaged(self.path, "Parquet file"):
            matrix = stacked_rows(column)
        if matrix is None or matrix.shape[1] != getattr(self, "n_features", matrix.shape[1]):
            raise InvalidInputError(
                f"{self.path}: column {self._keys[0]!r} must hold lists or binary values of one "
                "length."
            )
        if not 0 < matrix.shape[1] <= MAX_FEATURES:
            raise InvalidInputError(f"{self.path} claims {matrix.shape[1]} features.")
        return matrix


def stacked_rows(column: Any) -> NDArray | None:
    """Return the rows of a column as a matrix, or None if their lengths differ."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_fixed_size_binary(kind) and kind.byte_width % 4 == 0:
        flat = np.frombuffer(column.buffers()[1], dtype=np.float32)
        rows = flat.reshape(-1, kind.byte_width // 4)
        return rows[column.offset : column.offset + len(column)]
    if pa.types.is_binary(kind):
        values = column.to_pylist()
        if len({len(value) for value in values}) == 1 and len(values[0]) % 4 == 0:
            return np.frombuffer(b"".join(values), dtype=np.float32).reshape(len(values), -1)
        return None
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or _is_fixed_list(kind)):
        return None
    lengths = np.diff(column.offsets) if not _is_fixed_list(kind) else [kind.list_size]
    flat = column.flatten()
    if len(set(np.asarray(lengths).tolist())) != 1 or flat.null_count:
        return None
    numbers = flat.to_numpy(zero_copy_only=False)
    return numbers.reshape(len(column), -1) if numbers.dtype.kind in "fiu" else None


def _is_fixed_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_list(kind))


def plain_labels(y: NDArray, path: Path | str) -> NDArray:
    """Return labels as a vector of text or whole numbers."""
    flat = y.ravel()
    try:
        if flat.dtype.kind == "O":
            flat = np.array([v.decode() if isinstance(v, bytes) else str(v) for v in flat])
        if flat.dtype.kind == "S":
            flat = np.char.decode(flat, "utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: a label is not UTF-8 text ({error}).") from error
    if flat.dtype.kind == "T":
        flat = flat.astype(str)
    if flat.dtype.kind == "f":
        whole = np.zeros(len(flat), dtype=np.int64)
        np.copyto(whole, flat, casting="unsafe", where=np.abs(flat) < 2**53)
        flat = whole if np.array_equal(whole, flat) else flat
    if flat.dtype.kind not in "iuU":
        raise InvalidInputError(f"{path}: labels must be whole numbers or text.")
    return flat


def arrow_labels(column: Any, path: Path | str) -> NDArray:
    """Return a column of labels as a vector of text or whole numbers."""
    if column.null_count:
        raise InvalidInputError(f"{path}: the labels have missing values.")
    with damaged(path, "source of labels"):  # text that is no UTF-8 shows here
        values = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(False)
    return plain_labels(np.asarray(values), path)


def found_key(path: Path | str, container: Any, usual: tuple[str, ...], what: str) -> str:
    """Return the first of the usual names that is there."""
    for key in usual:
        if key in container:
            return key
    raise InvalidInputError(
        f"{path} has no {what} under {', '.join(usual)}; it holds {', '.join(container)}. Name "
        "them: open_source(path, keys=(features, labels))."
    )


def _member(path: Path, container: Any, key: str) -> Any:
    _check_known(path, key, container)
    with naming(path):
        return container[key]


def _check_known(path: Path, key: str, container: Any) -> None:
    if key not in container:
        raise InvalidInputError(f"{path} has no {key!r}; it holds {', '.join(container)}.")


# Codecs that only pack and unpack bytes; numcodecs' pickle, for one, runs whatever it finds.
_CODECS = frozenset(
    "bytes transpose blosc gzip zlib zstd lz4 bz2 lzma shuffle delta crc32 crc32c adler32 "
    "sharding_indexed vlen-utf8".split()
)
_TYPES_V2 = re.compile(r"[<>|][fiubSU]\d+")
_TYPES_V3 = re.compile(
    r"bool|u?int(8|16|32|64)|float(16|32|64)|string|fixed_length_utf32|null_terminated_bytes"
)
_DESCRIPTIONS = ("zarr.json", ".zarray")


def open_zarr(path: Path, keys: Keys | None) -> ContainerSource:
    """Open a Zarr group."""
    zarr = require("zarr", extra="zarr", purpose=f"Reading {path.name}")
    with damaged(path, "Zarr group"):
        # Consolidated metadata would describe the arrays a second time.
        group = zarr.open_group(str(path), mode="r", use_consolidated=False)
        return ContainerSource(path, _CheckedGroup(path, group), keys)


class _CheckedGroup:
    """Names and arrays of a group, each checked before it is opened."""

    def __init__(self, path: Path, group: Any) -> None:
        self._path, self._group = path, group

    def __iter__(self) -> Iterator[str]:
        folders = (path for path in sorted(self._path.iterdir()) if path.is_dir())
        return (path.name for path in folders if _description(path) is not None)

    def __contains__(self, name: str) -> bool:
        return _description(inside(self._path, name)) is not None

    def __getitem__(self, name: str) -> Any:
        described = _description(inside(self._path, name))
        if not isinstance(described, dict) or described.get("node_type", "array") != "array":
            raise InvalidInputError(f"{name!r} is not an array.")
        _check_type(described, name)
        for codec in _codecs(described):
            if str(codec).removeprefix("numcodecs.") not in _CODECS:
                raise InvalidInputError(
                    f"{name!r} is packed by {codec!r}, which is not on the list of codecs that "
                    "are safe to unpack. Write it with blosc, gzip or zstd."
                )
        return self._group[name]


def _description(folder: Path) -> Any:
    """Return what a folder says about its array; None if it is not an array."""
    for name in _DESCRIPTIONS:
        if (folder / name).is_file():
            return json.loads((folder / name).read_text("utf-8"))
    return None


def _check_type(described: dict[str, Any], name: str) -> None:
    """Refuse Python objects and records; only numbers and text as plain bytes remain."""
    kind = described.get("dtype", described.get("data_type"))
    if isinstance(kind, dict):
        kind = kind.get("name")
    allowed = _TYPES_V2 if "dtype" in described else _TYPES_V3
    if not isinstance(kind, str) or not allowed.fullmatch(kind):
        raise InvalidInputError(
            f"{name!r} has the type {kind!r}; only numbers and text are read, never objects."
        )


def _codecs(described: Any) -> Iterator[Any]:
    """Yield the name of every codec in a description, including nested ones."""
    if isinstance(described, list):
        for part in described:
            yield from _codecs(part)
    elif isinstance(described, dict):
        for key in ("codecs", "index_codecs", "filters", "compressor", "configuration"):
            for codec in _as_list(described.get(key)):
                if isinstance(codec, dict) and key != "configuration":
                    yield codec.get("name", codec.get("id"))
                yield from _codecs(codec)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


_NAME = "the Arrow stream"


class ArrowSource(Source):
    """Rows of anything with ``__arrow_c_stream__``.

    Parameters
    ----------
    table : object
        A table, which can be read again, or a stream, which can be read once.
    keys : tuple of str or None
        Column of features, by default all but the labels, and column of labels, by default y,
        labels, label or targets. Features are one column of lists or several of numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from zslearn.scale import open_source
    >>> table = pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0], "animal": ["cat", "dog"]})
    >>> [block.X.tolist() for block in open_source(table, "animal").blocks(1)]
    [[[1.0, 3.0]], [[2.0, 4.0]]]
    """

    def __init__(self, table: Any, keys: tuple[str | None, str | None]) -> None:
        self._pyarrow = require("pyarrow", extra="table", purpose="Reading an Arrow stream")
        self._table = table
        # A stream has no length: what has been read is gone.
        self.n_rows = len(table) if hasattr(table, "__len__") else None
        reader = self._reader()
        names = reader.schema.names
        self._label = keys[1] or found_key(_NAME, names, LABEL_KEYS, "labels")
        self._features = [name for name in names if name != self._label]
        if keys[0] is not None:
            self._features = [keys[0]]
        for name in (self._label, *self._features):
            if name not in names:
                raise InvalidInputError(f"{_NAME} has no {name!r}; it holds {', '.join(names)}.")
        filled = (batch for batch in reader if batch.num_rows)
        first = next(filled, None)
        if first is None or not self._features:
            raise InvalidInputError(f"{_NAME} holds no rows of features.")
        self.n_features = self._matrix(first).shape[1]
        self._batches: Iterator[Any] | None = chain([first], filled)

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield the batches of the stream, cut where they are longer than a block."""
        start = number = 0
        for batch in self._all_batches():
            for first in range(0, batch.num_rows, block_rows):
                piece = batch.slice(first, block_rows)
                if number >= skip:
                    y = arrow_labels(self._column(piece, self._label), _NAME)
                    yield Block(start, self._matrix(piece), y)
                start += piece.num_rows
                number += 1

    def labels(self) -> NDArray | None:
        """Return the labels of all rows of a table, None for a stream."""
        if self.n_rows is None:
            return None
        columns = (self._column(batch, self._label) for batch in self._reader() if batch.num_rows)
        return np.concatenate([arrow_labels(column, _NAME) for column in columns])

    def identity(self) -> list[Any]:
        """Return the columns and the number of rows."""
        return ["arrow", self._label, self._features, self.n_rows]

    def _reader(self) -> Any:
        return self._pyarrow.RecordBatchReader.from_stream(self._table)

    def _all_batches(self) -> Iterator[Any]:
        """Batches from the first, also for a second pass over a table."""
        batches, self._batches = self._batches, None
        if batches is not None:
            return batches
        if self.n_rows is None:
            raise InvalidInputError(f"{_NAME} can be read only once, and was. Make a new one.")
        return iter(self._reader())

    def _column(self, batch: Any, name: str) -> Any:
        column = batch.column(batch.schema.names.index(name))
        coded = self._pyarrow.types.is_dictionary(column.type)
        return column.dictionary_decode() if coded else column

    def _matrix(self, batch: Any) -> NDArray:
        """Turn one column of lists, or several of numbers, into a matrix."""
        columns = [self._column(batch, name) for name in self._features]
        for name, column in zip(self._features, columns, strict=True):
            if column.null_count:
                raise InvalidInputError(f"{_NAME}: column {name!r} has missing values.")
        matrix = stacked_rows(columns[0]) if len(columns) == 1 else None
        if matrix is None:
            arrays = [column.to_numpy(zero_copy_only=False) for column in columns]
            matrix = np.column_stack(arrays) if self._are_numbers(columns) else None
        wanted = getattr(self, "n_features", None)
        if matrix is None or wanted not in (None, matrix.shape[1]):
            raise InvalidInputError(
                f"{_NAME}: features must be one column of lists of one length or columns of "
                f"numbers; got {', '.join(f'{n} ({c.type})' for n, c in self._typed(columns))}."
            )
        return matrix

    def _are_numbers(self, columns: list[Any]) -> bool:
        types = self._pyarrow.types
        return all(types.is_floating(c.type) or types.is_integer(c.type) for c in columns)

    def _typed(self, columns: list[Any]) -> list[tuple[str, Any]]:
        return list(zip(self._features, columns, strict=True))[:5]
