"""How large and how small numbers may be: methods multiply products of them with each other.

Numbers that are scaled to unit length may have any magnitude. Others are refused beyond
`LARGEST`, row by row, and below `SMALLEST` where all are; real units lie far within. What was
learned is looked at once more, since an iteration may diverge on numbers that are allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn.exceptions import InvalidInputError

Matrix = Any  # dense array or scipy sparse, one row per sample

# Fourth powers of these, summed over any data, are still far from the ends of double precision;
# learned arrays, which are quotients of two of them, stay below what model files may hold.
LARGEST = 2.0**120  # 1.3e36
SMALLEST = 2.0**-120
# Of learned arrays, by their precision: products of a few larger numbers overflow.
LARGEST_LEARNED = {
    np.dtype(np.float64): 1e75,
    np.dtype(np.float32): 1e18,
    np.dtype(np.float16): 6e4,
}
_FEW = 16


def check_rows(X: Matrix, numbers: NDArray | None = None, what: str = "X") -> None:
    """Refuse rows that are not finite or whose products overflow, by their number.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Rows as they will be used.
    numbers : ndarray of shape (n_rows,), optional
        Number of each row in the source, for messages; by default 0, 1 and so on.
    what : str, default="X"
        What the rows are, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> check_rows(np.array([[1.0], [1e160]]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zslearn.exceptions.InvalidInputError: row 1 of X holds numbers as large as 1e+160, and ...
    """
    values = X.data[None] if sparse.issparse(X) else X
    # One number for all rows: where it is in bounds, every square is. NaN fails the comparison.
    with np.errstate(over="ignore"):
        total = float(np.einsum("ij,ij->", values, values))
    if total <= LARGEST**2:
        return
    if not math.isfinite(total) or np.abs(values).max() > LARGEST:
        refuse_rows(X.toarray() if sparse.issparse(X) else X, numbers, what)


def refuse_rows(rows: NDArray, numbers: NDArray | None = None, what: str = "X") -> None:
    """Name the row that holds a value that is not finite, or the largest number."""
    numbers = np.arange(len(rows)) if numbers is None else numbers
    bad = ~np.isfinite(rows).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        column = int((~np.isfinite(rows[row])).argmax())
        value = "NaN" if np.isnan(rows[row, column]) else "infinity"
        raise InvalidInputError(
            f"row {numbers[row]} of {what} holds {value} in column {column}; drop such rows or "
            "fill them."
        )
    peaks = np.abs(rows).max(axis=1)
    row = int(peaks.argmax())
    remedy = "" if rows.dtype == np.float64 else " or store them as float64"
    raise InvalidInputError(
        f"row {numbers[row]} of {what} holds numbers as large as {peaks[row]:.3g}, and products of "
        f"such numbers overflow in {rows.dtype}. Rescale them{remedy}."
    )


def check_signatures(vectors: NDArray, names: Sequence[Any] | NDArray) -> None:
    """Refuse a class whose signature holds numbers whose products overflow, by its name."""
    # Of all classes at once, as of rows above.
    with np.errstate(over="ignore"):
        total = float(np.einsum("ij,ij->", vectors, vectors))
    if total <= LARGEST**2:
        return
    peaks = np.abs(vectors).max(axis=1)
    if not peaks.max() <= LARGEST:
        raise InvalidInputError(
            f"the signature of class {names[int(peaks.argmax())]!s} holds numbers as large as "
            f"{peaks.max():.3g}, and products of such numbers overflow. Rescale the signatures."
        )


def check_not_vanishing(pieces: Iterable[Matrix], what: str = "features") -> None:
    """Refuse data none of whose numbers has a square to compute with; zeros alone are left.

    Parameters
    ----------
    pieces : iterable of ndarrays or sparse matrices
        The data; no more is read than it takes to find a number that is large enough.
    what : str, default="features"
        What they are, for the message.

    Examples
    --------
    >>> import numpy as np
    >>> check_not_vanishing([np.array([[1e-160, 0.0]])])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zslearn.exceptions.InvalidInputError: the largest number among the features is 1e-160, and ...
    """
    largest = 0.0
    for piece in pieces:
        values = piece.data if sparse.issparse(piece) else piece
        # Squares lose digits below tiny / eps: in single precision those of 3e-16.
        info = np.finfo(values.dtype if values.dtype.kind == "f" else np.float64)
        least = max(SMALLEST, math.sqrt(info.tiny / info.eps))
        largest = max(largest, float(np.abs(values).max(initial=0.0)))
        if largest >= least:
            return
    if largest > 0:
        raise InvalidInputError(
            f"the largest number among the {what} is {largest:.3g}, and squares of such numbers "
            f"vanish. Rescale the {what}."
        )


def check_gram(gram: NDArray, n_rows: float) -> None:
    """Refuse a Gram matrix of rows whose squares are too large, or vanish but are not zero."""
    squares = float(np.trace(gram))
    if not squares <= LARGEST**2 * max(n_rows, 1.0) * len(gram) or 0 < squares < SMALLEST**2:
        raise InvalidInputError(
            f"the squares of the features add up to {squares:.3g}, with which nothing can be "
            "computed. Rescale the features and gather the moments again."
        )


def check_learned(learner: Any) -> None:
    """Refuse what was learned if an array holds numbers that are not finite, or too large.

    Parameters
    ----------
    learner : object
        Attributes whose names end in an underscore are looked at.
    """
    for name, value in vars(learner).items():
        if not name.endswith("_"):
            continue
        for array in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(array, np.ndarray) and not is_moderate(array):
                raise InvalidInputError(
                    f"{type(learner).__name__} learned numbers that are not finite, or too large "
                    f"to compute with ({name}). Rescale the features and the signatures, for "
                    "example to unit length."
                )


def is_moderate(array: NDArray) -> bool:
    """Say whether numbers are finite and not too large; whole numbers and text always are."""
    largest = LARGEST_LEARNED.get(array.dtype)
    # NaN fails every comparison, and so is found by the same two passes.
    return largest is None or not array.size or -largest <= array.min() <= array.max() <= largest


def check_finite(values: NDArray, what: str, first_row: int = 0) -> None:
    """Refuse scores or codes that are not finite: no answer may be made of them.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        What was computed.
    what : str
        What it is, for the message.
    first_row : int, default=0
        Number of the first sample.

    Examples
    --------
    >>> import numpy as np
    >>> check_finite(np.array([[1.0], [np.nan]]), "scores")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zslearn.exceptions.InvalidInputError: the scores of row 1 are not finite: what they are ...
    """
    # Of a few answers alone, Python finds out sooner than numpy.
    if values.size <= _FEW and all(map(math.isfinite, values.ravel().tolist())):
        return
    # One number for all: it is finite if they are, and hardly ever otherwise.
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(np.add.reduce(values, axis=None)):
            return
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        raise InvalidInputError(
            f"the {what} of row {first_row + int(finite.argmin())} are not finite: what they are "
            "made of is too large or too small. Rescale features and signatures, for example to "
            "unit length."
        )
