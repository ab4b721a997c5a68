"""One pass over a source: blocks are read, worked on by threads and added up in their order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Whole, check_value
from zslearn._progress import progress_bar
from zslearn.core.moment_sum import PIECE_ROWS, BlockSums, MomentSum
from zslearn.core.reservoir import Reservoir, Rows
from zslearn.core.threads import map_in_order, n_threads
from zslearn.exceptions import InvalidInputError
from zslearn.scale.checkpoint import Checkpoint
from zslearn.scale.plan import Outcome, Plan
from zslearn.scale.rows import Scratch
from zslearn.scale.source import Block, Source, label_sum

# A block of rows as read; with its transformed copy and one such pair a thread, memory is bounded.
_BLOCK_BYTES = 128 * 2**20


@dataclass(frozen=True)
class Contribution:
    """What a block adds; nothing if none of its rows is used."""

    n_rows: int
    sums: BlockSums | None = None
    rows: Rows | None = None


class Pass:
    """A pass under way: the sums so far, and the number of blocks in them.

    Parameters
    ----------
    plan : Plan
        What the pass is for.
    n_features : int
        Number of features.
    """

    def __init__(self, plan: Plan, n_features: int) -> None:
        self.plan = plan
        self.total = MomentSum(n_features)
        self.kept = Reservoir(plan.per_class) if plan.folded else None
        self.n_blocks = 0
        self.n_rows = 0
        self._scratch = Scratch()

    def contribution(self, block: Block) -> Contribution:
        """Compute what a block adds; changes no sums, so any thread may call it."""
        numbers = block.first + np.arange(len(block.y))
        X, y = block.X, _comparable(block.y)
        if self.plan.labels is not None:
            used = np.isin(y, self.plan.labels)
            if not used.all():
                X, y, numbers = X[used], y[used], numbers[used]
        if len(y) == 0:
            return Contribution(len(block.y))
        x = self.plan.transform.apply(X, numbers, self._scratch)
        rows = None if self.kept is None else self.kept.offer(x, y, numbers)
        if self.total.origin is not None:
            x -= self.total.origin.astype(x.dtype)
        return Contribution(len(block.y), BlockSums.of(x, y, self.plan.grouping), rows)

    def set_origin(self, block: Block) -> None:
        """Center about the mean of the first block: any point near the data keeps all digits."""
        if self.plan.centered and self.total.origin is None:
            x = self.plan.transform.apply(block.X, block.first + np.arange(len(block.y)))
            mean = x.mean(axis=0, dtype=np.float64)
            self.total.origin = mean.astype(x.dtype).astype(np.float64)

    def add(self, contribution: Contribution) -> None:
        """Add what a block adds."""
        if contribution.sums is not None:
            self.total.add(contribution.sums)
        if self.kept is not None and contribution.rows is not None:
            self.kept.take(contribution.rows)
        self.n_blocks += 1
        self.n_rows += contribution.n_rows

    def outcome(self) -> Outcome:
        """Return what the pass found."""
        moments = self.total.moments(self.plan.grouping)
        if self.kept is None:
            return Outcome(moments)
        return Outcome(moments, self.kept.X, self.kept.y)

    def state(self) -> dict[str, NDArray]:
        """Return everything as plain arrays."""
        progress = {"progress": np.array([self.n_blocks, self.n_rows])}
        kept = {} if self.kept is None else self.kept.state()
        return {**progress, **self.total.state(), **kept}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Take over what `state` gave."""
        self.total = MomentSum.restored(state)
        if self.kept is not None:
            self.kept.restore(state)
        self.n_blocks, self.n_rows = (int(number) for number in state["progress"])


def run_pass(
    plan: Plan,
    source: Source,
    *,
    block_rows: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool = False,
) -> Outcome:
    """Read all blocks of a source and return what they add up to."""
    size = checked_block_rows(block_rows, source.n_features, plan)
    under_way = Pass(plan, source.n_features)
    identity = _identity(plan, source, size)
    state = checkpoint.read(identity) if checkpoint is not None else None
    if state is not None:
        under_way.restore(state)
    blocks = _with_origin(source.blocks(size, under_way.n_blocks), under_way)
    with progress_bar(source.n_rows, "moments", " rows", show=progress) as bar:
        bar.update(under_way.n_rows)
        try:
            for contribution in map_in_order(under_way.contribution, blocks, n_threads()):
                under_way.add(contribution)
                bar.update(contribution.n_rows)
                if checkpoint is not None and under_way.n_blocks % checkpoint.every == 0:
                    checkpoint.write(identity, under_way.state())
        except BaseException:
            if checkpoint is not None and under_way.n_blocks:
                checkpoint.write(identity, under_way.state())
            raise
    return under_way.outcome()


def checked_block_rows(block_rows: int | None, n_features: int, plan: Plan) -> int:
    """Return the rows of a block: the user's, or some that suit caches, folds and memory."""
    if block_rows is None:
        # A block in folds is cut by fold, and pieces of few rows multiply slowly.
        wanted = PIECE_ROWS if plan.grouping is None else 2 * PIECE_ROWS
        return max(256, min(wanted, _BLOCK_BYTES // (4 * n_features)))
    check_value("block_rows", block_rows, Whole(1))
    return block_rows


def _with_origin(blocks: Iterator[Block], under_way: Pass) -> Iterator[Block]:
    first = next(blocks, None)
    if first is None:
        return iter(())
    under_way.set_origin(first)
    return chain([first], blocks)


def _identity(plan: Plan, source: Source, block_rows: int) -> str:
    """Tell this pass from any other whose sums must not be mixed with it."""
    grouping = plan.grouping
    facts: dict[str, Any] = {
        "source": source.identity(),
        "block_rows": block_rows,
        "transform": asdict(plan.transform),
        "centered": plan.centered,
        "per_class": plan.per_class,
        "labels": None if plan.labels is None else label_sum(plan.labels),
        "groups": None
        if grouping is None
        else []
        if grouping.groups is None
        else grouping.groups.tolist(),
    }
    return json.dumps(facts)


def _comparable(y: NDArray) -> NDArray:
    """Return labels that can be sorted: text as text, not as objects."""
    if y.dtype != object:
        return y
    if not all(isinstance(label, str) for label in y):
        raise InvalidInputError("labels mix text and numbers or other objects; use one kind.")
    return y.astype(str)
