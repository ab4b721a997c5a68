"""Fisher's discriminant directions as a mapping."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from zslearn._parameters import Either, Number, Whole
from zslearn.cluster.base import MomentMapping
from zslearn.cluster.spectrum import ridged
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.tags import MappingTags
from zslearn.exceptions import InvalidInputError


class LDAProjection(MomentMapping):
    """Directions in which classes lie far apart relative to their spread.

    Solves ``S_b v = e S_w v`` and scales the directions to unit variance within classes, so codes
    equal those of scikit-learn's ``LinearDiscriminantAnalysis`` up to sign and shift. Cheap, and
    hard to beat when each class is one cloud.

    Parameters
    ----------
    n_components : int, optional
        Number of directions; by default and at most ``min(n_classes - 1, n_features)``.
    ridge : float, default=1e-9
        Added to the within-class covariance, as a share of its mean variance.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features)
        The directions, most discriminating first.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    Examples
    --------
    >>> from zslearn.cluster import LDAProjection
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> LDAProjection().fit(data.X_train, data.y_train).coef_.shape
    (2, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="R. A. Fisher, The use of multiple measurements in taxonomic problems, 1936; "
        "C. R. Rao, 1948"
    )
    parameter_constraints: ClassVar = {
        "n_components": Either(None, Whole(1)),
        "ridge": Number(least=0),
    }

    def __init__(self, n_components: int | None = None, *, ridge: float = 1e-9) -> None:
        self.n_components = n_components
        self.ridge = ridge

    def _coef(self, statistics: Statistics) -> NDArray:
        ridge = self.ridge
        kept = self._n_kept(len(statistics.classes), statistics.total.n_features)
        N = statistics.total.n_samples
        within = _never_zero(statistics.within / N)
        between = statistics.total.gram / N - statistics.within / N
        try:
            _, vectors = linalg.eigh(between, ridged(within, ridge))
        except np.linalg.LinAlgError as error:
            raise InvalidInputError(
                "the within-class covariance is singular (fewer samples than features, or "
                f"features that repeat each other); raise ridge, which is {ridge:g}."
            ) from error
        return vectors[:, ::-1][:, :kept].T

    def _n_kept(self, n_classes: int, n_features: int) -> int:
        most = min(n_classes - 1, n_features)
        if self.n_components is None:
            return most
        if not 1 <= self.n_components <= most:
            raise InvalidInputError(
                f"n_components must be between 1 and min(n_classes - 1, n_features) = {most}; "
                f"got {self.n_components}."
            )
        return int(self.n_components)


def _never_zero(M: NDArray) -> NDArray:
    """Return the identity in place of zeros (every row equal to the mean of its class)."""
    return M if np.trace(M) > 0 else np.eye(len(M))
