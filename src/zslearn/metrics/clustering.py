"""The distance between two partitions that supervised clustering is judged by."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from zslearn._parameters import check_flags
from zslearn.exceptions import InvalidInputError
from zslearn.metrics.accuracy import check_labels


def clustering_loss(y_true: ArrayLike, y_pred: ArrayLike, *, normalize: bool = False) -> float:
    """Squared Frobenius distance between the clustering matrices of two partitions.

    With Y the one-hot matrix of a partition, ``C = Y (YᵀY)⁻¹ Yᵀ`` projects on its cluster
    indicators and ``Δ = ‖Ĉ - C‖²``. From the contingency table n_ij of K by L non-empty clusters
    with margins a_i and b_j it is ``Δ = K + L - 2 Σ n_ij² / (a_i b_j)``, which is what is computed:
    the matrices of size n_samples by n_samples are never formed. Names of clusters do not matter,
    and neither does the order of the two arguments. Equivalent forms are
    ``K + L - 2 - 2 χ²/N`` with Pearson's χ² of the table and, for two clusters against two,
    ``2 (1 - MCC²)`` with Matthews' correlation.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Cluster of each sample.
    y_pred : array-like of shape (n_samples,)
        Cluster of each sample in the other partition; labels may be of another kind.
    normalize : bool, default=False
        Divide by the largest value the numbers of clusters allow, K + L - 2. Two partitions with
        one cluster each are the same and give 0.

    Returns
    -------
    float
        0 for equal partitions, up to K + L - 2 (1 if normalized) for independent ones.

    Raises
    ------
    InvalidInputError
        If the arrays are empty, differ in length or hold NaN.

    Examples
    --------
    >>> from zslearn.metrics import clustering_loss
    >>> clustering_loss([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    >>> clustering_loss([0, 0, 1, 1], [0, 1, 0, 1])
    2.0
    >>> clustering_loss([0, 0, 1, 1], [0, 1, 0, 1], normalize=True)
    1.0
    """
    check_flags(normalize=normalize)
    true, pred = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
    if len(true) != len(pred):
        raise InvalidInputError(
            f"y_true has {len(true)} labels and y_pred has {len(pred)}; each sample needs a "
            "cluster in both partitions."
        )
    rows, i = np.unique(true, return_inverse=True)
    columns, j = np.unique(pred, return_inverse=True)
    K, L = len(rows), len(columns)
    # Sparse: of K · L pairs of clusters at most n_samples share one.
    table = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(K, L)).tocsr()
    a, b, cells = table.sum(axis=1), table.sum(axis=0), table.tocoo()
    shared = float(np.sum(cells.data**2 / (a[cells.coords[0]] * b[cells.coords[1]])))
    loss = max(K + L - 2.0 * shared, 0.0)  # rounding may fall below zero
    return loss / max(K + L - 2, 1) if normalize else loss
