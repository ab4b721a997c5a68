"""A bounded random sample of the rows of each class of a stream, however the stream is cut."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Whole, check_value

Rows = tuple[NDArray, NDArray, NDArray[np.uint64]]  # rows, their classes, their keys
_NAMES = ("kept_X", "kept_y", "kept_keys")


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
        early = np.flatnonzero(keys <= self._limit_of(y))
        chosen = early[smallest_keys(y[early], keys[early], self.per_class)]
        return X[chosen], y[chosen], keys[chosen]

    def take(self, rows: Rows) -> None:
        """Take rows that `offer` returned."""
        if len(rows[1]) == 0:
            return
        self._waiting.append(rows)
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
        last = self._kept[2][np.cumsum(counts) - 1]
        full = counts == self.per_class
        self._limits = (classes[full], last[full]) if full.any() else None


def random_keys(numbers: NDArray, seed: int) -> NDArray[np.uint64]:
    """Mix row numbers into evenly spread keys (the finalizer of splitmix64)."""
    z = np.asarray(numbers).astype(np.uint64)
    z = z + np.uint64((0x9E3779B97F4A7C15 * (seed + 1)) % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def smallest_keys(y: NDArray, keys: NDArray[np.uint64], most: int) -> NDArray[np.intp]:
    """Rows with the smallest keys of each class, sorted by class and key."""
    _, index = np.unique(y, return_inverse=True)
    order = np.lexsort((keys, index))
    starts = np.flatnonzero(np.diff(index[order], prepend=-1))
    rank = np.arange(len(y)) - np.repeat(starts, np.diff(starts, append=len(y)))
    return order[rank < most]
