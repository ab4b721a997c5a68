"""Direct similarity: an unseen class is recognized by the seen classes most like it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from zslearn._parameters import Either, Flag, Number, Whole
from zslearn.core.nearest import scores
from zslearn.zero_shot.posterior.base import Known, PosteriorClassifier
from zslearn.zero_shot.tags import ZeroShotTags

RULES = ("product", "mean")


class DirectSimilarityClassifier(PosteriorClassifier):
    """Direct similarity to seen classes (Rohrbach, Stark and Schiele, CVPR 2011).

    Every candidate takes the K seen classes with the most similar signatures, with weights w
    summing to one, and scores ``Σ_k w_k log(P(y_k|x) / P(y_k))`` ("product", as in DAP) or ``Σ_k
    w_k P(y_k|x)`` ("mean"). The paper weighs the K classes equally; the weights here are their
    similarities, so that a seen candidate is recognized mainly by its own classifier.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    n_related : int, default=5
        K.
    weighted : bool, default=True
        Weigh the related classes by similarity; False weighs them equally, as the paper does.
    rule : "cv", "product" or "mean", default="cv"
        How posteriors are combined.
    temperature : "cv" or float, default="cv"
        Posterior = softmax(logits / temperature).
    center : "cv" or bool, default="cv"
        Subtract the mean of the seen signatures before the cosine similarity is taken.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    classifier, penalty, max_iter, cv, random_state, verbose
        As in `ConSEClassifier`.

    Attributes
    ----------
    rule_, temperature_, center_ : str, float, bool
        Values used.
    prior_ : ndarray of shape (n_seen,)
        P(y), the share of each seen class in training.
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
    >>> from zslearn.zero_shot import DirectSimilarityClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = DirectSimilarityClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.3
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="Rohrbach, Stark & Schiele, CVPR 2011"
    )
    _free: ClassVar = {
        "rule": RULES,
        "temperature": (1.0, 0.3, 3.0),
        "center": (False, True),
    }
    parameter_constraints: ClassVar = {
        "n_related": Whole(1),
        "weighted": Flag(),
        "rule": Either("cv", *RULES),
        "temperature": Either("cv", Number(above=0)),
        "center": Either("cv", True, False),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        n_related: int = 5,
        weighted: bool = True,
        rule: str = "cv",
        temperature: float | str = "cv",
        center: bool | str = "cv",
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        classifier: Any = None,
        penalty: float = 1e-5,
        max_iter: int = 30,
        cv: int = 3,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.signatures = signatures
        self.n_related = n_related
        self.weighted = weighted
        self.rule = rule
        self.temperature = temperature
        self.center = center
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.classifier = classifier
        self.penalty = penalty
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def _relate(self, candidates: NDArray, known: Known, point: dict[str, Any]) -> NDArray:
        seen = known.signatures
        origin = seen.mean(axis=0) if point["center"] else np.zeros(seen.shape[1])
        similarity = scores(candidates - origin, seen - origin, "cosine")
        return related_weights(similarity, int(self.n_related), weighted=self.weighted)

    def _rank(
        self, logits: NDArray, related: NDArray, known: Known, point: dict[str, Any]
    ) -> NDArray:
        logs = log_softmax(logits.astype(np.float64) / point["temperature"], axis=1)
        if point["rule"] == "mean":
            return np.exp(logs) @ related.T
        return (logs - np.log(known.share)) @ related.T


def related_weights(similarity: NDArray, n_related: int, *, weighted: bool) -> NDArray:
    """Keep the most similar seen classes of each candidate, with weights that sum to one.

    Parameters
    ----------
    similarity : ndarray of shape (n_candidates, n_seen)
        Similarities; negative ones count as 0.
    n_related : int
        Classes to keep.
    weighted : bool
        Weigh by similarity rather than equally.

    Returns
    -------
    ndarray of shape (n_candidates, n_seen)
    """
    kept = np.argsort(-similarity, axis=1, kind="stable")[:, :n_related]
    chosen = np.maximum(np.take_along_axis(similarity, kept, axis=1), 0.0)
    # Equal weights also where no seen class is similar at all.
    flat = ~(chosen.sum(axis=1) > 0) if weighted else np.ones(len(kept), dtype=bool)
    chosen[flat] = 1.0
    weights = np.zeros_like(similarity, dtype=np.float64)
    np.put_along_axis(weights, kept, chosen / chosen.sum(axis=1, keepdims=True), axis=1)
    return weights
