"""One pass over a source: blocks are read, processed by threads and added up in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

from zslearn._parameters import Whole, check_value
from zslearn._progress import progress_bar
from zslearn.core.learner import Gathered, MomentPlan
from zslearn.core.moment_pass import Block, MomentPass
from zslearn.core.moments import PIECE_ROWS
from zslearn.core.threads import map_in_order, n_threads
from zslearn.scale.checkpoint import Checkpoint
from zslearn.scale.planning import stored_plan
from zslearn.scale.source import Source

# A block of rows as read; each thread holds one and its transformed copy, which bounds memory.
_BLOCK_BYTES = 128 * 2**20


def run_pass(
    plan: MomentPlan,
    source: Source,
    *,
    block_rows: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool = False,
) -> Gathered:
    """Read all blocks of a source and return what they add up to, labeled by class names."""
    size = checked_block_rows(block_rows, source.n_features, plan)
    under_way = MomentPass(stored_plan(plan, source), source.n_features)
    identity = "" if checkpoint is None else _identity(plan, source, size)
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
    return named(under_way.gathered(), plan, source)


def named(gathered: Gathered, plan: MomentPlan, source: Source) -> Gathered:
    """Put class names in place of the labels of a source that numbers its classes."""
    return gathered if source.names is None else gathered.named(source.names, plan)


def checked_block_rows(block_rows: int | None, n_features: int, plan: MomentPlan) -> int:
    """Return the rows of a block: as given, or a number that suits caches, folds and memory."""
    if block_rows is None:
        # With folds a block is split by fold, and pieces of few rows multiply slowly.
        wanted = PIECE_ROWS if plan.grouping is None else 2 * PIECE_ROWS
        return max(256, min(wanted, _BLOCK_BYTES // (4 * n_features)))
    check_value("block_rows", block_rows, Whole(1))
    return int(block_rows)


def _with_origin(blocks: Iterator[Block], under_way: MomentPass) -> Iterator[Block]:
    first = next(blocks, None)
    if first is None:
        return iter(())
    under_way.set_origin(first)
    return chain([first], blocks)


def _identity(plan: MomentPlan, source: Source, block_rows: int) -> str:
    """Identify this pass, so that its sums are never mixed with those of another."""
    data = {"source": source.identity(), "content": source.content()}
    return json.dumps({**data, "block_rows": block_rows, **plan.facts()})
