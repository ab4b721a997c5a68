"""Which rows train, which rows test, which classes are candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.exceptions import InvalidInputError, InvalidTypeError


@dataclass(frozen=True, eq=False)
class Task:
    """What a protocol makes of a data set; cannot exist if training and test rows overlap.

    Attributes
    ----------
    split : str
        Name of the split.
    train, test : ndarray of int
        Rows to fit on and rows to predict, without a common one.
    seen, unseen : ndarray
        Classes with and without training rows.
    candidates : ndarray
        Classes allowed as answers.
    seed : int or None
        Seed by which held-out rows of seen classes were drawn; None if nothing was drawn.
    unknown : ndarray
        Classes with test rows that are neither trained nor candidates; none but in the open
        protocol.
    """

    split: str
    train: NDArray[Any]
    test: NDArray[Any]
    seen: NDArray[Any]
    unseen: NDArray[Any]
    candidates: NDArray[Any]
    seed: int | None = None
    unknown: NDArray[Any] = field(default_factory=lambda: np.array([], dtype=str))

    def __post_init__(self) -> None:
        for part in ("train", "test"):
            if not len(getattr(self, part)):
                raise InvalidInputError(f"split {self.split!r} has no {part} rows.")
        both = np.intersect1d(self.train, self.test)
        if both.size:
            raise InvalidInputError(
                f"row {both[0]} (and {both.size - 1} more) is both fitted and tested; training "
                "and test rows must be disjoint."
            )


def find_split(dataset: ZeroShotDataset, split: str | ClassSplit | None) -> tuple[str, ClassSplit]:
    """Return the split a protocol asks for, with its name.

    None takes "proposed" if the data set has it, because its unseen classes are unknown to
    networks trained on ImageNet, and otherwise the first split.
    """
    if not len(dataset.y):
        raise InvalidInputError(
            f"data set {dataset.name!r} was loaded without features; load it with them to evaluate."
        )
    if isinstance(split, ClassSplit):
        return _name_of(dataset, split), split
    if split is None:
        if not dataset.splits:
            raise InvalidInputError(
                f"data set {dataset.name!r} has no split; pass split=ClassSplit(seen, unseen)."
            )
        split = "proposed" if "proposed" in dataset.splits else next(iter(dataset.splits))
    if not isinstance(split, str):
        raise InvalidTypeError(f"split must be a name or a ClassSplit; got {type(split).__name__}.")
    return split, dataset.split(split)


def seen_rows(dataset: ZeroShotDataset, split: ClassSplit) -> NDArray[Any]:
    """Return the rows of seen classes that may be trained on."""
    return checked_rows(dataset, dataset.train_rows(split), split.seen, "train", "seen")


def unseen_rows(dataset: ZeroShotDataset, split: ClassSplit, name: str) -> NDArray[Any]:
    """Return the test rows of unseen classes, each of which must have one."""
    rows = checked_rows(dataset, dataset.test_rows(split), split.unseen, "test_unseen", "unseen")
    check_all_present(dataset.y[rows], split.unseen, f"unseen class of split {name!r}")
    return rows


def checked_rows(
    dataset: ZeroShotDataset, rows: Any, classes: Any, part: str, side: str
) -> NDArray[Any]:
    """Refuse rows of a split of the user's own that do not exist or are of the other side."""
    rows = np.asarray(rows)
    if len(rows) and rows.max() >= len(dataset.y):
        raise InvalidInputError(
            f"{part} rows of the split go up to {rows.max()}; there are {len(dataset.y)} rows."
        )
    foreign = rows[~np.isin(dataset.y[rows], classes)]
    if foreign.size:
        raise InvalidInputError(
            f"{part} row {foreign[0]} is of class {dataset.y[foreign].tolist()[0]!r}, which is not "
            f"among the {side} classes of the split."
        )
    return rows


def check_all_present(y: NDArray[Any], classes: Any, what: str) -> None:
    """Refuse classes without a test row: they have no accuracy, and 0 would be wrong."""
    absent = np.setdiff1d(classes, y)
    if absent.size:
        raise InvalidInputError(
            f"{what} {absent.tolist()[0]!r} (and {absent.size - 1} more) has no test row, so its "
            "accuracy does not exist. Leave it out of the split."
        )


def _name_of(dataset: ZeroShotDataset, split: ClassSplit) -> str:
    """Name a split that was passed as an object."""
    for name, known in dataset.splits.items():
        if known is split:
            return name
    return "custom"
