"""Ridge regression in both directions: features to semantics, and semantics to features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, Number
from zslearn.core.linear_maps import mean_eigenvalue, ridge_to_features, ridge_to_semantics
from zslearn.core.moments import Moments
from zslearn.core.nearest import Metric
from zslearn.zero_shot.linear.base import LinearZeroShotClassifier
from zslearn.zero_shot.tags import ZeroShotTags

# Scale-free penalties: multiples of the mean eigenvalue of the Gram matrix they are added to.
_RELATIVE = tuple(np.logspace(-4, 4, 25).tolist())


class RidgeClassifierFS(LinearZeroShotClassifier):
    """Ridge regression from features to semantics.

    ``W = (XᵀX + γ I)⁻¹ Xᵀ S``; a sample is mapped to ``x W`` and compared with the signatures.
    It is the plain baseline of Kodirov, Xiang and Gong (CVPR 2017), and usually far below
    `RRZSLClassifier`: regression shrinks what it predicts, which makes hubs of some signatures.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    gamma : "cv" or float, default="cv"
        γ, for features and signatures normalized as below. "cv" chooses it by holding out classes
        of the training data (samples, with one-hot signatures).
    metric : {"cosine", "euclidean", "dot"}, default="cosine"
        How to compare in the semantic space.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    cv : int, default=5
        Number of folds over classes.
    random_state : int, default=0
        Order in which classes are dealt to folds.

    Attributes
    ----------
    gamma_ : float
        γ used.
    coef_ : ndarray of shape (n_dimensions, n_features)
        Wᵀ.
    cv_results_ : dict or None
        Per-class accuracy of every point on held-out classes, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the penalty, if it was left to "cv".

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
    _penalties: ClassVar = {"gamma": _RELATIVE}
    _defaults: ClassVar = {"gamma": 1.0}
    _direction: ClassVar = "encode"
    parameter_constraints: ClassVar = {
        "gamma": Either("cv", Number(above=0)),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        gamma: float | str = "cv",
        metric: Metric = "cosine",
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        cv: int = 5,
        random_state: int | None = 0,
    ) -> None:
        self.signatures = signatures
        self.gamma = gamma
        self.metric = metric
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.cv = cv
        self.random_state = random_state

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
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    lam : "cv" or float, default="cv"
        λ, for features and signatures normalized as below. "cv" chooses it by holding out classes
        of the training data (samples, with one-hot signatures).
    metric : {"euclidean", "cosine", "dot"}, default="euclidean"
        How to compare; the paper takes the Euclidean distance.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    cv : int, default=5
        Number of folds over classes.
    random_state : int, default=0
        Order in which classes are dealt to folds.

    Attributes
    ----------
    lam_ : float
        λ used.
    coef_ : ndarray of shape (n_dimensions, n_features)
        M.
    cv_results_ : dict or None
        Per-class accuracy of every point on held-out classes, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the penalty, if it was left to "cv".

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
    _penalties: ClassVar = {"lam": _RELATIVE}
    _defaults: ClassVar = {"lam": 0.1}
    _direction: ClassVar = "decode"
    parameter_constraints: ClassVar = {
        "lam": Either("cv", Number(above=0)),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        lam: float | str = "cv",
        metric: Metric = "euclidean",
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        cv: int = 5,
        random_state: int | None = 0,
    ) -> None:
        self.signatures = signatures
        self.lam = lam
        self.metric = metric
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.cv = cv
        self.random_state = random_state

    def _units(self, moments: Moments) -> dict[str, float]:
        A = (self.seen_signatures_.T * moments.counts) @ self.seen_signatures_
        return {"lam": mean_eigenvalue(A)}

    def _vectors(
        self, moments: Moments, seen: NDArray, rows: NDArray, values: tuple[NDArray, ...]
    ) -> NDArray:
        return ridge_to_features(moments, seen, rows, values[0])
