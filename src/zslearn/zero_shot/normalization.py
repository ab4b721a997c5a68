"""Normalization of signatures: explicit, and the same at fit and at prediction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zslearn.core.nearest import well_scaled
from zslearn.exceptions import InvalidInputError


def normalized_signatures(vectors: NDArray, names: NDArray, norm: str | None) -> NDArray:
    """Scale each signature to unit length if `norm` is "l2"; a signature of zeros is refused."""
    if norm is None:
        return vectors
    scaled, squares, _ = well_scaled(vectors)
    if not squares.all():
        raise InvalidInputError(
            f"the signature of class {names[(squares == 0).argmax()]!s} holds only zeros, so it "
            "has no direction to compare. Give it values, drop the class, or use "
            "signature_norm=None."
        )
    return np.asarray(scaled * (1.0 / np.sqrt(squares))[:, None])
