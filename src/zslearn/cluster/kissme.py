"""Difference of inverse pair covariances (KISSME), over all pairs in closed form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Number
from zslearn.cluster.base import MomentMapping
from zslearn.cluster.spectrum import metric_factor, ridged
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.tags import MappingTags
from zslearn.exceptions import InvalidInputError


class KISSME(MomentMapping):
    """Likelihood-ratio metric ``M = [Σ_S⁻¹ - Σ_D⁻¹]₊`` over all pairs of samples.

    Σ_S and Σ_D are the mean outer products of differences over pairs of the same and of different
    classes. No pair is enumerated: the sum over the pairs of class c is n_c times its scatter, and
    the sum over all pairs is N times the total scatter.

    Parameters
    ----------
    ridge : float, default=1e-6
        Added to both covariances, as a share of their mean variance. The default only keeps them
        invertible (on iris it changes M by 0.01 %); more helps where features are many and noisy.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features)
        L with ``LᵀL = M``; directions in which M is not positive are dropped.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    References
    ----------
    M. Köstinger, M. Hirzer, P. Wohlhart, P. M. Roth and H. Bischof, "Large scale metric learning
    from equivalence constraints", CVPR 2012.

    Examples
    --------
    >>> from zslearn.cluster import KISSME
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> KISSME().fit(data.X_train, data.y_train).coef_.shape
    (2, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="M. Köstinger et al., Large scale metric learning from equivalence constraints, "
        "CVPR 2012"
    )
    parameter_constraints: ClassVar = {
        "ridge": Number(least=0),
    }

    def __init__(self, ridge: float = 1e-6) -> None:
        self.ridge = ridge

    def _needs_class_grams(self) -> bool:
        return True

    def _coef(self, statistics: Statistics) -> NDArray:
        ridge = self.ridge
        similar, dissimilar = pair_covariances(statistics)
        M = np.linalg.inv(ridged(similar, ridge)) - np.linalg.inv(ridged(dissimilar, ridge))
        return metric_factor((M + M.T) / 2)


def pair_covariances(statistics: Statistics) -> tuple[NDArray, NDArray]:
    """Mean of ``(x - z)(x - z)ᵀ`` over all unordered pairs of the same and of different classes."""
    n, N = statistics.counts, statistics.total.n_samples
    same_pairs = float(np.sum(n * (n - 1)) / 2)
    other_pairs = N * (N - 1) / 2 - same_pairs
    if same_pairs == 0:
        raise InvalidInputError(
            "KISSME needs pairs of the same class, but every class has a single sample."
        )
    same = sum(
        (count * part.gram for count, part in zip(n, statistics.by_class, strict=True)),
        np.zeros_like(statistics.total.gram),
    )
    return same / same_pairs, (N * statistics.total.gram - same) / other_pairs
