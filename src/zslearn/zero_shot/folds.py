"""Checks of the parameters of zero-shot methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from zslearn.exceptions import InvalidInputError


def whole(name: str, value: Any, *, least: int) -> int:
    """Return a parameter that must be a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InvalidInputError(
            f"{name} must be a whole number of at least {least}; got {value!r}."
        )
    return int(value)


def positive(name: str, value: Any, *, zero: bool = False) -> float:
    """Return a parameter that must be a finite number above (or at least) zero."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        bound = "at least" if zero else "above"
        raise InvalidInputError(f"{name} must be a finite number {bound} 0; got {value!r}.")
    return float(value)


def one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse a parameter that is not among the values allowed."""
    if value not in allowed:
        raise InvalidInputError(
            f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}."
        )
