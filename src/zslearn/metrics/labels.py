"""Checks on the label arrays every metric takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.exceptions import InvalidInputError, InvalidTypeError, closest_name


def check_labels(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Return `labels` as a one-dimensional, non-empty array without NaN."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InvalidInputError(
            f"{name} must be one-dimensional, one label per entry; got shape {array.shape}."
        )
    if array.size == 0:
        raise InvalidInputError(f"{name} is empty; at least one label is needed.")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidInputError(f"{name} contains NaN; every entry must be a class label.")
    return array


def check_label_pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both label arrays after checking that they can be compared entry by entry."""
    true, pred = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
    if len(true) != len(pred):
        raise InvalidInputError(
            f"y_true has {len(true)} labels and y_pred has {len(pred)}; they must have the same "
            "number, one prediction for each sample."
        )
    check_same_kind(true, pred, "y_true", "y_pred")
    return true, pred


def check_same_kind(
    first: NDArray[Any], second: NDArray[Any], first_name: str, second_name: str
) -> None:
    """Refuse to compare text with numbers, which would count every comparison as a miss."""
    spelled = {_kind(first), _kind(second)}
    if spelled == {"text", "numbers"}:
        raise InvalidTypeError(
            f"{first_name} holds {_kind(first)} and {second_name} holds {_kind(second)}; use the "
            "same kind of class label in both."
        )


def check_unique(labels: NDArray[Any], name: str) -> None:
    """Refuse a list of classes that names one twice."""
    values, counts = np.unique(labels, return_counts=True)
    if (counts > 1).any():
        raise InvalidInputError(f"{name} lists class {values[counts > 1].tolist()[0]!r} twice.")


def describe_missing(missing: NDArray[Any], known: Iterable[object]) -> str:
    """Name the first missing class, how many more there are, and the closest known one."""
    first = missing.tolist()[0]
    more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    near = closest_name(first, known)
    return f"class {first!r}{more}" + (f", closest {near!r}" if near is not None else "")


def _kind(labels: NDArray[Any]) -> str:
    """Say whether labels are text or numbers; objects may be either."""
    return {"U": "text", "S": "text", "O": "objects"}.get(labels.dtype.kind, "numbers")
