"""Ridge regression in both directions: features to semantics, and semantics to features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import parameter
from zslearn._parameters import Number
from zslearn.core.linear_maps import mean_eigenvalue, ridge_to_features, ridge_to_semantics
from zslearn.core.moments import Moments
from zslearn.core.nearest import Metric
from zslearn.zero_shot.linear.base import LinearZeroShotClassifier
from zslearn.zero_shot.tags import ZeroShotTags

# Multiples of the mean eigenvalue of the Gram matrix that a penalty is added to.
MULTIPLES = tuple(np.logspace(-4, 4, 25).tolist())


class RidgeClassifierFS(LinearZeroShotClassifier):
    """Ridge regression from features to semantics.

    ``W = (XᵀX + γ I)⁻¹ Xᵀ S``; a sample is mapped to ``x W`` and compared with the signatures.
    It is the plain baseline of Kodirov, Xiang and Gong (CVPR 2017), and usually far below
    `RRZSLClassifier`: regression shrinks what it predicts, which makes hubs of some signatures.

    Parameters
    ----------
    gamma : "cv" or float, default="cv"
        γ, for features and signatures normalized as below. "cv" chooses it by holding out classes
        of the training data (samples, with one-hot signatures).
    metric : {"cosine", "euclidean", "dot"}, default="cosine"
        How to compare in the semantic space.

    Attributes
    ----------
    gamma_ : float
        γ used.
    coef_ : ndarray of shape (n_dimensions, n_features)
        Wᵀ.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import RidgeClassifierFS
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = RidgeClassifierFS(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.8
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        reference="baseline of Kodirov, Xiang & Gong, CVPR 2017"
    )
    _direction: ClassVar = "encode"
    gamma: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=MULTIPLES, fallback=1.0
    )
    metric: Metric = parameter(default="cosine")

    def _units(self, moments: Moments) -> dict[str, float]:
        return {"gamma": mean_eigenvalue(moments.gram)}

    def _vectors(
        self, moments: Moments, seen: NDArray, rows: NDArray, values: tuple[NDArray, ...]
    ) -> NDArray:
        return ridge_to_semantics(moments, seen, rows, values[0])


class RRZSLClassifier(LinearZeroShotClassifier):
    """Ridge regression from semantics to features (RRZSL).

    ``M = (SᵀS + λ I)⁻¹ SᵀX`` with the signature of each sample as a row of S; the class vectors
    ``s_c M`` are compared with the sample in the feature space (Shigeto, Suzuki, Hara, Shimbo and
    Matsumoto, ECML 2015). Regressing towards the features avoids hubs.

    Parameters
    ----------
    lam : "cv" or float, default="cv"
        λ, for features and signatures normalized as below. "cv" chooses it by holding out classes
        of the training data (samples, with one-hot signatures).
    metric : {"euclidean", "cosine", "dot"}, default="euclidean"
        How to compare; the paper takes the Euclidean distance.

    Attributes
    ----------
    lam_ : float
        λ used.
    coef_ : ndarray of shape (n_dimensions, n_features)
        M.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import RRZSLClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = RRZSLClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        reference="Shigeto, Suzuki, Hara, Shimbo & Matsumoto, ECML 2015"
    )
    _direction: ClassVar = "decode"
    lam: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=MULTIPLES, fallback=0.1
    )
    metric: Metric = parameter(default="euclidean")

    def _units(self, moments: Moments) -> dict[str, float]:
        A = (self.seen_signatures_.T * moments.counts) @ self.seen_signatures_
        return {"lam": mean_eigenvalue(A)}

    def _vectors(
        self, moments: Moments, seen: NDArray, rows: NDArray, values: tuple[NDArray, ...]
    ) -> NDArray:
        return ridge_to_features(moments, seen, rows, values[0])
