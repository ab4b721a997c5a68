"""Normalisation of features and signatures: explicit, and the same at fit and at prediction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn.core.nearest import row_norms, unit_rows
from zslearn.exceptions import InvalidInputError

NORMS = (None, "l2")


def normalised_features(
    X: NDArray | sparse.sparray, norm: str | None, *, allow_zero: bool = False
) -> NDArray | sparse.sparray:
    """Scale each sample to unit length if `norm` is "l2"; a sample of zeros is refused or kept."""
    _check_norm("feature_norm", norm)
    if norm is None:
        return X
    zero = np.flatnonzero(row_norms(X) == 0)
    if len(zero) and not allow_zero:
        raise InvalidInputError(
            f"row {zero[0]} of X holds only zeros ({len(zero)} such row(s)), so it has no "
            "direction to compare. Drop it, or use feature_norm=None with another metric."
        )
    return unit_rows(X)


def normalised_signatures(vectors: NDArray, names: NDArray, norm: str | None) -> NDArray:
    """Scale each signature to unit length if `norm` is "l2"; a signature of zeros is refused."""
    _check_norm("signature_norm", norm)
    if norm is None:
        return vectors
    zero = np.flatnonzero(row_norms(vectors) == 0)
    if len(zero):
        raise InvalidInputError(
            f"the signature of class {names[zero[0]]!s} holds only zeros, so it has no direction "
            "to compare. Give it values, drop the class, or use signature_norm=None."
        )
    return unit_rows(vectors)


def _check_norm(parameter: str, norm: str | None) -> None:
    if norm not in NORMS:
        raise InvalidInputError(f"{parameter} must be 'l2' or None; got {norm!r}.")
