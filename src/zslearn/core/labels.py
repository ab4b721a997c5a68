"""Labels as users give them, as plain numbers, booleans or text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError

# What stands for a missing value in pandas, by the name of its type.
_MISSING = ("NoneType", "NAType", "NaTType")


def plain_labels(labels: Any) -> Any:
    """Return labels that come as objects or as pandas' nullable types in their plain type.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Labels; arrays of numbers, booleans or text are returned as they are.

    Returns
    -------
    array-like of shape (n_samples,)
        Objects that are all booleans or all whole numbers become an array of their type; pandas'
        ``boolean`` stays True and False.

    Raises
    ------
    InvalidInputError
        If a label is missing.

    Examples
    --------
    >>> plain_labels(np.array([True, False], dtype=object))
    array([ True, False])
    """
    if not _may_hold_objects(labels):
        return labels
    values = np.asarray(labels, dtype=object)
    if values.ndim != 1:
        return labels
    _check_complete(values)
    kinds = {type(value) for value in values}
    return np.array(values.tolist()) if kinds in ({bool}, {int}) else labels


def _may_hold_objects(labels: Any) -> bool:
    dtype = getattr(labels, "dtype", None)
    if dtype is None:
        return isinstance(labels, list | tuple) and np.asarray(labels, dtype=object).ndim == 1
    return not isinstance(dtype, np.dtype) or dtype.kind == "O"


def _check_complete(values: NDArray[Any]) -> None:
    for row, value in enumerate(values):
        if type(value).__name__ in _MISSING or (isinstance(value, float) and value != value):
            raise InvalidInputError(
                f"The label of row {row} is missing; fill it in or leave the row out."
            )
