"""The pass over blocks of labeled rows that gathers what a plan asks for.

Any thread turns a `Block` into a `Contribution`; the `MomentPass` adds them in the order of the
blocks, so that the result has the same bits whatever the number of threads. Rows to judge models by
are kept in a `Reservoir`. A pass can be written down as plain arrays and taken up again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Whole, check_value
from zslearn.core.learner import FoldedMoments, MomentPlan, smallest_keys
from zslearn.core.moments import BlockSums, BlockTotal, Moments, origin_of
from zslearn.core.rows import Scratch, unmasked
from zslearn.exceptions import InvalidInputError

Rows = tuple[NDArray, NDArray, NDArray[np.uint64]]  # rows, their classes, their keys
# Under these names a reservoir is written down.
_NAMES = ("kept_X", "kept_y", "kept_keys")


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
    >>> under_way.folded().total.n_samples
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
        # `offer` copied what it keeps, and x is scratch memory.
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

    def folded(self) -> FoldedMoments:
        """Return what the pass found."""
        rows = None if self.kept is None else self.kept.rows
        X, y, keys = (None, None, None) if rows is None else rows
        return FoldedMoments(self._parts(), X, y, keys, plan=self.plan)

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
        if total.classes is None:  # nothing was used; folds must still add up one by one
            return () if plan.by_class else (nothing,) * max(1, len(plan.folds))
        if self._grouping is None:
            return (Moments.of_total(total),)
        of_class = self._grouping.of(total.classes)
        groups = total.classes.tolist() if plan.by_class else range(len(plan.folds))
        return tuple(
            Moments.of_total(total, group, of_class == group) if group in total.grams else nothing
            for group in groups
        )


class Reservoir:
    """Rows of each class with the smallest random keys, at most `per_class` of them.

    The key of a row depends on its number and the seed alone. So the sample does not depend on
    blocks, threads or workers, the samples of two parts merge into that of both, and a class with
    no more than `per_class` rows is kept whole.

    Parameters
    ----------
    per_class : int
        Rows kept of each class.
    seed : int, default=0
        Which sample.

    Examples
    --------
    >>> import numpy as np
    >>> kept = Reservoir(2)
    >>> kept.add(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]), np.arange(6))
    >>> kept.rows[1].tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, per_class: int, seed: int = 0) -> None:
        check_value("per_class", per_class, Whole(1))
        self.per_class = per_class
        self.seed = seed
        self._kept: Rows | None = None
        self._waiting: list[Rows] = []
        # For each class, the key above which a row is dropped; stale keys only let more rows in.
        self._limits: tuple[NDArray, NDArray[np.uint64]] | None = None

    @property
    def rows(self) -> Rows | None:
        """Rows kept, their classes and keys, in the order of classes and keys; None if none."""
        self._settle()
        return self._kept

    def add(self, X: NDArray, y: NDArray, numbers: NDArray) -> None:
        """Offer rows with their labels and numbers."""
        self.take(self.offer(X, y, numbers))

    def offer(self, X: NDArray, y: NDArray, numbers: NDArray) -> Rows:
        """Return a copy of the rows that may be kept; changes nothing, so threads may call it."""
        keys = random_keys(numbers, self.seed)
        # Most rows of a long stream come too late to be kept, and are not copied.
        early = np.flatnonzero(keys <= self._limit_of(y))
        chosen = early[smallest_keys(y[early], keys[early], self.per_class)]
        return X[chosen], y[chosen], keys[chosen]

    def take(self, rows: Rows) -> None:
        """Take rows that `offer` returned."""
        if len(rows[1]) == 0:
            return
        self._waiting.append(rows)
        # Settled when half as many wait as are kept: every row is sorted a few times in all.
        kept = 0 if self._kept is None else len(self._kept[1])
        if sum(len(part[1]) for part in self._waiting) > max(256, kept // 2):
            self._settle()

    def state(self) -> dict[str, NDArray]:
        """Return everything as plain arrays."""
        self._settle()
        return {} if self._kept is None else dict(zip(_NAMES, self._kept, strict=True))

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Take over what `state` gave."""
        if _NAMES[0] in state:
            self._waiting.append((state[_NAMES[0]], state[_NAMES[1]], state[_NAMES[2]]))
            self._settle()

    def _limit_of(self, y: NDArray) -> NDArray[np.uint64]:
        limits = np.full(len(y), np.iinfo(np.uint64).max)
        if self._limits is not None:
            classes, keys = self._limits
            place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
            known = classes[place] == y
            limits[known] = keys[place[known]]
        return limits

    def _settle(self) -> None:
        """Drop the rows beyond the limit."""
        if not self._waiting:
            return
        parts = [*([] if self._kept is None else [self._kept]), *self._waiting]
        X, y, keys = (np.concatenate(column) for column in zip(*parts, strict=True))
        chosen = smallest_keys(y, keys, self.per_class)
        self._kept, self._waiting = (X[chosen], y[chosen], keys[chosen]), []
        classes, counts = np.unique(self._kept[1], return_counts=True)
        # Rows are sorted by class and key, so that the last one of a full class is its limit.
        last = self._kept[2][np.cumsum(counts) - 1]
        full = counts == self.per_class
        self._limits = (classes[full], last[full]) if full.any() else None


def random_keys(numbers: NDArray, seed: int) -> NDArray[np.uint64]:
    """Mix row numbers into evenly spread keys, by the finalizer of splitmix64.

    Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    z = np.asarray(numbers).astype(np.uint64)
    z = z + np.uint64((0x9E3779B97F4A7C15 * (seed + 1)) % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def comparable_labels(y: NDArray) -> NDArray:
    """Return labels that can be sorted: text as text, not as objects."""
    if y.dtype != object:
        return y
    if not all(isinstance(label, str) for label in y):
        raise InvalidInputError("labels mix text and numbers or other objects; use one kind.")
    return y.astype(str)


def checked_batch(
    batch: Any, number: int, n_features: int | None = None
) -> tuple[NDArray, NDArray]:
    """Return features and labels of a batch as arrays, or say what is wrong with it.

    Parameters
    ----------
    batch : sequence of two array-likes
        Features of shape (n_rows, n_features), and n_rows labels.
    number : int
        Which batch it is, for messages.
    n_features : int, optional
        Number of features of the earlier batches.
    """
    if not isinstance(batch, Sequence) or len(batch) != 2:
        raise InvalidInputError(
            f"batch {number} must be a pair (X, y); got {type(batch).__name__}."
        )
    X, y = (np.asarray(unmasked(part, f"batch {number}")) for part in batch)
    wanted = (X.shape[-1] if X.ndim else 0) if n_features is None else n_features
    if X.ndim != 2 or y.shape != (X.shape[0],) or X.shape[1] != wanted:
        raise InvalidInputError(
            f"batch {number} must hold features of shape (n, {wanted}) and n labels; got "
            f"{X.shape} and {y.shape}."
        )
    return X, y
