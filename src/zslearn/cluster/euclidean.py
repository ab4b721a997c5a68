"""No learning at all: the yardstick for every mapping."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn.cluster.base import MomentMapping
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.tags import MappingTags


class EuclideanMapping(MomentMapping):
    """The identity: codes are the features, distance is Euclidean, labels are ignored.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_features)
        The identity matrix.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    Examples
    --------
    >>> from zslearn.cluster import EuclideanMapping
    >>> EuclideanMapping().fit([[0.0, 1.0], [2.0, 3.0]], [0, 1]).transform([[4.0, 5.0]])
    array([[4., 5.]])
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(reference="plain k-means")

    def _coef(self, statistics: Statistics) -> NDArray:
        return np.eye(statistics.total.n_features)
