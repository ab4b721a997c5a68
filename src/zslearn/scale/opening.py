"""From the user's data, whatever its form, to a source of blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets.table import read_array
from zslearn.encoders.store import NpyFile
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.scale.formats import ArrowSource, ParquetSource, open_hdf5, open_zarr
from zslearn.scale.source import (
    ArraySource,
    BatchSource,
    ChainSource,
    RowSource,
    Source,
    StoreSource,
    label_sum,
)

_HDF5 = (".h5", ".hdf5", ".mat")


def open_source(data: Any, y: Any = None, *, keys: tuple[str, str] | None = None) -> Source:
    """Open labeled features for reading block by block.

    Parameters
    ----------
    data : path, list of paths, array, iterable of (X, y) or Source
        - a folder written by `write_store`, or in the layout of `load_imagenet`,
        - ``.npy``, with `y` the labels or a ``.npy`` file of them,
        - ``.h5``, ``.hdf5``, or ``.mat`` of version 7.3 (extra ``data``),
        - ``.zarr``, a group (extra ``zarr``),
        - ``.parquet``, lists or fixed-size binary values of float32 (extra ``table``),
        - several of these as a list, read one after the other,
        - a table or stream of Arrow (extra ``table``): whatever has ``__arrow_c_stream__``, of
          pyarrow, polars, DuckDB or pandas, with `y` the name of the column of labels,
        - an array, memory map, h5py or Zarr data set, with `y` its labels,
        - an iterable of batches (X, y).
    y : array-like of shape (n_samples,), path or name of a column, optional
        Labels, where they are not in the file.
    keys : tuple of str, optional
        Names of features and labels inside an HDF5, Zarr or Parquet file; by default X or
        features, y or labels.

    Returns
    -------
    Source

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.scale import open_source
    >>> source = open_source(np.eye(3), ["a", "b", "a"])
    >>> [block.y.tolist() for block in source.blocks(2)]
    [['a', 'b'], ['a']]
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _of_path(Path(data), y, keys)
    if isinstance(data, Sequence) and data and isinstance(data[0], (str, os.PathLike)):
        return ChainSource([_of_path(Path(path), None, keys) for path in data])
    streams = hasattr(data, "__arrow_c_stream__")
    if streams and (isinstance(y, str) or keys is not None or not hasattr(data, "shape")):
        return ArrowSource(data, keys or (None, y))
    if hasattr(data, "shape"):
        return _of_array(data, y)
    if isinstance(data, Iterable) and y is None:
        return BatchSource(data)
    raise InvalidInputError(
        "features must be a path, an array with labels y, or an iterable of batches (X, y); got "
        f"{type(data).__name__}."
    )


class NpySource(RowSource):
    """A matrix in a ``.npy`` file, with its labels."""

    def __init__(self, path: Path, y: NDArray) -> None:
        self._file = NpyFile(path)
        self.files = [path]
        self._y = y
        self.n_rows, self.n_features = self._file.shape[0], self._file.shape[1]

    def read(self, start: int, stop: int) -> NDArray:
        """Return the features of these rows."""
        return self._file.read(start, stop)

    def labels(self) -> NDArray:
        """Return the labels of all rows."""
        return self._y

    def identity(self) -> list[Any]:
        """Return name and shape of the file."""
        return [
            self._file.path.name,
            *self._file.shape,
            str(self._file.dtype),
            label_sum(self._y),
        ]


def _of_path(path: Path, y: Any, keys: tuple[str, str] | None) -> Source:
    if not path.exists():
        raise MissingFileError(f"There is no file or folder {str(path)!r}; check the path.")
    ending = path.suffix.lower()
    if ending == ".zarr":
        return open_zarr(path, keys)
    if path.is_dir():
        return StoreSource(path)
    if ending == ".npy":
        return NpySource(path, _labels(y, path))
    if ending in _HDF5:
        return open_hdf5(path, keys)
    if ending == ".parquet":
        return ParquetSource(path, keys)
    raise InvalidInputError(
        f"{path}: features are streamed from a store (a folder), .npy, {', '.join(_HDF5)}, .zarr "
        f"and .parquet; got {ending or 'no ending'!r}."
    )


def _labels(y: Any, path: Path) -> NDArray:
    if y is None:
        raise InvalidInputError(f"{path} holds no labels; pass them, or a .npy file of them, as y.")
    if isinstance(y, (str, os.PathLike)):
        return read_array(Path(y), "y")
    return np.asarray(y)


def _of_array(X: Any, y: Any) -> Source:
    if y is None:
        raise InvalidInputError("an array of features needs its labels; pass them as y.")
    source = ArraySource(X, y)
    if source.file is None:
        return source
    # A whole file mapped by numpy is read instead: faster, and safe if the file is truncated.
    return NpySource(Path(source.file), source.labels())
