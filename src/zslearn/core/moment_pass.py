"""The pass over blocks of labeled rows that gathers what a plan asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zslearn.core.block_sums import BlockSums, BlockTotal
from zslearn.core.gathered import Gathered
from zslearn.core.learner import MomentPlan
from zslearn.core.moments import Moments, origin_of
from zslearn.core.reservoir import Reservoir, Rows
from zslearn.core.rows import Scratch
from zslearn.exceptions import InvalidInputError


@dataclass(frozen=True)
class Block:
    """Consecutive rows of the data.

    Attributes
    ----------
    first : int
        Number of the first row.
    X : ndarray of shape (n_rows, n_features)
        Features, as stored.
    y : ndarray of shape (n_rows,)
        Labels, as stored.
    """

    first: int
    X: NDArray
    y: NDArray

    @property
    def numbers(self) -> NDArray[np.intp]:
        """Number of each row."""
        return self.first + np.arange(len(self.y))


@dataclass(frozen=True)
class Contribution:
    """What a block adds; nothing if none of its rows are used."""

    n_rows: int
    sums: BlockSums | None = None
    rows: Rows | None = None


class MomentPass:
    """A pass in progress: the sums so far, and the number of blocks in them.

    Parameters
    ----------
    plan : MomentPlan
        What to gather, with classes labeled as in the data.
    n_features : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> under_way = MomentPass(MomentPlan(), 2)
    >>> under_way.add(under_way.contribution(Block(0, np.eye(2), np.array(["cat", "dog"]))))
    >>> under_way.gathered().total.n_samples
    2.0
    """

    def __init__(self, plan: MomentPlan, n_features: int) -> None:
        self.plan = plan
        self.total = BlockTotal(n_features)
        self.kept = Reservoir(plan.rows_per_class) if plan.folds else None
        self.n_blocks = 0
        self.n_rows = 0
        self._grouping = plan.grouping
        self._scratch = Scratch()

    def contribution(self, block: Block) -> Contribution:
        """Compute what a block adds; changes no sums, so any thread may call it."""
        X, y, numbers = block.X, comparable_labels(block.y), block.numbers
        if self.plan.classes is not None:
            used = np.isin(y, self.plan.classes)
            if not used.all():
                X, y, numbers = X[used], y[used], numbers[used]
        if len(y) == 0:
            return Contribution(len(block.y))
        x = self.plan.transform.apply(X, numbers, self._scratch)
        rows = None if self.kept is None else self.kept.offer(x, y, numbers)
        if self.total.origin is not None:
            x -= self.total.origin.astype(x.dtype)
        return Contribution(len(block.y), BlockSums.of(x, y, self._grouping), rows)

    def set_origin(self, block: Block) -> None:
        """Center about the mean of the first block: any point near the data keeps all digits."""
        if self.plan.centered and self.total.origin is None:
            self.total.origin = origin_of(self.plan.transform.apply(block.X, block.numbers))

    def add(self, contribution: Contribution) -> None:
        """Add what a block adds."""
        if contribution.sums is not None:
            self.total.add(contribution.sums)
        if self.kept is not None and contribution.rows is not None:
            self.kept.take(contribution.rows)
        self.n_blocks += 1
        self.n_rows += contribution.n_rows

    def gathered(self) -> Gathered:
        """Return what the pass found."""
        rows = None if self.kept is None else self.kept.rows
        X, y, keys = (None, None, None) if rows is None else rows
        return Gathered(self._parts(), X, y, keys, plan=self.plan)

    def state(self) -> dict[str, NDArray]:
        """Return everything as plain arrays."""
        progress = {"progress": np.array([self.n_blocks, self.n_rows])}
        kept = {} if self.kept is None else self.kept.state()
        return {**progress, **self.total.state(), **kept}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Take over what `state` gave."""
        self.total = BlockTotal.restored(state)
        if self.kept is not None:
            self.kept.restore(state)
        self.n_blocks, self.n_rows = (int(number) for number in state["progress"])

    def _parts(self) -> tuple[Moments, ...]:
        """Moments of every fold, of every class present, or of everything."""
        total, plan = self.total, self.plan
        nothing = Moments.empty(total.n_features, centered=plan.centered)
        if total.classes is None:
            return () if plan.by_class else (nothing,) * max(1, len(plan.folds))
        if self._grouping is None:
            return (Moments.of_total(total),)
        of_class = self._grouping.of(total.classes)
        groups = total.classes.tolist() if plan.by_class else range(len(plan.folds))
        return tuple(
            Moments.of_total(total, group, of_class == group) if group in total.grams else nothing
            for group in groups
        )


def comparable_labels(y: NDArray) -> NDArray:
    """Return labels that can be sorted: text as text, not as objects."""
    if y.dtype != object:
        return y
    if not all(isinstance(label, str) for label in y):
        raise InvalidInputError("labels mix text and numbers or other objects; use one kind.")
    return y.astype(str)
