"""The λ values a search tries, laid out in scale-free form and given in the paper's units."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import Number, Numbers, check_value
from zslearn.core import sylvester
from zslearn.core.moments import Moments

# Scale-free values λ tr(G) / tr(A) that a search covers.
RELATIVE_LAMS = np.logspace(-4, 4, 30)


def lam_grid(lams: ArrayLike | None, moments: Moments, signatures: NDArray) -> NDArray:
    """Return the λ values to try, in the paper's units.

    Parameters
    ----------
    lams : array-like of shape (n_lams,) or None
        Values given by the user; None lays `RELATIVE_LAMS` over the scale of the data.
    moments : Moments
        Of the training data.
    signatures : ndarray of shape (n_classes, n_dimensions)
        Signature of each class of the moments.

    Returns
    -------
    ndarray of shape (n_lams,)
    """
    if lams is None:
        return RELATIVE_LAMS * unit_lam(moments, signatures)
    return checked_lams(lams)


def checked_lams(lams: ArrayLike) -> NDArray:
    """Return values of λ as an array, or say why they cannot be tried."""
    check_value("lams", lams, Numbers(Number(above=0)))
    return np.atleast_1d(np.asarray(lams, dtype=np.float64))


def unit_lam(moments: Moments, signatures: NDArray) -> float:
    """Return the λ whose scale-free value is one for these moments."""
    A_trace = float(moments.counts @ np.einsum("ij,ij->i", signatures, signatures))
    return sylvester.relative_lam(A_trace, float(np.trace(moments.gram)))
