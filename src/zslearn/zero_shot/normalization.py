"""Normalization of features and signatures: explicit, and the same at fit and at prediction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn.core.nearest import row_norms, unit_rows
from zslearn.exceptions import InvalidInputError


def normalized_features(
    X: NDArray | sparse.sparray,
    norm: str | None,
    *,
    allow_zero: bool = False,
    numbers: NDArray[np.intp] | None = None,
) -> NDArray | sparse.sparray:
    """Scale each sample to unit length if `norm` is "l2"; a sample of zeros is refused or kept.

    `numbers` are the row numbers to name in an error, if X is a part of a larger matrix.
    """
    if norm is None:
        return X
    zero = np.flatnonzero(row_norms(X) == 0)
    if len(zero) and not allow_zero:
        first = zero[0] if numbers is None else numbers[zero[0]]
        raise InvalidInputError(
            f"row {first} of X holds only zeros ({len(zero)} such row(s)), so it has no "
            "direction to compare. Drop it, or use feature_norm=None with another metric."
        )
    return unit_rows(X)


def check_finite(X: NDArray, numbers: NDArray[np.intp]) -> None:
    """Refuse rows that nobody has looked at yet if one cannot be used, naming it."""
    if not np.isfinite(np.einsum("ij,ij->", X, X)):
        refuse_unusable(X, numbers)


def normalized_signatures(vectors: NDArray, names: NDArray, norm: str | None) -> NDArray:
    """Scale each signature to unit length if `norm` is "l2"; a signature of zeros is refused."""
    if norm is None:
        return vectors
    zero = np.flatnonzero(row_norms(vectors) == 0)
    if len(zero):
        raise InvalidInputError(
            f"the signature of class {names[zero[0]]!s} holds only zeros, so it has no direction "
            "to compare. Give it values, drop the class, or use signature_norm=None."
        )
    return unit_rows(vectors)


def refuse_unusable(piece: NDArray, numbers: NDArray) -> None:
    """Name the row that holds what is not finite, or whose squares overflow."""
    bad = ~np.isfinite(piece).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        column = int((~np.isfinite(piece[row])).argmax())
        raise InvalidInputError(
            f"row {numbers[row]} of X holds {piece[row, column]} in column {column}; drop such "
            "rows or fill them."
        )
    row = int(np.abs(piece).max(axis=1).argmax())
    raise InvalidInputError(
        f"row {numbers[row]} of X holds numbers as large as {np.abs(piece[row]).max():.3g}, whose "
        f"squares overflow in {piece.dtype}. Rescale the features or store them as float64."
    )
