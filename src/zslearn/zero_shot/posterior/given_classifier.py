"""Any scikit-learn classifier in place of the logistic regression of the posterior methods."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier

from zslearn._parameters import Constraint, Either
from zslearn.zero_shot.posterior.attribute_naive_bayes import (
    fit_naive_bayes,
    is_plain_bayes,
    naive_bayes_probabilities,
)

# Probabilities below this count as this, so that their logarithms are finite.
_LEAST = 1e-12


def _gives_probabilities(value: Any) -> bool:
    estimator = isinstance(value, BaseEstimator) and is_classifier(value)
    return estimator and hasattr(value, "predict_proba")


CLASSIFIER = Either(
    None, Constraint("a scikit-learn classifier with predict_proba", _gives_probabilities)
)


class GivenClassifier(NamedTuple):
    """A fitted classifier of the seen classes, numbered from 0."""

    fitted: Any

    @classmethod
    def fit(cls, classifier: Any, X: NDArray, y: NDArray[np.intp]) -> GivenClassifier:
        """Fit a clone on class indices, each of them present."""
        return cls(clone(classifier).fit(X, y))

    def logits(self, X: NDArray) -> NDArray:
        """Return the logarithms of its probabilities, of shape (n_samples, n_seen)."""
        return np.log(np.maximum(self.fitted.predict_proba(X), _LEAST))


class GivenAttributeClassifiers(NamedTuple):
    """A fitted yes/no classifier for each attribute; None where all seen classes agree."""

    fitted: list[Any]

    @classmethod
    def fit(cls, classifier: Any, X: NDArray, targets: NDArray) -> GivenAttributeClassifiers:
        """Fit a clone for each column of zeros and ones, of shape (n_samples, n_dimensions)."""
        if is_plain_bayes(classifier):
            return cls(fit_naive_bayes(classifier, X, targets))
        return cls(
            [
                clone(classifier).fit(X, column) if np.ptp(column) else None
                for column in targets.T.astype(np.intp)
            ]
        )

    def probabilities(self, X: NDArray) -> NDArray:
        """Return the probability of each attribute; 0.5 of those nothing is known about."""
        known = [i for i, one in enumerate(self.fitted) if one is not None]
        if known and all(is_plain_bayes(self.fitted[i]) for i in known):
            P = np.full((len(X), len(self.fitted)), 0.5)
            P[:, known] = naive_bayes_probabilities([self.fitted[i] for i in known], X)
            return P
        columns = [
            np.full(len(X), 0.5) if one is None else one.predict_proba(X)[:, 1]
            for one in self.fitted
        ]
        return np.stack(columns, axis=1)
