"""Ridge regression to one point per class (RVML)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Number
from zslearn.cluster.base import MomentMapping
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.tags import MappingTags


class RVML(MomentMapping):
    """Regressive virtual metric learning with one virtual point per class.

    Every row is drawn to the unit vector of its class by ridge regression:
    ``L = (XᵀX + λ n I)⁻¹ XᵀY``, codes ``X L``. When all K classes have the same size this is the
    semantic autoencoder with ``λ_SAE = 1 / (K λ)`` up to a common factor, which k-means cannot see.

    Parameters
    ----------
    lam : float, default=0.5
        Ridge per sample; on standardized features about 0.1 to 1 is a good range.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        ``Lᵀ``.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    References
    ----------
    M. Perrot and A. Habrard, "Regressive virtual metric learning", NIPS 2015.

    Examples
    --------
    >>> from zslearn.cluster import RVML
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> RVML(0.5).fit(data.X_train, data.y_train).coef_.shape
    (3, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="M. Perrot and A. Habrard, Regressive virtual metric learning, NIPS 2015"
    )
    parameter_constraints: ClassVar = {
        "lam": Number(above=0),
    }

    def __init__(self, lam: float = 0.5) -> None:
        self.lam = lam

    def _coef(self, statistics: Statistics) -> NDArray:
        lam = self.lam
        moments = statistics.raw
        ridge = lam * moments.n_samples * np.eye(moments.n_features)
        return np.linalg.solve(moments.gram + ridge, moments.sums.T).T
