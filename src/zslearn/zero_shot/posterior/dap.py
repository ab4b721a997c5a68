"""DAP: one yes/no classifier for each attribute."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from zslearn.core.axes import Axes
from zslearn.core.logistic import LogisticModel, fit_logistic
from zslearn.metrics import per_class_accuracy
from zslearn.zero_shot.base import Features, ZeroShotClassifier, dense
from zslearn.zero_shot.folds import at_most_rows, one_of, parameter_folds, positive
from zslearn.zero_shot.posterior.binary_attributes import (
    PRIORS,
    THRESHOLDS,
    attribute_scores,
    prior,
    thresholds,
)
from zslearn.zero_shot.posterior.seen_classifier import seen_logits
from zslearn.zero_shot.tags import ZeroShotTags

_PENALTIES = (1e-4, 1e-5, 1e-3)
# The choice is made on at most this many samples and principal axes; the final fit uses all.
_SEARCH_ROWS = 3000
_SEARCH_AXES = 200


class DAPClassifier(ZeroShotClassifier):
    """Direct attribute prediction (Lampert, Nickisch and Harmeling, CVPR 2009 / TPAMI 2014).

    Classes have or lack each attribute (B, from a threshold). A classifier for each attribute
    gives ``p_m(x)``, and a class scores
    ``Σ_m B_cm log(p_m / π_m) + (1 − B_cm) log((1 − p_m) / (1 − π_m))`` with the prior π of the
    attributes. Here all attributes are learned at once by logistic regression; the paper uses
    calibrated kernel SVMs.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector a class, for seen and unseen classes; None means one-hot.
    threshold : "cv", "global" or "attribute", default="cv"
        A class has an attribute if its value is above the mean of the matrix of seen classes
        (the paper, on all classes), or above the mean of that attribute.
    prior : {"seen", None}, default="seen"
        Divide by the share of seen classes that have the attribute, or not.
    penalty : "cv" or float, default="cv"
        Penalty of the attribute classifiers, see `zslearn.core.logistic.fit_logistic`.
    feature_norm : {"l2", None}, default="l2"
        Scale every sample to unit length, at fit and at prediction.
    signature_norm : {"l2", None}, default=None
        Scale every signature to unit length before it is compared with the threshold.
    max_iter : int, default=30
        Iterations of the classifiers at most.
    cv : int, default=3
        Number of folds over classes by which "cv" chooses, on at most 3,000 samples and the first
        200 principal axes; the final fit uses all.
    random_state : int, default=0
        Order in which classes are dealt to folds.
    verbose : bool, default=False
        Tell the progress on stderr.

    Attributes
    ----------
    threshold_, penalty_ : str, float
        Values used.
    thresholds_, prior_ : ndarrays of shape (n_dimensions,)
        Threshold and prior of each attribute.
    coef_, intercept_ : ndarrays of shape (n_features, n_dimensions) and (n_dimensions,)
        The attribute classifiers.
    cv_results_ : dict or None
        "points" tried and their "scores" of shape (n_points, n_folds).

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import DAPClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = DAPClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen]) > 0.5
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="Lampert, Nickisch & Harmeling, CVPR 2009"
    )

    def __init__(
        self,
        signatures: Any = None,
        *,
        threshold: str = "cv",
        prior: str | None = "seen",
        penalty: float | str = "cv",
        feature_norm: str | None = "l2",
        signature_norm: str | None = None,
        max_iter: int = 30,
        cv: int = 3,
        random_state: int | None = 0,
        verbose: bool = False,
    ) -> None:
        self.signatures = signatures
        self.threshold = threshold
        self.prior = prior
        self.penalty = penalty
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        self._check_choices()
        X = dense(X)
        axes = Axes.of(X)
        Z = axes.coordinates(X)
        self.threshold_, self.penalty_ = self._chosen(Z, y, axes)
        self.thresholds_ = thresholds(self.seen_signatures_, self.threshold_)
        self.prior_ = prior(self._binary(self.seen_signatures_), self.prior)
        B = self._binary(self.seen_signatures_)
        model = self._classifiers(Z, y, B, self.penalty_, axes).in_features(axes)
        self.coef_, self.intercept_ = model.coef, model.intercept
        self.n_iter_ = max(model.n_iter, 1)

    def _chosen(self, Z: NDArray, y: NDArray[np.intp], axes: Axes) -> tuple[str, float]:
        hows = THRESHOLDS if self.threshold == "cv" else (self.threshold,)
        penalties = _PENALTIES if self.penalty == "cv" else (float(self.penalty),)
        points = list(itertools.product(hows, penalties))
        self.cv_results_: dict[str, Any] | None = None
        rows = at_most_rows(y, _SEARCH_ROWS, self.random_state)
        few = axes.restricted(_SEARCH_AXES)
        Z, y = Z[rows, :_SEARCH_AXES], y[rows]
        folds = parameter_folds(Z, y, self.cv, self.random_state)
        if len(points) == 1 or self.signatures is None or not folds:
            return points[0]
        accuracy = np.array([[self._held_out(Z, y, few, f, p) for f in folds] for p in points])
        named = [dict(zip(("threshold", "penalty"), point, strict=True)) for point in points]
        self.cv_results_ = {"points": named, "scores": accuracy}
        return points[int(accuracy.mean(axis=1).argmax())]

    def _held_out(
        self, Z: NDArray, y: NDArray[np.intp], axes: Axes, fold: Any, point: tuple[str, float]
    ) -> float:
        (train, held_out), (how, penalty) = fold, point
        known = np.unique(y[train])
        new, truth = np.unique(y[held_out], return_inverse=True)
        S = self.seen_signatures_
        B = (thresholds(S[known], how) < S).astype(np.float64)
        model = self._classifiers(Z[train], y[train], B, penalty, axes)
        P = expit(model.logits(Z[held_out]))
        ranked = attribute_scores(P, B[new], prior(B[known], self.prior))
        return per_class_accuracy(truth, ranked.argmax(axis=1))

    def _classifiers(
        self, Z: NDArray, y: NDArray[np.intp], B: NDArray, penalty: float, axes: Axes
    ) -> LogisticModel:
        return fit_logistic(
            Z,
            B[y],
            "sigmoid",
            axes,
            penalty=penalty,
            max_iter=int(self.max_iter),
            verbose=self.verbose,
        )

    def _binary(self, S: NDArray) -> NDArray:
        return (self.thresholds_ < S).astype(np.float64)

    def _prepare(self, S: NDArray) -> NDArray:
        return self._binary(S)

    def _score(self, X: Features, prepared: NDArray) -> NDArray:
        return attribute_scores(expit(seen_logits(self, X)), prepared, self.prior_)

    def _check_choices(self) -> None:
        one_of("threshold", self.threshold, ("cv", *THRESHOLDS))
        one_of("prior", self.prior, PRIORS)
        positive("max_iter", self.max_iter)
        if self.penalty != "cv":
            positive("penalty", self.penalty)
