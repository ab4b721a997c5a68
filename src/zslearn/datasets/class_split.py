"""Which classes of a data set are seen and which are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.exceptions import InvalidInputError


@dataclass(frozen=True, eq=False)
class ClassSplit:
    """Seen and unseen classes, and for the generalized setting which seen rows train and test.

    Parameters
    ----------
    seen : array-like of shape (n_seen,)
        Classes whose samples may be trained on.
    unseen : array-like of shape (n_unseen,)
        Classes held out, none of them seen.
    train : array-like of int of shape (n_train,), optional
        Rows to train on, all of seen classes. None means every row of a seen class.
    test_seen : array-like of int of shape (n_test_seen,), optional
        Rows of seen classes kept for testing, none of them in `train`. None means the data set
        has none, so only the conventional setting can be measured.
    test_unseen : array-like of int of shape (n_test_unseen,), optional
        Rows to test on, all of unseen classes. None means every row of an unseen class.

    Attributes
    ----------
    seen, unseen : ndarray
        The class labels, read-only.
    train, test_seen, test_unseen : ndarray of int or None
        The row indices, read-only.

    Raises
    ------
    InvalidInputError
        If a side is empty, a class is on both sides or twice on one, or the rows are not indices,
        overlap, or `test_seen` comes without `train`.

    Examples
    --------
    >>> from zslearn.datasets import ClassSplit
    >>> ClassSplit(seen=["bat", "cow"], unseen=["fox"])
    ClassSplit(2 seen, 1 unseen)
    """

    seen: NDArray[Any] | Sequence[Any]
    unseen: NDArray[Any] | Sequence[Any]
    train: NDArray[Any] | Sequence[int] | None = None
    test_seen: NDArray[Any] | Sequence[int] | None = None
    test_unseen: NDArray[Any] | Sequence[int] | None = None

    def __post_init__(self) -> None:
        for side in ("seen", "unseen"):
            object.__setattr__(self, side, _class_list(getattr(self, side), side))
        for rows in ("train", "test_seen", "test_unseen"):
            object.__setattr__(self, rows, _row_list(getattr(self, rows), rows))
        _check_disjoint(self.seen, self.unseen, "Class", "seen and unseen")
        if self.test_seen is not None:
            if self.train is None:
                raise InvalidInputError("test_seen rows need train rows as well; got none.")
            _check_disjoint(self.train, self.test_seen, "Row", "train and test_seen")

    def __repr__(self) -> str:
        rows = "" if self.train is None else f", {len(self.train)} train rows"
        if self.test_seen is not None:
            rows += f", {len(self.test_seen)} test_seen rows"
        return f"ClassSplit({len(self.seen)} seen, {len(self.unseen)} unseen{rows})"


def _class_list(classes: ArrayLike, side: str) -> NDArray[Any]:
    """Return a read-only copy of the class labels of one side."""
    labels = np.array(classes)
    if labels.ndim != 1 or not labels.size:
        raise InvalidInputError(
            f"{side} must be a non-empty list of class labels; got shape {labels.shape}."
        )
    _check_no_repeats(labels, side, "class")
    labels.flags.writeable = False
    return labels


def _row_list(rows: ArrayLike | None, name: str) -> NDArray[Any] | None:
    """Return a read-only copy of the row indices, or None."""
    if rows is None:
        return None
    indices = np.array(rows)
    if indices.ndim != 1 or not indices.size or indices.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{name} must be a non-empty list of row indices; got shape {indices.shape} of type "
            f"{indices.dtype}."
        )
    if indices.min() < 0:
        raise InvalidInputError(f"{name} has the negative row index {indices.min()}.")
    _check_no_repeats(indices, name, "row")
    indices.flags.writeable = False
    return indices


def _check_no_repeats(values: NDArray[Any], name: str, thing: str) -> None:
    """Refuse a list that holds a value twice."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < len(values):
        raise InvalidInputError(f"{name} lists {thing} {distinct[counts > 1].tolist()[0]!r} twice.")


def _check_disjoint(first: Any, second: Any, thing: str, sides: str) -> None:
    """Refuse two lists that share a value."""
    both = np.intersect1d(first, second)
    if both.size:
        more = f" (and {both.size - 1} more)" if both.size > 1 else ""
        raise InvalidInputError(
            f"{thing} {both.tolist()[0]!r}{more} is in both {sides}, which must not overlap."
        )
