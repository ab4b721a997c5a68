"""Whitening of the spread within classes (RCA)."""

from __future__ import annotations

from typing import ClassVar

from numpy.typing import NDArray

from zslearn._parameters import Number
from zslearn.cluster.base import MomentMapping
from zslearn.cluster.spectrum import ridged, symmetric_power
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.tags import MappingTags


class RCA(MomentMapping):
    """Relevant component analysis with the classes as chunklets: ``Σ_w^(-1/2)``.

    Directions in which samples of one class differ count little, the others count much.

    Parameters
    ----------
    ridge : float, default=1e-9
        Added to the within-class covariance, as a share of its mean variance.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_features)
        The whitening map.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    References
    ----------
    A. Bar-Hillel, T. Hertz, N. Shental and D. Weinshall, "Learning distance functions using
    equivalence relations", ICML 2003.

    Examples
    --------
    >>> from zslearn.cluster import RCA
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> RCA().fit(data.X_train, data.y_train).coef_.shape
    (3, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="A. Bar-Hillel et al., Learning distance functions using equivalence relations, "
        "ICML 2003"
    )
    parameter_constraints: ClassVar = {
        "ridge": Number(least=0),
    }

    def __init__(self, ridge: float = 1e-9) -> None:
        self.ridge = ridge

    def _coef(self, statistics: Statistics) -> NDArray:
        ridge = self.ridge
        covariance = statistics.within / statistics.total.n_samples
        return symmetric_power(ridged(covariance, ridge), -0.5)
