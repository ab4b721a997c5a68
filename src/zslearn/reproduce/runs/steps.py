"""The two steps of the authors' CUB demo that the paper does not mention, each by itself.

A method's name may carry them: "sae+projection", "sae-encode+projection+zscore".
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import SAEClassifier, ZeroShotTags, make_classifier
from zslearn.zero_shot.legacy import LegacyCUB
from zslearn.zero_shot.registry import find_method

STEPS = ("projection", "zscore")
_DIRECTIONS = {"sae": "decode", "sae-encode": "encode"}


class SupervisedProjection(TransformerMixin, BaseEstimator):
    """Replace features by ridge scores of the seen classes: X (XᵀX + r I)⁻¹ Xᵀ Y.

    Parameters
    ----------
    ridge : float, default=50.0
        The demo's value, for raw features.
    """

    def __init__(self, ridge: float = 50.0) -> None:
        self.ridge = ridge

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        """Learn the projection from samples and their classes."""
        classes, labels = np.unique(y, return_inverse=True)
        X = np.asarray(X, np.float64)
        sums = np.zeros((X.shape[1], len(classes)))
        np.add.at(sums.T, labels, X)
        self.projection_ = np.linalg.solve(X.T @ X + self.ridge * np.eye(X.shape[1]), sums)
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the score of every seen class."""
        return np.asarray(X, np.float64) @ self.projection_


class BatchStandardizedSAE(SAEClassifier):
    """SAE whose scores are standardized class by class over the test batch."""

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        transductive=True, min_batch=30, reference=SAEClassifier.zero_shot_tags.reference
    )

    def compare(self, queries: Any, classes: Any) -> NDArray[Any]:
        """Return scores of mean 0 and deviation 1 over the batch, class by class."""
        scores = super().compare(queries, classes)
        deviation = scores.std(axis=0, ddof=1)
        centered = scores - scores.mean(axis=0)
        return np.divide(centered, deviation, out=np.zeros_like(centered), where=deviation > 0)


def with_steps(name: str, seed: int = 0) -> Any:
    """Return a method's name as it is, or an estimator with the steps its name carries.

    A method that draws random numbers becomes an estimator with the seed.
    """
    base, *steps = name.split("+")
    if name == "legacy_cub-decode":
        return LegacyCUB(direction="decode")
    if not steps:
        if find_method(base).tags.deterministic:  # refuses unknown names before data is read
            return base
        return make_classifier(base, random_state=seed)
    if base not in _DIRECTIONS or not set(steps) <= set(STEPS):
        raise InvalidInputError(
            f"{name!r}: steps are {' and '.join(STEPS)}, only for {' and '.join(_DIRECTIONS)}."
        )
    kind = BatchStandardizedSAE if "zscore" in steps else SAEClassifier
    classifier = kind(direction=_DIRECTIONS[base])
    return (
        make_pipeline(SupervisedProjection(), classifier) if "projection" in steps else classifier
    )
