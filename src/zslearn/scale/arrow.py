"""Arrow tables and streams from any library."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.core.moment_pass import Block
from zslearn.exceptions import InvalidInputError
from zslearn.scale.formats import LABEL_KEYS, arrow_labels, found_key, stacked_rows
from zslearn.scale.source import Source

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
