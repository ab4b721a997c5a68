"""Rows as a method sees them: finite, as float32 or float64, transformed and normalized."""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import local

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.normalization import refuse_unusable

# Rows worked on at a time, so that a piece stays in the cache between two looks at it.
_PIECE = 256


class Scratch(local):
    """Memory for one block of rows in each thread, used again for every block.

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


@dataclass(frozen=True)
class RowTransform:
    """What happens to a block of rows before its sums are taken.

    Attributes
    ----------
    norm : {"l2", None}
        Scale rows to unit length.
    power : float
        Exponent of ``sign(x)|x|^power``, applied between two scalings.
    allow_zero : bool
        Whether rows of zeros are kept as they are.
    """

    norm: str | None = None
    power: float = 1.0
    allow_zero: bool = True

    def apply(self, X: NDArray, numbers: NDArray, scratch: Scratch | None = None) -> NDArray:
        """Return the transformed rows in another array, or name the row that cannot be used.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows as stored; half precision becomes float32, whole numbers float64.
        numbers : ndarray of shape (n_rows,)
            Number of each row in the source, for messages.
        scratch : Scratch, optional
            Where to put the rows; a new array if not given.
        """
        if X.dtype.kind not in "fiu":
            raise InvalidInputError(f"features must be numbers; got type {X.dtype}.")
        dtype = np.dtype(np.float32 if X.dtype in (np.float16, np.float32) else np.float64)
        out = np.empty(X.shape, dtype) if scratch is None else scratch.array(X.shape, dtype)
        for start in range(0, len(X), _PIECE):
            rows = slice(start, start + _PIECE)
            self._change(X[rows].astype(dtype, copy=False), out[rows], numbers[rows])
        return out

    def _change(self, piece: NDArray, out: NDArray, numbers: NDArray) -> None:
        squares = np.einsum("ij,ij->i", piece, piece)
        if not np.isfinite(squares.sum()):
            refuse_unusable(piece, numbers)
        self._scale(piece, out, squares, numbers)
        if self.power != 1.0:
            np.multiply(np.sign(out), np.abs(out) ** self.power, out=out)
            self._scale(out, out, np.einsum("ij,ij->i", out, out), numbers)

    def _scale(self, piece: NDArray, out: NDArray, squares: NDArray, numbers: NDArray) -> None:
        if self.norm is None:
            out[...] = piece
            return
        zero = squares == 0
        if zero.any() and not self.allow_zero:
            raise InvalidInputError(
                f"row {numbers[zero.argmax()]} of X holds only zeros, so it has no direction to "
                "compare. Drop it, or use feature_norm=None with another metric."
            )
        squares[zero] = 1.0
        np.multiply(piece, (1.0 / np.sqrt(squares))[:, None], out=out)
