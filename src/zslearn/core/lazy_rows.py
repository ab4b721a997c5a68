"""A matrix whose rows are transformed when they are looked at, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Transform = Callable[[NDArray, NDArray[np.intp]], NDArray]


class LazyRows:
    """Rows of an array, transformed on access; the whole is never made unless it is asked for.

    Parameters
    ----------
    X : ndarray or memory map of shape (n_rows, n_features)
        The rows as they are.
    transform : callable (rows, their numbers) -> rows
        What to do with rows before they are used.
    kept : ndarray of int, optional
        Numbers of the rows that are meant; by default all.

    Examples
    --------
    >>> import numpy as np
    >>> rows = LazyRows(np.arange(6.0).reshape(3, 2), lambda rows, numbers: rows * 10)
    >>> rows.shape, rows[1:]
    ((3, 2), array([[20., 30.],
           [40., 50.]]))
    """

    ndim = 2

    def __init__(
        self, X: NDArray, transform: Transform, kept: NDArray[np.intp] | None = None
    ) -> None:
        self._X, self._transform, self._kept = X, transform, kept
        self.shape: tuple[int, int] = (X.shape[0] if kept is None else len(kept), X.shape[1])
        self.dtype = np.dtype(np.float32 if X.dtype in (np.float16, np.float32) else np.float64)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> NDArray:
        if self._kept is not None:
            rows = self._kept[rows]
        numbers = np.arange(self.shape[0])[rows] if isinstance(rows, slice) else rows
        return self._transform(np.asarray(self._X[rows]).astype(self.dtype, copy=False), numbers)

    def taken(self, rows: NDArray[np.intp]) -> LazyRows:
        """Return some of the rows, still to be transformed."""
        return LazyRows(self._X, self._transform, rows if self._kept is None else self._kept[rows])

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        return self[:].astype(dtype or self.dtype, copy=False)
