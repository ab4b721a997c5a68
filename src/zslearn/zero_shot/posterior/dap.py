"""DAP: one yes/no classifier for each attribute."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from zslearn._parameters import Either, Number, Whole
from zslearn.core.logistic import Axes, LogisticModel, fit_logistic
from zslearn.zero_shot.base import Features, ZeroShotClassifier, dense
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.posterior.binary_attributes import (
    PRIORS,
    THRESHOLDS,
    attribute_contributions,
    attribute_scores,
    prior,
    thresholds,
)
from zslearn.zero_shot.posterior.given_classifier import CLASSIFIER, GivenAttributeClassifiers
from zslearn.zero_shot.posterior.seen_classifier import (
    forget_logistic,
    iteration_lines,
    seen_logits,
)
from zslearn.zero_shot.search import (
    DEALS,
    Fold,
    Point,
    choose_parameters,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

_PENALTIES = (1e-4, 1e-5, 1e-3)
# The choice is made on at most this many principal axes; the final fit uses all.
_SEARCH_AXES = 200


class DAPClassifier(ZeroShotClassifier):
    """Direct attribute prediction (Lampert, Nickisch and Harmeling, CVPR 2009 / TPAMI 2014).

    Classes have or lack each attribute (B, from a threshold). A classifier for each attribute
    gives ``p_m(x)``, and a class scores
    ``Σ_m B_cm log(p_m / π_m) + (1 − B_cm) log((1 − p_m) / (1 − π_m))`` with the prior π of the
    attributes. Here all attributes are learned at once by logistic regression, unless another
    classifier is given; the paper uses calibrated kernel SVMs.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    threshold : "cv", "global" or "attribute", default="global"
        A class has an attribute if its value is above the mean of the matrix of seen classes
        (the paper, on all classes; it reproduces AwA's binary matrix from the raw one), or above
        the mean of that attribute.
    prior : {"seen", None}, default="seen"
        Divide by the share of seen classes that have the attribute, or not.
    classifier : scikit-learn classifier with ``predict_proba``, optional
        Classifier of one attribute; it is cloned for each. An attribute that all seen classes have,
        or none, then counts for nothing. By default logistic regression. Give one where attributes
        are no linear function of the features, as in measurements of sensors.
    penalty : "cv" or float, default="cv"
        Penalty of the logistic regression, see `zslearn.core.logistic.fit_logistic`.
    feature_norm : {"l2", None}, default="l2"
        Scale every sample to unit length, at fit and at prediction.
    signature_norm : {"l2", None}, default=None
        Scale every signature to unit length before it is compared with the threshold.
    max_iter : int, default=30
        Maximum number of iterations of the classifiers.
    cv : int, default=3
        Number of folds over classes by which "cv" chooses, for each of three deals of the classes,
        on the first 200 principal axes; the final fit uses all.
    random_state : int, default=0
        Order in which classes are dealt to folds.
    verbose : int, default=0
        1 reports each fold, 2 also iterations of the classifiers, on stderr.

    Attributes
    ----------
    threshold_, penalty_ : str, float or None
        Values used; a classifier that was given has no penalty.
    thresholds_, prior_ : ndarrays of shape (n_dimensions,)
        Threshold and prior of each attribute.
    classifiers_ : list of estimators or None
        The fitted attribute classifiers, if one was given; None in the list for an attribute that
        all seen classes have, or none.
    coef_, intercept_ : ndarrays of shape (n_features, n_dimensions) and (n_dimensions,)
        Otherwise the logistic regression.
    cv_results_ : dict or None
        Held-out accuracy of every point tried, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import DAPClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = DAPClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.5
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        raw_signatures=True,
        reference="Lampert, Nickisch & Harmeling, CVPR 2009",
    )
    parameter_constraints: ClassVar = {
        "threshold": Either("cv", *THRESHOLDS),
        "prior": Either(*PRIORS),
        "classifier": CLASSIFIER,
        "penalty": Either("cv", Number(above=0)),
        "max_iter": Whole(1),
    }
    learned_shapes: ClassVar = {
        "coef_": "optional d k",
        "intercept_": "optional k",
        "thresholds_": "k",
        "prior_": "k",
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        threshold: str = "global",
        prior: str | None = "seen",
        classifier: Any = None,
        penalty: float | str = "cv",
        feature_norm: str | None = "l2",
        signature_norm: str | None = None,
        max_iter: int = 30,
        cv: int = 3,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.signatures = signatures
        self.threshold = threshold
        self.prior = prior
        self.classifier = classifier
        self.penalty = penalty
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X)
        # A classifier that was given gets the features themselves, ours their principal axes.
        axes = Axes.of(X) if self.classifier is None else None
        Z = X if axes is None else axes.coordinates(X)
        chosen = self._chosen(Z, y, axes)
        self.threshold_, self.penalty_ = chosen["threshold"], chosen.get("penalty")
        self.thresholds_ = thresholds(self.seen_signatures_, self.threshold_)
        B = self._binary(self.seen_signatures_)
        self.prior_ = prior(B, self.prior)
        self._keep(self._classifiers(Z, B[y], self.penalty_, axes), axes)

    def _keep(self, model: LogisticModel | GivenAttributeClassifiers, axes: Axes | None) -> None:
        """Set the learned state."""
        forget_logistic(self)
        self.classifiers_ = model.fitted if isinstance(model, GivenAttributeClassifiers) else None
        if isinstance(model, LogisticModel) and axes is not None:
            model = model.in_features(axes)
            self.coef_, self.intercept_ = model.coef, model.intercept
            self.n_iter_ = max(model.n_iter, 1)

    def _chosen(self, Z: NDArray, y: NDArray[np.intp], axes: Axes | None) -> Point:
        """Take what was given, and choose the rest by holding out classes."""
        few = axes
        grid: dict[str, tuple[Any, ...]] = {"threshold": THRESHOLDS}
        if few is not None:
            few, Z = few.restricted(_SEARCH_AXES), Z[:, :_SEARCH_AXES]
            grid["penalty"] = _PENALTIES
        points = grid_points(self, grid)

        def judge(fold: Fold) -> list[float]:
            return [self._held_out(Z, y, few, fold, point) for point in points]

        return choose_parameters(self, points, unseen_class_folds(self, y, DEALS), judge)

    def _held_out(
        self, Z: NDArray, y: NDArray[np.intp], axes: Axes | None, fold: Fold, point: Point
    ) -> float:
        S = self.seen_signatures_
        B = (thresholds(S[fold.known], point["threshold"]) < S).astype(np.float64)
        targets = B[y[fold.train]]
        model = self._classifiers(Z[fold.train], targets, point.get("penalty"), axes)
        P = model.probabilities(Z[fold.held_out])
        ranked = attribute_scores(P, B[fold.new], prior(B[fold.known], self.prior))
        return held_out_accuracy(ranked, fold.y_held_out)

    def _classifiers(
        self, Z: NDArray, targets: NDArray, penalty: Any, axes: Axes | None
    ) -> LogisticModel | GivenAttributeClassifiers:
        if axes is None:
            return GivenAttributeClassifiers.fit(self.classifier, Z, targets)
        return fit_logistic(
            Z,
            targets,
            "sigmoid",
            axes,
            penalty=float(penalty),
            max_iter=int(self.max_iter),
            progress=iteration_lines(self),
        )

    def _binary(self, S: NDArray) -> NDArray:
        return (self.thresholds_ < S).astype(np.float64)

    def _prepare(self, S: NDArray) -> NDArray:
        return self._binary(S)

    def _probabilities(self, X: Features) -> NDArray:
        """Probability of each attribute, of shape (n_samples, n_dimensions)."""
        if self.classifiers_ is None:
            return expit(seen_logits(self, X))
        return GivenAttributeClassifiers(self.classifiers_).probabilities(dense(X))

    def _score(self, X: Features, prepared: NDArray) -> NDArray:
        return attribute_scores(self._probabilities(X), prepared, self.prior_)

    def _explain(self, X: Features, s: NDArray) -> Explanation:
        p = self._probabilities(X)[0]
        terms = attribute_contributions(p, self._binary(s), self.prior_)
        return Explanation.of(self.signatures_.dimensions, terms)
