"""Regression to the scaled cluster indicators (MLCA)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Flag
from zslearn.cluster.base import MomentMapping
from zslearn.cluster.spectrum import symmetric_power
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.tags import MappingTags

_REFERENCE = (
    "M. T. Law, Y. Yu, M. Cord and E. P. Xing, Closed-form training of Mahalanobis distance for "
    "supervised clustering, CVPR 2016"
)


class MLCA(MomentMapping):
    """Least squares to the cluster indicators, each divided by the root of the cluster's size.

    With Y the one-hot labels and ``J = Y (YᵀY)^(-1/2)``, so that ``JJᵀ`` is the clustering matrix,
    the map is ``L = X⁺ J = G⁺ XᵀJ``; codes are ``X L``. It needs only class counts, class sums
    and ``G = XᵀX``.

    Parameters
    ----------
    svd : bool, default=False
        Replace the codes of a batch by the left singular vectors of their matrix, as the authors'
        program also does. This is **transductive**: a code then depends on all rows of the batch.
        Where there are as many classes as features it whitens the batch and ignores the labels.
    center : bool, default=False
        Subtract the mean of the training rows first; the original does not. Rows that are already
        standardized, as in :class:`SupervisedKMeans`, are centered anyway.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        ``Lᵀ``.
    mean_ : ndarray of shape (n_features,)
        What is subtracted before mapping; zero unless `center`.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    References
    ----------
    M. T. Law, Y. Yu, M. Cord and E. P. Xing, "Closed-form training of Mahalanobis distance for
    supervised clustering", CVPR 2016.

    Examples
    --------
    >>> from zslearn.cluster import MLCA
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> MLCA().fit(data.X_train, data.y_train).transform(data.X_test).shape
    (3000, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(reference=_REFERENCE)
    parameter_constraints: ClassVar = {
        "svd": Flag(),
        "center": Flag(),
    }
    learned_shapes: ClassVar = {"mean_": "d"}

    def __init__(self, svd: bool = False, *, center: bool = False) -> None:
        self.svd = svd
        self.center = center

    @property
    def is_transductive(self) -> bool:
        """Whether the code of a sample depends on the other samples of the batch."""
        return bool(self.svd)

    def _codes(self, X: NDArray) -> NDArray:
        codes = super()._codes(X)
        codes -= (self.coef_ @ self.mean_).astype(codes.dtype)
        return _left_singular_vectors(codes) if self.svd else codes

    def _coef(self, statistics: Statistics) -> NDArray:
        self.mean_ = statistics.total.mean if self.center else np.zeros(statistics.total.n_features)
        moments = statistics.total.about(self.mean_)
        J_X = moments.sums / np.sqrt(moments.counts)[:, None]
        return J_X @ symmetric_power(moments.gram, -1.0)


def _left_singular_vectors(codes: NDArray) -> NDArray:
    """U of the thin SVD, without directions in which the codes do not vary."""
    U, sigma, _ = np.linalg.svd(codes, full_matrices=False)
    # Moments are products, so the null space of the map is known up to the root of the precision.
    return U[:, sigma > 1e-6 * sigma[0]]
