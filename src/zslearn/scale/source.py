"""Where blocks of rows come from: the interface, arrays and iterators of batches."""

from __future__ import annotations

import mmap
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from zslearn.core.moment_pass import Block, checked_batch
from zslearn.core.rows import unmasked
from zslearn.encoders.base import EncoderIdentity
from zslearn.encoders.store import KIND, Store
from zslearn.exceptions import InvalidInputError, MissingFileError

# Rows whose content distinguishes data from other data of the same shape.
_SAMPLE_ROWS = 16


class Source(ABC):
    """Labeled rows that are read block by block.

    Attributes
    ----------
    n_rows : int or None
        Number of rows, if known in advance.
    n_features : int
        Number of features.
    names : ndarray or None
        Class names, if the labels are positions in this array.
    seen : ndarray or None
        Classes to train on, if the source separates them from unseen ones.
    files : sequence of Path
        Files that are read.
    """

    n_rows: int | None
    n_features: int
    names: NDArray | None = None
    seen: NDArray | None = None
    files: Sequence[Path] = ()
    encoder: EncoderIdentity | None = None

    @abstractmethod
    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield blocks of `block_rows` rows, without the first `skip` of them."""

    @abstractmethod
    def labels(self) -> NDArray | None:
        """Return the labels of all rows, or None if that would mean reading everything."""

    @abstractmethod
    def identity(self) -> list[Any]:
        """Return what identifies this source, as JSON-ready values."""

    def content(self) -> list[Any]:
        """Return what shows that the data changed: sizes and times of change of the files."""
        stats = [path.stat() for path in self.files if path.exists()]
        return [[stat.st_size, stat.st_mtime_ns] for stat in stats]


class RowSource(Source):
    """A source that can read any range of rows."""

    n_rows: int

    @abstractmethod
    def read(self, start: int, stop: int) -> NDArray:
        """Return the features of these rows."""

    @abstractmethod
    def labels(self) -> NDArray:
        """Return the labels of all rows."""

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield blocks of rows."""
        y = self.labels()
        if len(y) != self.n_rows:
            raise InvalidInputError(f"{self.n_rows} rows of features have {len(y)} labels.")
        for start in range(skip * block_rows, self.n_rows, block_rows):
            stop = min(start + block_rows, self.n_rows)
            yield Block(start, self.read(start, stop), y[start:stop])

    def content(self) -> list[Any]:
        """Return sizes and times of the files, and a checksum of some rows."""
        numbers = np.linspace(0, self.n_rows - 1, min(self.n_rows, _SAMPLE_ROWS)).astype(int)
        rows = [self.read(number, number + 1).tobytes() for number in numbers.tolist()]
        return [*super().content(), crc32(b"".join(rows))]


class ArraySource(RowSource):
    """An array, or anything with a shape that gives an array when sliced, with its labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        NumPy array or memory map, data set of h5py, array of Zarr.
    y : ndarray of shape (n_samples,)
        Labels.
    rows : ndarray of int, optional
        Use these rows only, in this order.
    """

    def __init__(self, X: Any, y: Any, rows: NDArray | None = None) -> None:
        X, labels = unmasked(X, "X"), np.asarray(unmasked(y, "y"))
        if len(getattr(X, "shape", ())) != 2 or labels.shape != (X.shape[0],):
            raise InvalidInputError(
                "features must have the shape (n_samples, n_features) and labels one entry per "
                f"sample; got {getattr(X, 'shape', type(X).__name__)} and {labels.shape}."
            )
        self.array, self._rows = X, rows
        self._y = labels if rows is None else labels[rows]
        self.n_rows, self.n_features = len(self._y), int(X.shape[1])

    @property
    def file(self) -> str | None:
        """The ``.npy`` file the array maps, if it maps one whole."""
        X = self.array
        whole = isinstance(X, np.memmap) and isinstance(X.base, mmap.mmap)
        path = str(X.filename or "") if whole else ""
        return path if path.endswith(".npy") and X.flags.c_contiguous else None

    def numbers(self, start: int, stop: int) -> NDArray[np.intp]:
        """Return where these rows are in the array."""
        return np.arange(start, stop) if self._rows is None else self._rows[start:stop]

    def read(self, start: int, stop: int) -> NDArray:
        """Return the features of these rows."""
        where: Any = slice(start, stop) if self._rows is None else self._rows[start:stop]
        return np.asarray(self.array[where])

    def labels(self) -> NDArray:
        """Return the labels of all rows."""
        return self._y

    def identity(self) -> list[Any]:
        """Return shape and kind of the array."""
        return ["array", self.n_rows, self.n_features, str(self.array.dtype), label_sum(self._y)]


