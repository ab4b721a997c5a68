"""Data cut into pieces that are read and summed wherever an engine runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.encoder_identity import EncoderIdentity
from zslearn.core.learner import Gathered, MomentPlan
from zslearn.core.moment_pass import Block, MomentPass
from zslearn.core.threads import limit_blas
from zslearn.scale.block_pass import checked_block_rows
from zslearn.scale.opening import open_source
from zslearn.scale.source import ArraySource, ChainSource, Source

_PIECE_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Piece:
    """Part of the data that one task reads: an array with labels, or a path."""

    first: int
    X: Any
    y: Any = None

    def opened(self) -> Source:
        """Open the data where the task runs."""
        if self.y is None:
            return ChainSource([open_source(self.X)])
        return ArraySource(np.asarray(self.X), self.y)


@dataclass(frozen=True)
class RowsOfFile:
    """Rows of a ``.npy`` file that the task reads, in place of the rows themselves."""

    path: str
    rows: NDArray[np.intp]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        mapped = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return np.asarray(mapped[self.rows], dtype=dtype)


class Outline(Source):
    """What planning needs to know about data that is read elsewhere."""

    def __init__(
        self,
        n_features: int,
        present: NDArray,
        seen: NDArray | None = None,
        encoder: EncoderIdentity | None = None,
    ) -> None:
        self.n_rows, self.n_features, self._present = None, n_features, present
        self.seen, self.encoder = seen, encoder

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield nothing: the tasks read."""
        return iter(())

    def labels(self) -> NDArray:
        """Return one label of each class."""
        return self._present

    def identity(self) -> list[Any]:
        """Return nothing: there is no checkpoint."""
        return []


def pieces_of_array(source: ArraySource) -> tuple[Outline, list[Piece]]:
    """Cut an array into pieces; for a mapped file only the row numbers are sent."""
    step = max(1024, _PIECE_BYTES // (4 * source.n_features))
    pieces = []
    for start in range(0, source.n_rows, step):
        rows = source.numbers(start, min(start + step, source.n_rows))
        X: Any = RowsOfFile(source.file, rows) if source.file else source.array[rows]
        pieces.append(Piece(start, X, source.labels()[start : start + len(rows)]))
    return Outline(source.n_features, np.unique(source.labels())), pieces


def pieces_of_files(paths: Sequence[Any]) -> tuple[Outline, list[Piece]]:
    """Make a piece of each file."""
    sources = [open_source(path) for path in paths]
    chain = ChainSource(sources)
    labels = chain.labels()
    firsts = np.cumsum([0, *(source.n_rows or 0 for source in sources)])
    pieces = [Piece(int(first), path) for first, path in zip(firsts, paths, strict=False)]
    present = np.empty(0) if labels is None else np.unique(labels)
    return Outline(chain.n_features, present, chain.seen, chain.encoder), pieces


def gather_piece(piece: Piece, plan: MomentPlan) -> Gathered:
    """Sum up one piece of the data, in one thread."""
    source = piece.opened()
    under_way = MomentPass(plan, source.n_features)
    size = checked_block_rows(None, source.n_features, plan)
    with limit_blas(1):
        for block in source.blocks(size):
            under_way.set_origin(block)
            moved = Block(piece.first + block.first, block.X, block.y)
            under_way.add(under_way.contribution(moved))
    return under_way.gathered()
