"""Readers of other people's files: HDF5 with MATLAB 7.3, Zarr, Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.exceptions import InvalidInputError
from zslearn.scale.source import Block, RowSource, Source, label_sum

FEATURE_KEYS = ("X", "features", "feat", "data")
LABEL_KEYS = ("y", "labels", "label", "targets")
Keys = tuple[str, str]


class ContainerSource(RowSource):
    """Features and labels that are data sets of one file, of HDF5 or Zarr.

    MATLAB writes matrices with their axes reversed, so the samples may lie along either axis: they
    lie along the one that is as long as the labels.
    """

    def __init__(self, path: Path, container: Any, keys: Keys | None) -> None:
        features, labels = keys or (_found(path, container, FEATURE_KEYS, "features"), None)
        self._key = features
        self._X = _member(path, container, features)
        label_key = labels or _found(path, container, LABEL_KEYS, "labels")
        self._y = plain_labels(np.asarray(_member(path, container, label_key)[()]), path)
        shape = self._X.shape
        if len(shape) != 2 or len(self._y) not in shape:
            raise InvalidInputError(
                f"{path}: {features!r} of shape {shape} does not fit {len(self._y)} labels of "
                f"{label_key!r}."
            )
        self.path = path
        self._reversed = shape[0] != len(self._y)
        self.n_rows, self.n_features = (shape[1], shape[0]) if self._reversed else shape

    def read(self, start: int, stop: int) -> NDArray:
        """Return the features of these rows."""
        try:
            if self._reversed:
                return np.ascontiguousarray(np.asarray(self._X[:, start:stop]).T)
            return np.asarray(self._X[start:stop])
        except (OSError, KeyError, RuntimeError) as error:
            raise InvalidInputError(
                f"{self.path} could not be read at rows {start} to {stop - 1} ({error}). It is "
                "damaged or gone; a checkpoint lets the pass continue."
            ) from error

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
    h5py = require("h5py", extra="data", purpose=f"Reading {path.name}")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise InvalidInputError(
            f"{path} is not a readable HDF5 file ({error}). A MATLAB file must be of version 7.3: "
            "save it with -v7.3, or load it with zslearn.datasets."
        ) from error
    return ContainerSource(path, file, keys)


def open_zarr(path: Path, keys: Keys | None) -> ContainerSource:
    """Open a Zarr group."""
    zarr = require("zarr", extra="zarr", purpose=f"Reading {path.name}")
    try:
        group = zarr.open_group(str(path), mode="r")
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInputError(f"{path} is not a readable Zarr group ({error}).") from error
    return ContainerSource(path, group, keys)


class ParquetSource(Source):
    """A column of lists, or of binary values of one length, and a column of labels.

    Binary values are taken for float32, the layout that tables of Arrow and Spark read fastest.
    """

    def __init__(self, path: Path, keys: Keys | None) -> None:
        parquet = require("pyarrow.parquet", extra="table", purpose="Reading Parquet")
        try:
            self._file = parquet.ParquetFile(path)
        except (OSError, ValueError) as error:
            raise InvalidInputError(f"{path} is not a readable Parquet file ({error}).") from error
        names = self._file.schema_arrow.names
        self._keys = keys or (
            _found(path, names, FEATURE_KEYS, "features"),
            _found(path, names, LABEL_KEYS, "labels"),
        )
        for key in self._keys:
            _check_known(path, key, names)
        self.path = path
        self.n_rows = self._file.metadata.num_rows
        first = next(self._file.iter_batches(batch_size=1, columns=[self._keys[0]]), None)
        if first is None:
            raise InvalidInputError(f"{path} holds no rows.")
        self.n_features = self._matrix(first.column(0)).shape[1]

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield blocks of rows."""
        start = 0
        try:
            for batch in self._file.iter_batches(batch_size=block_rows, columns=list(self._keys)):
                if start >= skip * block_rows:
                    X, y = (batch.column(batch.schema.names.index(key)) for key in self._keys)
                    yield Block(start, self._matrix(X), _arrow_labels(y, self.path))
                start += batch.num_rows
        except OSError as error:
            raise InvalidInputError(
                f"{self.path} could not be read after row {start} ({error}). It is damaged or "
                "gone; a checkpoint lets the pass continue."
            ) from error

    def labels(self) -> NDArray:
        """Return the labels of all rows, which are a column of their own."""
        return _arrow_labels(self._file.read(columns=[self._keys[1]]).column(0), self.path)

    def identity(self) -> list[Any]:
        """Return name and shape of the features."""
        return [self.path.name, *self._keys, self.n_rows, self.n_features]

    def _matrix(self, column: Any) -> NDArray:
        """Turn a column of lists or of binary values into a matrix."""
        import pyarrow as pa

        if column.null_count:
            raise InvalidInputError(f"{self.path}: column {self._keys[0]!r} has missing values.")
        if pa.types.is_fixed_size_binary(column.type):
            width = column.type.byte_width // 4
            flat = np.frombuffer(column.buffers()[1], dtype=np.float32)
            return flat.reshape(-1, width)[column.offset : column.offset + len(column)]
        if pa.types.is_binary(column.type):
            values = column.to_pylist()
            lengths = {len(value) for value in values}
            if len(lengths) == 1:
                return np.frombuffer(b"".join(values), dtype=np.float32).reshape(len(values), -1)
        elif hasattr(column, "flatten"):
            flat = column.flatten().to_numpy(zero_copy_only=False)
            if len(column) and flat.dtype.kind in "fiu" and len(flat) % len(column) == 0:
                return flat.reshape(len(column), -1)
        raise InvalidInputError(
            f"{self.path}: column {self._keys[0]!r} must hold lists or binary values of one length."
        )


def plain_labels(y: NDArray, path: Path) -> NDArray:
    """Return labels as a vector of text or whole numbers."""
    flat = y.ravel()
    if flat.dtype.kind == "O":
        flat = np.array([v.decode() if isinstance(v, bytes) else str(v) for v in flat])
    if flat.dtype.kind == "S":
        flat = np.char.decode(flat, "utf-8")
    if flat.dtype.kind == "f":
        whole = np.zeros(len(flat), dtype=np.int64)
        np.copyto(whole, flat, casting="unsafe", where=np.isfinite(flat))
        if not np.array_equal(whole, flat):
            raise InvalidInputError(f"{path}: labels must be whole numbers or text.")
        flat = whole
    return flat


def _arrow_labels(column: Any, path: Path) -> NDArray:
    if column.null_count:
        raise InvalidInputError(f"{path}: the labels have missing values.")
    values = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(False)
    return plain_labels(np.asarray(values), path)


def _found(path: Path, container: Any, usual: tuple[str, ...], what: str) -> str:
    for key in usual:
        if key in container:
            return key
    raise InvalidInputError(
        f"{path} has no {what} under {', '.join(usual)}; it holds {', '.join(container)}. Name "
        "them: open_source(path, keys=(features, labels))."
    )


def _member(path: Path, container: Any, key: str) -> Any:
    _check_known(path, key, container)
    return container[key]


def _check_known(path: Path, key: str, container: Any) -> None:
    if key not in container:
        raise InvalidInputError(f"{path} has no {key!r}; it holds {', '.join(container)}.")
