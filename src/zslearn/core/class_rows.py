"""Classes prepared for scoring: arrays with one row per class, and changes of single rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidTypeError


def with_row(state: Any, position: int, row: Any) -> Any:
    """Return prepared classes with one row replaced, or added at the end.

    Parameters
    ----------
    state : array, None, or a tuple, dict or dataclass of them
        Arrays of shape (n_classes, ...).
    position : int
        Which row; n_classes adds one.
    row : like `state`
        The same for one class: arrays of shape (1, ...).

    Returns
    -------
    like `state`

    Examples
    --------
    >>> import numpy as np
    >>> with_row((np.array([1, 2, 3]), None), 1, (np.array([7]), None))
    (array([1, 7, 3]), None)
    """

    def exchanged(rows: NDArray[Any], one: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([rows[:position], one, rows[position + 1 :]])

    return _map_arrays(exchanged, state, row)


def without_row(state: Any, position: int) -> Any:
    """Return prepared classes with one row less.

    Parameters
    ----------
    state : array, None, or a tuple, dict or dataclass of them
        Arrays of shape (n_classes, ...).
    position : int
        Which row.

    Returns
    -------
    like `state`

    Examples
    --------
    >>> import numpy as np
    >>> without_row((np.array([1, 2, 3]), None), 1)
    (array([1, 3]), None)
    """
    return _map_arrays(lambda rows, _: np.delete(rows, position, axis=0), state, state)


def _map_arrays(function: Callable[..., NDArray[Any]], first: Any, second: Any) -> Any:
    """Apply a function to the arrays of two states of the same form."""
    if first is None:
        return None
    if isinstance(first, np.ndarray):
        return function(first, second)
    if isinstance(first, tuple):
        pairs = zip(first, second, strict=True)
        return tuple(_map_arrays(function, one, other) for one, other in pairs)
    if isinstance(first, dict):
        return {key: _map_arrays(function, part, second[key]) for key, part in first.items()}
    if is_dataclass(first) and not isinstance(first, type):
        parts = {field.name: getattr(first, field.name) for field in fields(first) if field.init}
        changed = {
            name: _map_arrays(function, part, getattr(second, name))
            for name, part in parts.items()
            if isinstance(part, np.ndarray)
        }
        return replace(first, **changed)
    raise InvalidTypeError(
        f"classes are prepared as arrays, tuples, dicts and dataclasses; got {first!r}."
    )
