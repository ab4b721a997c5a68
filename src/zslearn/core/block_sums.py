"""Sums of blocks of labeled rows, added up in place in a fixed order, from which moments come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Matrix = Any  # dense array or scipy sparse, one row per sample
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
        Sorted class labels; None gives every class its own matrix.
    groups : ndarray of shape (n_classes,) or None
        Group of each of the classes.
    """

    classes: NDArray | None = None
    groups: NDArray | None = None

    @classmethod
    def of_folds(cls, folds: tuple[NDArray, ...]) -> Grouping:
        """Make one group per fold of classes, named by its position."""
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

    classes: NDArray
    counts: Array
    sums: NDArray
    grams: Mapping[Group, NDArray]

    @classmethod
    def of(
        cls,
        x: Matrix,
        labels: NDArray,
        grouping: Grouping | None = None,
        weights: Array | None = None,
    ) -> BlockSums:
        """Compute the sums of a block of float32 or float64 rows, dense or sparse."""
        classes, index = np.unique(labels, return_inverse=True)
        counts = np.bincount(index, weights, minlength=len(classes))
        sums = _class_sums(x, index, counts, weights)
        root = x if weights is None else _scaled_rows(x, np.sqrt(weights))
        if grouping is None:
            grams = {0: gram_of(root)}
        else:
            grams = _grouped_grams(root, grouping.of(classes), index)
        return cls(classes, counts.astype(np.float64), sums, grams)


class BlockTotal:
    """Sum of the `BlockSums` of a stream, kept in float64 and changed in place.

    Memory is one Gram matrix per group and one row per class, whatever the number of blocks. Adding
    the same blocks in the same order gives the same bits, also across `state` and `restored`.

    Parameters
    ----------
    n_features : int
        Number of features.
    origin : ndarray of shape (n_features,), optional
        Point that was subtracted from every row.

    Examples
    --------
    >>> import numpy as np
    >>> total = BlockTotal(2)
    >>> total.add(BlockSums.of(np.eye(2), np.array(["cat", "dog"])))
    >>> total.add(BlockSums.of(np.ones((1, 2)), np.array(["cat"])))
    >>> total.sums
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
    def restored(cls, state: Mapping[str, NDArray]) -> BlockTotal:
        """Return the total that gave this state."""
        origin = state["origin"]
        total = cls(state["sums"].shape[1], origin if len(origin) else None)
        total.classes = state["classes"] if len(state["classes"]) else None
        total.counts, total.sums = state["counts"], state["sums"]
        groups = state["groups"].tolist()
        total.grams = {group: state[f"gram_{number}"] for number, group in enumerate(groups)}
        return total

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


def as_float(block: Matrix) -> Matrix:
    """Keep float32 and float64, widen half precision to float32 and anything else to float64."""
    if block.dtype in (np.float32, np.float64):
        return block
    return block.astype(np.float32 if block.dtype == np.float16 else np.float64)


def gram_of(x: Matrix) -> NDArray:
    """``xᵀx``: float32 for one float32 piece, float64 for more of them."""
    if x.shape[0] <= PIECE_ROWS or x.dtype == np.float64 or sparse.issparse(x):
        product = x.T @ x
        return product.toarray() if sparse.issparse(product) else product
    total = np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(x), PIECE_ROWS):
        piece = x[start : start + PIECE_ROWS]
        total += piece.T @ piece
    return total


def _class_sums(
    x: Matrix, index: NDArray[np.intp], counts: NDArray, weights: Array | None
) -> NDArray:
    """Sum the rows of each class by a sparse one-hot product; in float32 if they are few."""
    few = weights is None and x.dtype == np.float32 and counts.max(initial=0) <= _FEW_ROWS
    ones = np.ones(len(index), dtype=np.float32 if few else np.float64)
    places = (index, np.arange(len(index)))
    values = ones if weights is None else weights
    product = sparse.csr_array((values, places), shape=(len(counts), len(index))) @ x
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def _scaled_rows(x: Matrix, factor: Array) -> Matrix:
    """Multiply each row of x by its factor."""
    if sparse.issparse(x):
        return sparse.diags_array(factor.astype(x.dtype)) @ x
    return x * factor[:, None].astype(x.dtype)


def _grouped_grams(x: Matrix, groups: NDArray, index: NDArray[np.intp]) -> dict[Group, NDArray]:
    """Gram matrix of the rows of each group; `groups` holds the group of each class."""
    names, group_of_class = np.unique(groups, return_inverse=True)
    if len(names) == 1:
        return {names[0].item(): gram_of(x)}
    of_row = group_of_class[index]
    return {name.item(): gram_of(x[of_row == i]) for i, name in enumerate(names)}
