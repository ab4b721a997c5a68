"""IAP: attributes by way of the seen classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, Number
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.posterior.base import Known, PosteriorClassifier, posterior
from zslearn.zero_shot.posterior.binary_attributes import (
    PRIORS,
    THRESHOLDS,
    attribute_contributions,
    attribute_scores,
    prior,
    thresholds,
)
from zslearn.zero_shot.tags import ZeroShotTags


class IAPClassifier(PosteriorClassifier):
    """Indirect attribute prediction (Lampert, Nickisch and Harmeling, CVPR 2009 / TPAMI 2014).

    A sample has attribute m with probability ``p_m(x) = Σ_y P(y|x) B_ym`` over the seen classes,
    where B says which class has which attribute; the candidates are ranked by the Bayes rule of
    `DAPClassifier`. P(y|x) is a softmax classifier here, a calibrated kernel SVM in the paper.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    threshold : "cv", "global" or "attribute", default="global"
        A class has an attribute if its value is above the mean of the matrix of seen classes
        (the paper, on all classes), or above the mean of that attribute.
    prior : {"seen", None}, default="seen"
        Divide by the share of seen classes that have the attribute, or not.
    temperature : "cv" or float, default="cv"
        Posterior = softmax(logits / temperature).
    feature_norm : {"l2", None}, default="l2"
        Scale every sample to unit length, at fit and at prediction.
    signature_norm : {"l2", None}, default=None
        Scale every signature to unit length before it is compared with the threshold.
    classifier, penalty, max_iter, cv, random_state, verbose
        As in `ConSEClassifier`.

    Attributes
    ----------
    threshold_, temperature_ : str, float
        Values used.
    classifier_ : estimator or None
        The fitted seen-class classifier, if one was given.
    coef_, intercept_ : ndarrays of shape (n_features, n_seen) and (n_seen,)
        Otherwise the logistic regression.
    cv_results_ : dict or None
        Held-out accuracy of every point tried, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import IAPClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = IAPClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.3
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        raw_signatures=True,
        reference="Lampert, Nickisch & Harmeling, CVPR 2009",
    )
    _free: ClassVar = {
        "threshold": ("global", "attribute"),
        "temperature": (1.0, 0.3, 0.6, 1.5, 3.0),
    }
    parameter_constraints: ClassVar = {
        "threshold": Either("cv", *THRESHOLDS),
        "prior": Either(*PRIORS),
        "temperature": Either("cv", Number(above=0)),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        threshold: str = "global",
        prior: str | None = "seen",
        temperature: float | str = "cv",
        feature_norm: str | None = "l2",
        signature_norm: str | None = None,
        classifier: Any = None,
        penalty: float = 1e-5,
        max_iter: int = 30,
        cv: int = 3,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.signatures = signatures
        self.threshold = threshold
        self.prior = prior
        self.temperature = temperature
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.classifier = classifier
        self.penalty = penalty
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def _relate(self, candidates: NDArray, known: Known, point: dict[str, Any]) -> NDArray:
        return (candidates > thresholds(known.signatures, point["threshold"])).astype(np.float64)

    def _rank(
        self, logits: NDArray, related: NDArray, known: Known, point: dict[str, Any]
    ) -> NDArray:
        seen = self._relate(known.signatures, known, point)
        P = posterior(logits, point["temperature"]) @ seen
        return attribute_scores(P, related, prior(seen, self.prior))

    def _explain(self, X: Features, s: NDArray) -> Explanation:
        known, point = self._known(), self._point()
        seen = self._relate(known.signatures, known, point)
        p = (posterior(self._logits(X), point["temperature"]) @ seen)[0]
        b = self._relate(s[None], known, point)[0]
        terms = attribute_contributions(p, b, prior(seen, self.prior))
        return Explanation.of(self.signatures_.dimensions, terms)
