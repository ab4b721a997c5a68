"""Moments of a stream of blocks: sums of each block, added up in place in a fixed order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn.core.moments import Moments
from zslearn.exceptions import InvalidInputError

Array = NDArray[np.float64]
Group = Any  # whatever names a group of classes: a fold number, a class label

# A float32 product over this many rows is off by about 1e-8 of its size.
PIECE_ROWS = 8192
# Up to this many rows of a class are added in float32; its rounding then stays below 1e-6.
_FEW_ROWS = 32


@dataclass(frozen=True)
class Grouping:
    """Which Gram matrix the samples of a class are added to.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted class labels; None gives every class a matrix of its own.
    groups : ndarray of shape (n_classes,) or None
        Group of each of the classes.
    """

    classes: NDArray | None = None
    groups: NDArray | None = None

    @classmethod
    def of_folds(cls, folds: list[NDArray]) -> Grouping:
        """Make a group of each fold of classes, named by its position."""
        classes = np.concatenate(folds)
        groups = np.repeat(np.arange(len(folds)), [len(fold) for fold in folds])
        order = np.argsort(classes)
        return cls(classes[order], groups[order])

    def of(self, labels: NDArray) -> NDArray:
        """Group of each label."""
        if self.classes is None or self.groups is None:
            return labels
        return self.groups[np.searchsorted(self.classes, labels)]


@dataclass(frozen=True)
class BlockSums:
    """What one block adds: sums of the classes present and a Gram matrix for each group present."""

    n_rows: int
    classes: NDArray
    counts: Array
    sums: NDArray
    grams: Mapping[Group, NDArray]

    @classmethod
    def of(cls, x: NDArray, labels: NDArray, grouping: Grouping | None = None) -> BlockSums:
        """Compute the sums of a block of finite float32 or float64 rows."""
        classes, index = np.unique(labels, return_inverse=True)
        counts = np.bincount(index, minlength=len(classes))
        sums = _class_sums(x, index, counts)
        if grouping is None:
            grams = {0: _gram(x)}
        else:
            grams = _grouped_grams(x, grouping.of(classes), index)
        return cls(len(labels), classes, counts.astype(np.float64), sums, grams)


class MomentSum:
    """Sum of the `BlockSums` of a stream, kept in float64 and changed in place.

    Memory is one Gram matrix a group and one row a class, whatever the number of blocks. Adding
    the same blocks in the same order gives the same bits, also across `state` and `restored`.

    Parameters
    ----------
    n_features : int
        Number of features.
    origin : ndarray of shape (n_features,), optional
        Point that was subtracted from every row; moments are then given centered, about the mean.

    Examples
    --------
    >>> import numpy as np
    >>> total = MomentSum(2)
    >>> total.add(BlockSums.of(np.eye(2), np.array(["cat", "dog"])))
    >>> total.add(BlockSums.of(np.ones((1, 2)), np.array(["cat"])))
    >>> total.moments()[0].sums
    array([[2., 1.],
           [0., 1.]])
    """

    def __init__(self, n_features: int, origin: Array | None = None) -> None:
        self.n_features = n_features
        self.origin = origin
        self.classes: NDArray | None = None
        self.counts: Array = np.zeros(0)
        self.sums: Array = np.zeros((0, n_features))
        self.grams: dict[Group, Array] = {}

    def add(self, block: BlockSums) -> None:
        """Add a block."""
        rows = self._rows_of(block.classes)
        self.counts[rows] += block.counts
        self.sums[rows] += block.sums
        for group, gram in block.grams.items():
            if group in self.grams:
                self.grams[group] += gram
            else:
                self.grams[group] = gram.astype(np.float64)

    def moments(self, grouping: Grouping | None = None) -> dict[Group, Moments]:
        """Return the moments of each group, which share no memory worth speaking of."""
        if self.classes is None:
            raise InvalidInputError("there are no samples to learn from.")
        groups = np.zeros(len(self.classes)) if grouping is None else grouping.of(self.classes)
        return {group: self._of_group(group, groups == group) for group in sorted(self.grams)}

    def state(self) -> dict[str, NDArray]:
        """Return everything as plain arrays."""
        groups = list(self.grams)
        return {
            "classes": np.zeros(0) if self.classes is None else self.classes,
            "counts": self.counts,
            "sums": self.sums,
            "groups": np.array(groups),
            "origin": np.zeros(0) if self.origin is None else self.origin,
            **{f"gram_{number}": self.grams[group] for number, group in enumerate(groups)},
        }

    @classmethod
    def restored(cls, state: Mapping[str, NDArray]) -> MomentSum:
        """Return the sum that gave this state."""
        origin = state["origin"]
        total = cls(state["sums"].shape[1], origin if len(origin) else None)
        total.classes = state["classes"] if len(state["classes"]) else None
        total.counts, total.sums = state["counts"], state["sums"]
        groups = state["groups"].tolist()
        total.grams = {group: state[f"gram_{number}"] for number, group in enumerate(groups)}
        return total

    def _of_group(self, group: Group, kept: NDArray) -> Moments:
        assert self.classes is not None
        origin = np.zeros(self.n_features) if self.origin is None else self.origin
        counts, sums = self.counts[kept], self.sums[kept]
        here = Moments(self.classes[kept], counts, sums, self.grams[group], origin)
        return here if self.origin is None else here.about(here.mean, centered=True)

    def _rows_of(self, classes: NDArray) -> NDArray[np.intp] | slice:
        """Rows of these sorted classes, made where they are new."""
        if self.classes is None:
            known, merged = classes[:0], classes
        else:
            known, merged = self.classes, np.union1d(self.classes, classes)
        if len(merged) > len(known):
            rows = np.searchsorted(merged, known)
            counts, sums = np.zeros(len(merged)), np.zeros((len(merged), self.n_features))
            counts[rows], sums[rows] = self.counts, self.sums
            self.classes, self.counts, self.sums = merged, counts, sums
        # All rows as a slice: adding in place is faster than gathering and scattering.
        return slice(None) if len(classes) == len(merged) else np.searchsorted(merged, classes)


def _class_sums(x: NDArray, index: NDArray[np.intp], counts: NDArray[np.intp]) -> NDArray:
    """Sum the rows of each class by a sparse one-hot product; in float32 if they are few."""
    few = x.dtype == np.float32 and counts.max(initial=0) <= _FEW_ROWS
    ones = np.ones(len(index), dtype=np.float32 if few else np.float64)
    places = (index, np.arange(len(index)))
    one_hot = sparse.csr_array((ones, places), shape=(len(counts), len(index)))
    return np.asarray(one_hot @ x)


def _gram(x: NDArray) -> NDArray:
    """``xᵀx``: float32 for one float32 piece, float64 for more of them."""
    if len(x) <= PIECE_ROWS or x.dtype == np.float64:
        return x.T @ x
    total = np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(x), PIECE_ROWS):
        piece = x[start : start + PIECE_ROWS]
        total += piece.T @ piece
    return total


def _grouped_grams(x: NDArray, groups: NDArray, index: NDArray[np.intp]) -> dict[Group, NDArray]:
    """Gram matrix of the rows of each group; `groups` holds the group of each class."""
    names, group_of_class = np.unique(groups, return_inverse=True)
    if len(names) == 1:
        return {names[0].item(): _gram(x)}
    of_row = group_of_class[index]
    return {name.item(): _gram(x[of_row == i]) for i, name in enumerate(names)}
