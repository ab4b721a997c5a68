"""Scorers for scikit-learn's searches and cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import Either, Whole, check_value
from zslearn._pipelines import features_of, last_step
from zslearn.core.rows import plain_labels, warn_if_shuffled
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.metrics.accuracy import column_of, harmonic_mean, hit_at_k, per_class_accuracy

_METRIC = Either("per_class", "unseen", "harmonic_mean", "hit_at_k")


def make_zero_shot_scorer(
    metric: str, *, candidates: Sequence[Any] | None = None, k: int = 5
) -> ZeroShotScorer:
    """Make a scorer of zero-shot classifiers, for `cross_validate` and `GridSearchCV`.

    Which classes compete decides the figure. By default a fold's own classes do: those of its test
    labels that were not trained on and, if the test labels have classes that were trained on, all
    of those as well. So the candidates of a class-wise fold are the classes held out, which are
    known from the fold's ``y``; classes of the table without any sample do not compete.

    Parameters
    ----------
    metric : {"per_class", "unseen", "harmonic_mean", "hit_at_k"}
        Per-class accuracy of all test samples; per-class accuracy of the samples of unseen classes,
        among unseen classes (conventional); harmonic mean of the per-class accuracies on seen and
        unseen classes, among both (generalized; ``ClassKFold(holdout=0.2)`` tests both); share of
        samples, averaged over classes, whose class is among the k best.
    candidates : "all", "seen", "unseen" or sequence of class names, optional
        Classes allowed as answers.
    k : int, default=5
        How many guesses "hit_at_k" allows.

    Returns
    -------
    ZeroShotScorer
        To be called as ``scorer(estimator, X, y)`` with a fitted zero-shot classifier, or with a
        pipeline or search that ends in one. It can be pickled.

    Examples
    --------
    >>> from sklearn.model_selection import cross_validate
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.metrics import make_zero_shot_scorer
    >>> from zslearn.model_selection import ClassKFold
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> scoring = {name: make_zero_shot_scorer(name, k=2) for name in ("unseen", "hit_at_k")}
    >>> clf = SAEClassifier(data.signatures, lam=1.0)
    >>> found = cross_validate(clf, data.X, data.y, cv=ClassKFold(3), scoring=scoring)
    >>> bool((found["test_hit_at_k"] >= found["test_unseen"]).all())
    True
    """
    check_value("metric", metric, _METRIC)
    check_value("k", k, Whole(1))
    return ZeroShotScorer(metric, candidates, k)


@dataclass(frozen=True)
class ZeroShotScorer:
    """A measure of a fitted zero-shot classifier on test samples; see `make_zero_shot_scorer`.

    Attributes
    ----------
    metric : str
        What is measured.
    candidates : "all", "seen", "unseen", sequence of class names or None
        Classes allowed as answers; None takes the classes of the test labels.
    k : int
        How many guesses "hit_at_k" allows.
    """

    metric: str
    candidates: Sequence[Any] | None = None
    k: int = 5

    def __call__(self, estimator: Any, X: Any, y: ArrayLike) -> float:
        """Return the measure, between 0 and 1.

        Parameters
        ----------
        estimator : ZeroShotClassifier, Pipeline or search
            Fitted.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            True classes.

        Returns
        -------
        float
        """
        warn_if_shuffled(X, y, stacklevel=3)
        classifier, X = _last_step(estimator, X)
        truth = np.asarray(plain_labels(y))
        unseen = ~np.isin(truth, classifier.seen_classes_)
        self._check_sides(unseen)
        if self.metric == "unseen":
            X = X if unseen.all() else X[unseen]
            truth, unseen = truth[unseen], unseen[unseen]
        allowed = self._allowed(classifier, truth, unseen)
        column_of(truth, allowed)  # refuses a class that could never be right, as a misspelt one
        if self.metric == "hit_at_k":
            scores = classifier.decision_function(X, allowed)
            return hit_at_k(truth, scores, candidates=allowed, k=self.k, average="class")
        answers = classifier.predict(X, allowed)
        if self.metric == "harmonic_mean":
            sides = (~unseen, unseen)
            return harmonic_mean(*(per_class_accuracy(truth[s], answers[s]) for s in sides))
        return per_class_accuracy(truth, answers)

    def _check_sides(self, unseen: NDArray[np.bool_]) -> None:
        """Refuse test labels without the classes that the measure is about."""
        if self.metric in ("unseen", "harmonic_mean") and not unseen.any():
            raise InvalidInputError(
                f"the scorer {self.metric!r} needs samples of unseen classes; every class in y was "
                "trained on. Use cv=ClassKFold()."
            )
        if self.metric == "harmonic_mean" and unseen.all():
            raise InvalidInputError(
                "the scorer 'harmonic_mean' needs samples of seen classes too; no class in y was "
                "trained on. Use cv=ClassKFold(holdout=0.2)."
            )

    def _allowed(self, classifier: Any, y: NDArray[Any], unseen: NDArray[np.bool_]) -> NDArray[Any]:
        """Classes allowed as answers."""
        if self.candidates is not None:
            return np.asarray(classifier.candidate_names(self.candidates))
        new = np.unique(y[unseen])
        names = new if unseen.all() else np.union1d(classifier.seen_classes_, new)
        if len(names) == 1:
            raise InvalidInputError(
                f"the test labels have one class, {names[0]!s}, and as the only candidate it is "
                "always right. Hold out several classes, or pass candidates=."
            )
        return np.asarray(classifier.candidate_names(names))


def _last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier at the end of searches and pipelines, and the samples it gets."""
    last, X = last_step(estimator), features_of(estimator, X)
    while hasattr(last, "best_estimator_"):
        X = features_of(last.best_estimator_, X)
        last = last_step(last.best_estimator_)
    if not hasattr(last, "candidate_names"):
        raise InvalidTypeError(
            "a zero-shot scorer needs a zero-shot classifier, or a pipeline or search that ends in "
            f"one; got {type(last).__name__}."
        )
    return last, X
