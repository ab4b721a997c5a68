"""Bringing the vectors of a class table to a common scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError

FloatArray = NDArray[np.float64]


HOW = ("l2", "l2-block", "zscore-seen", "minmax-seen")


def check_how(how: str, n_seen: int) -> None:
    """Refuse an unknown normalization, and a "-seen" one without seen classes."""
    if how not in HOW:
        raise InvalidInputError(f"how={how!r} is not a normalization; choose {', '.join(HOW)}.")
    if how.endswith("-seen") and n_seen == 0:
        raise InvalidInputError(
            f"how={how!r} measures the seen classes but got none. Pass seen=, the labels of the "
            "classes with training samples."
        )


def unit_length(
    vectors: FloatArray, names: NDArray[Any], blocks: Mapping[str, slice]
) -> FloatArray:
    """Divide each row, or each block of it if there are blocks, by its length."""
    parts = [
        _unit_rows(vectors[:, columns], names, f" in the block {block!r}")
        for block, columns in blocks.items()
    ]
    return np.hstack(parts) if parts else _unit_rows(vectors, names, "")


def _unit_rows(vectors: FloatArray, names: NDArray[Any], where: str) -> FloatArray:
    """Divide each row by its length; an error names a row of zeros."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not largest.all():
        raise InvalidInputError(
            f"Class {names[np.argmin(largest)].item()!r} has only zeros{where}, which no scaling "
            'can bring to unit length. Drop the class, correct its vector or use how="zscore-seen".'
        )
    # Squares of entries of at most 1 neither overflow nor all vanish.
    scaled: FloatArray = vectors / largest
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled


def zscore(seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and deviation of each dimension; a constant has deviation 1."""
    low, spread = minmax(seen)
    # In units of the range, squares of tiny values do not vanish.
    inside = (seen - low) / spread
    constant = _is_constant(seen)
    center = np.where(constant, low, low + spread * inside.mean(axis=0))
    return center, np.where(constant, 1.0, spread * inside.std(axis=0))


def minmax(seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return minimum and range of each dimension; a constant has range 1."""
    low = seen.min(axis=0)
    return low, np.where(_is_constant(seen), 1.0, seen.max(axis=0) - low)


def _is_constant(seen: FloatArray) -> NDArray[np.bool_]:
    """Mark the dimensions whose values differ by no more than rounding."""
    spread: FloatArray = seen.max(axis=0) - seen.min(axis=0)
    rounding: FloatArray = 10 * np.finfo(np.float64).eps * np.abs(seen).max(axis=0)
    return spread <= rounding
