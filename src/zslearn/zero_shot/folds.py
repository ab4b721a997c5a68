"""Folds by which methods choose their free parameters on the training classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold


def parameter_folds(
    X: Any, y: NDArray[np.intp], cv: int, random_state: int | None, *, one_hot: bool = False
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Folds that hold out at least two classes each; none if there are too few classes.

    With one-hot signatures nothing carries over to another class, so samples are held out.
    """
    whole("cv", cv, least=2)
    counts = np.bincount(y)
    counts = counts[counts > 0]
    n_splits = min(cv, int(counts.min()) if one_hot else len(counts) // 2)
    if n_splits < 2:
        return []
    splitter = StratifiedKFold if one_hot else ClassKFold
    return list(splitter(n_splits, shuffle=True, random_state=random_state).split(X, y))


def folds_of_classes(classes: NDArray, cv: int, random_state: int | None) -> list[NDArray]:
    """Classes of each fold, dealt as `parameter_folds` deals them; none if there are too few."""
    n_splits = min(whole("cv", cv, least=2), len(classes) // 2)
    if n_splits < 2:
        return []
    return ClassKFold(n_splits, shuffle=True, random_state=random_state).class_folds(classes)


def at_most_rows(y: NDArray[np.intp], n_rows: int, random_state: int | None) -> NDArray[np.intp]:
    """Rows of at most about `n_rows` samples, every class cut to the same number at most."""
    counts = np.bincount(y)
    quota = max(2, n_rows // max(1, int((counts > 0).sum())))
    if len(y) <= n_rows or counts.max() <= quota:
        return np.arange(len(y))
    order = np.random.default_rng(random_state).permutation(len(y))
    # Position of each sample within its class, in the shuffled order.
    by_class = order[np.argsort(y[order], kind="stable")]
    starts = np.cumsum(counts) - counts
    rank = np.arange(len(y)) - np.repeat(starts, counts)
    return np.sort(by_class[rank < quota])


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