class BatchSource(Source):
    """Batches as they come from an iterable of (X, y); each is one block.

    Parameters
    ----------
    batches : iterable of (X, y)
        Batches; the first is taken at once, to see the number of features.
    """

    n_rows = None

    def __init__(self, batches: Iterable[tuple[Any, Any]]) -> None:
        iterator = iter(batches)
        try:
            first = checked_batch(next(iterator), 0)
        except StopIteration:
            raise InvalidInputError("the iterator gave no batch to learn from.") from None
        self.n_features = first[0].shape[1]
        self._batches: Iterator[tuple[Any, Any]] | None = chain([first], iterator)

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield the batches as they are; `block_rows` has no effect."""
        if self._batches is None:
            raise InvalidInputError(
                "the batches were read before; an iterator can be read only once. Make a new one."
            )
        batches, self._batches = self._batches, None
        first = 0
        for number, batch in enumerate(batches):
            X, y = checked_batch(batch, number, self.n_features)
            if number >= skip:
                yield Block(first, X, y)
            first += len(y)

    def labels(self) -> None:
        """Return None: the labels come with the batches."""

    def identity(self) -> list[Any]:
        """Return the little that is known."""
        return ["batches", self.n_features]


class ChainSource(Source):
    """Several sources one after the other; blocks do not cross their boundaries.

    Labels are class names where the sources have names, because their numbers may differ.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        widths = sorted({source.n_features for source in sources})
        if len(widths) != 1:
            raise InvalidInputError(
                f"files to be read as one need the same number of features; got {widths}."
            )
        self.sources = list(sources)
        self.n_features = widths[0]
        counts = [source.n_rows for source in sources]
        self.n_rows = None if None in counts else sum(count or 0 for count in counts)
        if len({source.names is None for source in sources}) > 1:
            raise InvalidInputError("some of the files name their classes and some number them.")
        self.seen = sources[0].seen
        encoders = [source.encoder for source in sources if source.encoder is not None]
        if any(not encoder.matches(encoders[0]) for encoder in encoders):
            listed = ", ".join(dict.fromkeys(map(str, encoders)))
            raise InvalidInputError(f"the stores were made by several encoders: {listed}.")
        self.encoder = encoders[0] if len(encoders) == len(sources) else None

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield the blocks of each source, with rows numbered across all of them."""
        first = 0
        for source in self.sources:
            n_blocks = -(-(source.n_rows or 0) // block_rows)
            here = min(skip, n_blocks)
            for block in source.blocks(block_rows, here):
                yield Block(first + block.first, block.X, _named(block.y, source))
            skip -= here
            first += source.n_rows or 0

    def labels(self) -> NDArray | None:
        """Return the labels of all rows, if every source knows them."""
        parts = [source.labels() for source in self.sources]
        known = [
            _named(part, source)
            for part, source in zip(parts, self.sources, strict=True)
            if part is not None
        ]
        return np.concatenate(known) if len(known) == len(parts) else None

    def identity(self) -> list[Any]:
        """Return the identity of each source."""
        return [source.identity() for source in self.sources]

    def content(self) -> list[Any]:
        """Return what shows that the data of a source changed."""
        return [source.content() for source in self.sources]


def label_sum(y: NDArray) -> int:
    """Return a checksum of labels, to notice when they have been replaced."""
    # An array of objects holds addresses, which differ in every process.
    plain = y.astype(str) if y.dtype == object else y
    return crc32(np.ascontiguousarray(plain).tobytes())


def _named(y: NDArray, source: Source) -> NDArray:
    return y if source.names is None else source.names[y]


class StoreSource(RowSource):
    """Rows of a `zslearn.encoders.Store`.

    Parameters
    ----------
    folder : path-like
        The store, as `zslearn.encoders.write_store` writes it or in the layout of
        `zslearn.datasets.load_imagenet`; with ``seen.txt`` and ``unseen.txt`` training uses only
        rows of the seen classes.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.store = Store(folder)
        self.n_rows, self.n_features = self.store.n_rows, self.store.n_features
        self.files = self.store.files()
        self.names, self.seen = self.store.classes, self.store.seen
        self.encoder = self.store.encoder
        if not self.store.is_labeled:
            raise MissingFileError(
                f"{folder} has no labels: neither y.npy nor y-00000.npy is there."
            )

    def read(self, start: int, stop: int) -> NDArray:
        """Return the features of these rows."""
        return self.store.read(start, stop)

    def labels(self) -> NDArray:
        """Return the labels of all rows: class numbers if the store names its classes."""
        return self.store.labels()

    def identity(self) -> list[Any]:
        """Return names and sizes of the files."""
        return [KIND, self.store.shards(), label_sum(self.labels())]
