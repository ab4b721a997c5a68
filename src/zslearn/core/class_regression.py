"""Kernel regression from class signatures to class statistics: few rows, one per class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from zslearn.core.nearest import scores

Array = NDArray[np.float64]


def distance_unit(seen: Array) -> float:
    """Mean squared distance between two classes, the unit of kernel widths; 1 if there is none."""
    n = len(seen)
    spread = float(((seen - seen.mean(axis=0)) ** 2).sum())
    # Up to rounding, all classes are the same point.
    alike = spread <= 1e-24 * float((seen**2).sum()) * n
    return 2.0 * spread / (n - 1) if n > 1 and not alike else 1.0


def rbf(rows: Array, seen: Array, width: float) -> Array:
    """Return ``exp(−‖a − b‖² / (width · unit))``, of shape (n_rows, n_seen)."""
    return np.exp(scores(rows, seen, "euclidean") / (width * distance_unit(seen)))


def kernel_ridge(K: Array, targets: Array, ridge: float) -> tuple[Array, Array]:
    """Solve ``(K + ridge I) A = T − mean(T)``: predictions are ``k A + mean(T)``.

    Parameters
    ----------
    K : ndarray of shape (n_seen, n_seen)
        Kernel matrix of the seen classes.
    targets : ndarray of shape (n_seen, n_targets)
        One row per class.
    ridge : float
        Positive penalty.

    Returns
    -------
    dual : ndarray of shape (n_seen, n_targets)
    mean : ndarray of shape (n_targets,)

    Examples
    --------
    >>> import numpy as np
    >>> dual, mean = kernel_ridge(np.eye(2), np.array([[1.0], [3.0]]), 1.0)
    >>> (dual + mean).ravel()
    array([1.5, 2.5])
    """
    mean = targets.mean(axis=0)
    dual = linalg.solve(K + ridge * np.eye(len(K)), targets - mean, assume_a="pos")
    return np.asarray(dual), mean
