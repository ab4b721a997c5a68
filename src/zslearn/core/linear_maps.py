"""Class vectors of the closed-form linear methods, for every regularization from one reduction.

With rows as samples ``G = XᵀX``, ``A = Σ n_c s_c s_cᵀ`` and ``C = Σ s_c sum_cᵀ``. Every function
returns the vector in feature space of each candidate, so a path of models is judged
without ever forming one; applied to the identity matrix it gives the map itself. At the end are the
units in which penalties are scale-free, and the grid of λ laid in them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import Number, Numbers, check_value
from zslearn.core.moments import Moments
from zslearn.core.sylvester import (
    Method,
    Reduction,
    Spectral,
    Sylvester,
    Tridiagonal,
    class_spectrum,
    prepare,
    relative_lam,
    scipy_matmul,
)
from zslearn.exceptions import InvalidInputError

Array = NDArray[np.float64]

# Scale-free values λ tr(G) / tr(A) that a search covers.
RELATIVE_LAMS = np.logspace(-4, 4, 30)


def autoencoder_equation(
    moments: Moments, seen: Array, lam_max: float, method: Method = "auto"
) -> Sylvester:
    """Do the work that all λ of the semantic autoencoder share: ``A W + λ W G = (1 + λ) C``.

    Parameters
    ----------
    moments : Moments
        Of the training data.
    seen : ndarray of shape (n_classes, n_dimensions)
        Signature of each class of the moments.
    lam_max : float
        Largest λ that will be asked for.
    method : {"auto", "spectral", "tridiagonal"}, default="auto"
        How the feature Gram matrix is reduced.

    Returns
    -------
    Sylvester
        ``coef(lam)`` is W, ``prototypes(rows, lams)`` are ``rows W`` for every λ.
    """
    spectrum = class_spectrum(moments.counts, seen)
    return prepare(spectrum, moments.gram, scipy_matmul(seen.T, moments.sums), lam_max, method)


def ridge_to_semantics(moments: Moments, seen: Array, rows: Array, gammas: Array) -> Array:
    """Return ``rows C (G + γ I)⁻¹`` for every γ: ridge regression from features to semantics.

    Parameters
    ----------
    moments : Moments
        Of the training data.
    seen : ndarray of shape (n_classes, n_dimensions)
        Signature of each class of the moments.
    rows : ndarray of shape (n_rows, n_dimensions)
        Signatures to turn into class vectors.
    gammas : ndarray of shape (n_gammas,)
        Positive penalties.

    Returns
    -------
    ndarray of shape (n_gammas, n_rows, n_features)
    """
    reduction = _reduced(moments.gram)
    T = reduction.rotate((rows @ seen.T) @ moments.sums)
    return _shifted_solutions(reduction, [T], gammas)[:, 0]


def ridge_to_features(moments: Moments, seen: Array, rows: Array, lams: Array) -> Array:
    """Return ``rows (A + λ I)⁻¹ C`` for every λ: ridge regression from semantics to features.

    Parameters and result are those of `ridge_to_semantics`.
    """
    a, U = class_spectrum(moments.counts, seen)
    # C lies in the span of U, so the null space of A never matters.
    codes, C = rows @ U, (U.T @ seen.T) @ moments.sums
    return np.stack([(codes / (a + lam)) @ C for lam in lams])


def bilinear(
    moments: Moments, seen: Array, rows: Array, penalties: tuple[Array, Array], negative: float
) -> Array:
    """Return ``rows (SᵀS + λ I)⁻¹ SᵀYᵀX (G + γ I)⁻¹`` for all γ and λ: ESZSL.

    Parameters
    ----------
    moments, seen, rows
        As in `ridge_to_semantics`; here S holds every class once.
    penalties : tuple of ndarrays of shape (n_gammas,) and (n_lams,)
        Values of γ and of λ.
    negative : {-1, 0}
        Entry of Y for the classes a sample does not belong to; it is 1 for its own.

    Returns
    -------
    ndarray of shape (n_gammas, n_lams, n_rows, n_features)
    """
    gammas, lams = penalties
    # Yᵀ X: row c is the sum of class c and `negative` times the sums of all other classes.
    targets = (1.0 - negative) * moments.sums + negative * moments.sums.sum(axis=0)
    # (SᵀS + λ I)⁻¹ = V (σ² + λ)⁻¹ Vᵀ on the span of the signatures, where rows and cross lie.
    _, sigma, Vt = np.linalg.svd(seen, full_matrices=False)
    codes, cross = rows @ Vt.T, Vt @ (seen.T @ targets)
    reduction = _reduced(moments.gram)
    rotated = reduction.rotate(cross)
    parts = [(codes / (sigma**2 + lam)) @ rotated for lam in lams]
    return _shifted_solutions(reduction, parts, gammas)


def _reduced(G: Array) -> Reduction:
    return Spectral.of(G) if len(G) < 3 else Tridiagonal.of(G)


def _shifted_solutions(reduction: Reduction, parts: list[Array], gammas: Array) -> Array:
    """Solve ``Z (R + γ I) = T`` for every γ and every T, back in feature space."""
    # All systems side by side: one reduction, one way back for all of them.
    T = np.concatenate(parts)
    solved = [reduction.solve(T, np.full(len(T), gamma), 1.0) for gamma in gammas]
    restored = reduction.restore(np.concatenate(solved))
    return restored.reshape(len(gammas), len(parts), len(parts[0]), -1)


def mean_eigenvalue(gram: Array) -> float:
    """Mean eigenvalue of a Gram matrix: the unit in which penalties are scale-free."""
    value = float(np.trace(gram)) / len(gram)
    if not value > 0:
        raise InvalidInputError(
            "all features or all signatures are zero, so there is nothing to learn from them."
        )
    return value


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
    # tr(A) = Σ n_c ‖s_c‖²
    A_trace = float(moments.counts @ np.einsum("ij,ij->i", signatures, signatures))
    return relative_lam(A_trace, float(np.trace(moments.gram)))
