"""Samples as a method sees them: rows, their labels and their weights.

Rows are finite, float32 or float64, and changed by a `RowTransform` in the same way at training and
at prediction; `LazyRows` do it on access, so that a memory map is never read whole. Labels come out
of objects and pandas' nullable types in their plain type, and weights are checked.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import local
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from zslearn.core.magnitudes import check_rows, refuse_rows
from zslearn.core.nearest import FLOATS, row_norms, unit_rows, well_scaled
from zslearn.exceptions import InvalidInputError, ZslearnWarning

Matrix = Any  # dense array or scipy sparse, one row per sample
Transform = Callable[[NDArray, NDArray[np.intp]], NDArray]

# Rows worked on at a time, so that a piece stays in the cache between two looks at it.
_PIECE = 256
# So many numbers are looked at faster than scikit-learn finds out what holds them.
FEW = 2**14
# What stands for a missing value in pandas, by the name of its type.
_MISSING = ("NoneType", "NAType", "NaTType")


@dataclass(frozen=True)
class RowTransform:
    """What happens to rows before a method sees them, at training and at prediction.

    Attributes
    ----------
    norm : {"l2", None}
        Scale rows to unit length.
    power : float
        Exponent of ``sign(x)|x|^power``, applied between two scalings.
    allow_zero : bool
        Whether rows of zeros are kept as they are.

    Examples
    --------
    >>> import numpy as np
    >>> RowTransform("l2").apply(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    norm: str | None = None
    power: float = 1.0
    allow_zero: bool = True

    def apply(
        self, X: Matrix, numbers: NDArray | None = None, scratch: Scratch | None = None
    ) -> Matrix:
        """Return the transformed rows, or name the row that cannot be used.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            Rows as stored; half precision becomes float32, whole numbers float64.
        numbers : ndarray of shape (n_rows,), optional
            Number of each row in the source, for messages; by default 0, 1 and so on.
        scratch : Scratch, optional
            Where to put the rows; a new array if not given. Rows that need no change are returned
            as they are.
        """
        if X.dtype.kind not in "fiu":
            raise InvalidInputError(f"features must be numbers; got type {X.dtype}.")
        if self.norm is None and self.power == 1.0 and scratch is None and X.dtype in FLOATS:
            check_rows(X, numbers)
            return X
        if sparse.issparse(X):
            return self._sparse(X, numbers)
        narrow = X.dtype.kind == "f" and X.dtype.itemsize <= 4
        dtype = np.dtype(np.float32 if narrow else np.float64)
        out = np.empty(X.shape, dtype) if scratch is None else scratch.array(X.shape, dtype)
        if len(X) <= _PIECE:
            self._apply_to(X.astype(dtype, copy=False), out, numbers)
            return out
        numbers = np.arange(len(X)) if numbers is None else numbers
        for start in range(0, len(X), _PIECE):
            rows = slice(start, start + _PIECE)
            self._apply_to(X[rows].astype(dtype, copy=False), out[rows], numbers[rows])
        return out

    def _apply_to(self, piece: NDArray, out: NDArray, numbers: NDArray | None) -> None:
        if self.norm is None:
            check_rows(piece, numbers)
            out[...] = piece
        else:
            self._scale(piece, out, numbers)
        if self.power != 1.0:
            out[...] = signed_power(out, self.power)
            if self.norm is not None:
                self._scale(out, out, numbers)

    def _scale(self, piece: NDArray, out: NDArray, numbers: NDArray | None) -> None:
        # x / ‖x‖, where divided by its largest entry first if the squares of a row overflow.
        scaled, squares, divisors = well_scaled(piece)
        if divisors is not None:  # other squares are neither zero nor too large
            if not np.isfinite(squares.sum()):
                refuse_rows(piece, numbers)
            zero = squares == 0
            if zero.any():
                self._refuse_zeros(zero, numbers)
                squares[zero] = 1.0
        np.multiply(scaled, (1.0 / np.sqrt(squares))[:, None], out=out)

    def _sparse(self, X: Matrix, numbers: NDArray | None) -> Matrix:
        if self.norm is not None:
            self._refuse_zeros(row_norms(X) == 0, numbers)
            X = unit_rows(X)
        if self.power == 1.0:
            return X
        powered = signed_power(X, self.power)
        return powered if self.norm is None else unit_rows(powered)

    def _refuse_zeros(self, zero: NDArray[np.bool_], numbers: NDArray | None) -> None:
        if zero.any() and not self.allow_zero:
            row = zero.argmax() if numbers is None else numbers[zero.argmax()]
            raise InvalidInputError(
                f"row {row} of X holds only zeros, so it has no direction to compare. Drop it, or "
                "use feature_norm=None with another metric."
            )


def signed_power(X: Matrix, p: float) -> Matrix:
    """Return ``sign(x) |x|ᵖ`` of every entry, in the precision of X; entries left out stay so.

    Examples
    --------
    >>> import numpy as np
    >>> signed_power(np.array([[4.0, -9.0, 0.0]]), 0.5)
    array([[ 2., -3.,  0.]])
    """
    values = X.data if sparse.issparse(X) else X
    # A Python float, since one of numpy would widen float32.
    powered = np.sign(values) * np.abs(values) ** float(p)
    if not sparse.issparse(X):
        return powered
    changed = X.copy()
    changed.data = powered
    return changed


class Scratch(local):
    """Memory for one block of rows per thread, reused for every block.

    Fresh memory would have to be mapped page by page, which costs more than filling it.
    """

    def __init__(self) -> None:
        self._flat = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> NDArray:
        """Return an array that lasts until the next call in the same thread."""
        n_bytes = math.prod(shape) * dtype.itemsize
        if len(self._flat) < n_bytes:
            self._flat = np.empty(n_bytes, np.uint8)
        return self._flat[:n_bytes].view(dtype).reshape(shape)


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
        # Numbers in the source, which messages name.
        numbers = np.arange(self.shape[0])[rows] if isinstance(rows, slice) else rows
        return self._transform(np.asarray(self._X[rows]).astype(self.dtype, copy=False), numbers)

    def taken(self, rows: NDArray[np.intp]) -> LazyRows:
        """Return some of the rows, still to be transformed."""
        return LazyRows(self._X, self._transform, rows if self._kept is None else self._kept[rows])

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        return self[:].astype(dtype or self.dtype, copy=False)


def are_equal(X: Matrix) -> bool:
    """Say whether all rows are equal to rounding; reads no further than the first that differs.

    Examples
    --------
    >>> import numpy as np
    >>> are_equal(np.ones((3, 2))), are_equal(np.eye(2))
    (True, False)
    """
    first = _dense(X[:1])
    rounding = 8 * np.finfo(first.dtype).eps * np.abs(first).max(initial=0.0)
    return all(
        np.abs(_dense(piece) - first).max(initial=0.0) <= rounding for piece in row_pieces(X)
    )


def row_pieces(X: Matrix) -> Iterator[Matrix]:
    """Yield a few rows at a time; lazy ones are transformed when they are asked for."""
    return (X[start : start + _PIECE] for start in range(0, X.shape[0], _PIECE))


def _dense(X: Matrix) -> NDArray:
    return X.toarray() if sparse.issparse(X) else X


def is_small_finite_array(X: Any, estimator: Any) -> bool:
    """Say whether samples are a few finite rows that scikit-learn would return as they are.

    Its checks take longer than all the rest of an answer to one row, as servers are asked for.
    """
    return (
        type(X) is np.ndarray
        and X.dtype in FLOATS
        and X.ndim == 2
        and 0 < X.size <= FEW
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
        # One product in place of a look at every number; where it overflows, scikit-learn looks.
        and math.isfinite(np.vdot(X, X))
    )


def validate_rows(estimator: Any, X: Any, *labels: Any, **checks: Any) -> Any:
    """Return what scikit-learn's `validate_data` makes of samples, and of labels given with them.

    Where samples hold NaN or infinity, the row is named; scikit-learn names estimators of its own.
    """
    try:
        return validate_data(estimator, X, *labels, **checks)
    except ValueError as error:
        if not str(error).startswith("Input X contains"):
            raise
        if sparse.issparse(X):
            X = sparse.csr_matrix(X)
            first = np.flatnonzero(~np.isfinite(X.data))[0]
            row = np.searchsorted(X.indptr, first, side="right") - 1
            refuse_rows(X[row].toarray(), np.array([row]))
        refuse_rows(np.asarray(X, dtype=np.float64))
        raise


def unmasked(values: Any, what: str) -> Any:
    """Return an array without its mask, or refuse it where something is masked.

    Parameters
    ----------
    values : object
        What is no masked array, nor a list of them, is returned as it is.
    what : str
        What they are, for the message.

    Examples
    --------
    >>> import numpy as np
    >>> unmasked(np.ma.masked_equal([1.0, 0.0], 0.0), "X")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zslearn.exceptions.InvalidInputError: 1 of the values in X are masked; fill them in or ...
    """
    if isinstance(values, list | tuple):
        found = [unmasked(one, what) for one in values if isinstance(one, np.ma.MaskedArray)]
        return [np.asarray(one) for one in values] if found else values
    if not isinstance(values, np.ma.MaskedArray):
        return values
    hidden = int(np.ma.getmaskarray(values).sum())
    if hidden:
        raise InvalidInputError(
            f"{hidden} of the values in {what} are masked; fill them in or leave them out."
        )
    return values.data


def plain_labels(labels: Any) -> Any:
    """Return labels that come as objects or as pandas' nullable types in their plain type.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Labels; arrays of numbers, booleans or text are returned as they are.

    Returns
    -------
    array-like of shape (n_samples,)
        Nothing of it is masked. Objects that are all booleans or all whole numbers become an array
        of their type; pandas' ``boolean`` stays True and False.

    Raises
    ------
    InvalidInputError
        If a label is missing or masked.

    Examples
    --------
    >>> plain_labels(np.array([True, False], dtype=object))
    array([ True, False])
    """
    labels = unmasked(labels, "y")
    if not _may_hold_objects(labels):
        return labels
    values = np.asarray(labels, dtype=object)
    if values.ndim != 1:
        return labels
    for row, value in enumerate(values):
        # NaN is the only float that differs from itself.
        if type(value).__name__ in _MISSING or (isinstance(value, float) and value != value):
            raise InvalidInputError(
                f"The label of row {row} is missing; fill it in or leave the row out."
            )
    kinds = {type(value) for value in values}
    return np.array(values.tolist()) if kinds in ({bool}, {int}) else labels


def warn_if_shuffled(X: Any, y: Any, stacklevel: int = 6) -> None:
    """Warn of a frame and a series with the same index in another order; position pairs them."""
    indexes: list[Any] = [getattr(part, "index", None) for part in (X, y)]
    if not all(hasattr(index, "equals") for index in indexes):
        return
    ours, theirs = indexes
    # Other labels, or repeated ones, are no sign that the same samples were meant.
    if not ours.equals(theirs) and ours.is_unique and set(ours) == set(theirs):
        warnings.warn(
            "the indexes of X and y name the same samples in another order, and rows are paired "
            "by their position. Pass y.loc[X.index] if the index counts.",
            ZslearnWarning,
            stacklevel=stacklevel,
        )


def _may_hold_objects(labels: Any) -> bool:
    dtype = getattr(labels, "dtype", None)
    if dtype is None:
        return isinstance(labels, list | tuple) and np.asarray(labels, dtype=object).ndim == 1
    return not isinstance(dtype, np.dtype) or dtype.kind == "O"


def checked_weights(sample_weight: ArrayLike, n_samples: int) -> NDArray[np.float64]:
    """Return weights as numbers, or say what is wrong with them.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,)
        Non-negative weights, not all of them zero.
    n_samples : int
        How many there must be.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> checked_weights([1, 2], 2)
    array([1., 2.])
    """
    sample_weight = unmasked(sample_weight, "sample_weight")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"sample_weight must hold numbers ({error}).") from error
    if weights.shape != (n_samples,) or not np.all(np.isfinite(weights)) or np.any(weights < 0):
        extremes = f" from {weights.min()} to {weights.max()}" if weights.size else ""
        raise InvalidInputError(
            f"sample_weight must hold {n_samples} finite, non-negative numbers, one per sample; "
            f"got shape {weights.shape}{extremes}."
        )
    if n_samples and not weights.any():
        raise InvalidInputError(
            "sample_weight holds zeros only, so there are no samples; give some a positive weight."
        )
    return weights


def without_weightless(
    X: Matrix, labels: NDArray, weights: NDArray[np.float64]
) -> tuple[Matrix, NDArray, NDArray[np.float64]]:
    """Return rows, labels and weights without the samples of weight 0.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(3), np.array(["cat", "dog", "cat"])
    >>> without_weightless(X, y, np.array([1.0, 0.0, 2.0]))[1].tolist()
    ['cat', 'cat']
    """
    kept = np.flatnonzero(weights)
    if len(kept) == len(weights):
        return X, labels, weights
    rows = X.taken(kept) if isinstance(X, LazyRows) else X[kept]
    return rows, labels[kept], weights[kept]
