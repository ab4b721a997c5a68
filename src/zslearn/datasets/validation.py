"""The checks every data set must pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets.class_split import ClassSplit
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.signatures import Signatures

if TYPE_CHECKING:
    from zslearn.datasets.dataset import ZeroShotDataset


def check_dataset(dataset: ZeroShotDataset) -> None:
    """Refuse a data set whose parts do not fit together."""
    _check_lengths(dataset)
    _check_finite(dataset.X)
    _check_semantics(dataset)
    for name, split in dataset.splits.items():
        _check_split(dataset, name, split)


def _check_lengths(dataset: ZeroShotDataset) -> None:
    """Check the shapes of X, y and image_files."""
    X, y, files = dataset.X, dataset.y, dataset.image_files
    if X.ndim != 2 or y.ndim != 1:
        raise InvalidInputError(
            f"X must be (n_samples, n_features) and y (n_samples,); got {X.shape} and {y.shape}."
        )
    if X.dtype.kind not in "fiub":
        raise InvalidTypeError(f"X must hold numbers; got type {X.dtype}.")
    if X.shape == (0, 0) and not len(y):
        return
    if not len(X) == len(y) > 0:
        raise InvalidInputError(
            f"X has {len(X)} rows and y has {len(y)} labels; both must have the same number, at "
            "least one."
        )
    if files is not None and len(files) != len(y):
        raise InvalidInputError(
            f"image_files has {len(files)} names for {len(y)} rows; give one for each row."
        )


def _check_finite(X: NDArray[Any]) -> None:
    """Refuse NaN and infinity in features that are already in memory."""
    if isinstance(X, np.memmap) or X.dtype.kind != "f":
        return
    bad = ~np.isfinite(X).all(axis=1)
    if bad.any():
        raise InvalidInputError(
            f"X has NaN or infinity in {bad.sum()} of {len(X)} rows, first in row "
            f"{np.argmax(bad)}. Remove these rows or compute their features again."
        )


def _check_semantics(dataset: ZeroShotDataset) -> None:
    """Check that there is a semantic space and that each covers all labels."""
    if not dataset.semantics:
        raise InvalidInputError("semantics is empty; give at least one table of signatures.")
    present = np.unique(dataset.y)
    for name, space in dataset.semantics.items():
        if not isinstance(space, Signatures):
            raise InvalidTypeError(
                f"semantics[{name!r}] must be a Signatures table; got {type(space).__name__}."
            )
        space.index_of(present)
    for name, space in dataset.raw.items():
        scaled = dataset.semantics.get(name)
        if scaled is None or not np.array_equal(space.names, scaled.names):
            raise InvalidInputError(
                f"raw[{name!r}] must have the classes of semantics[{name!r}], in the same order."
            )


def _check_split(dataset: ZeroShotDataset, name: str, split: ClassSplit) -> None:
    """Check that the classes of a split have signatures and that its rows are of seen classes."""
    if not isinstance(split, ClassSplit):
        raise InvalidTypeError(
            f"splits[{name!r}] must be a ClassSplit; got {type(split).__name__}."
        )
    for space in dataset.semantics.values():
        space.index_of(np.asarray(split.seen))
        space.index_of(np.asarray(split.unseen))
    for part, side in (("train", "seen"), ("test_seen", "seen"), ("test_unseen", "unseen")):
        if getattr(split, part) is not None:
            _check_rows(dataset, name, part, side)


def _check_rows(dataset: ZeroShotDataset, name: str, part: str, side: str) -> None:
    """Check that the rows of one part exist and belong to the classes of its side."""
    split, y = dataset.splits[name], dataset.y
    rows = np.asarray(getattr(split, part))
    if rows.max() >= len(y):
        raise InvalidInputError(
            f"{part} of split {name!r} has row {rows.max()}; there are {len(y)} rows."
        )
    foreign = rows[~np.isin(y[rows], getattr(split, side))]
    if foreign.size:
        raise InvalidInputError(
            f"{part} of split {name!r} has row {foreign[0]} of class "
            f"{y[foreign].tolist()[0]!r}, which is not a{'n' * (side == 'unseen')} {side} class."
        )
