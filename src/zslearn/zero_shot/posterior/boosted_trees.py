"""Gradient boosting of small trees, kept as plain arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from zslearn._parameters import Number, Seed, Whole, check_parameters
from zslearn.core.fitting import all_or_nothing
from zslearn.core.trees import Binned, Trees, grow
from zslearn.exceptions import InvalidInputError


class BoostedTreesClassifier(ClassifierMixin, BaseEstimator):
    """Gradient boosting with log loss (Friedman, Annals of Statistics 2001), saved without pickle.

    An ordinary classifier, made to be the `classifier` of DAP and its relatives. Trees are grown on
    binned features, which is fast on a few thousand samples, and kept as arrays. Where no feature
    has more values than there are bins, it does what scikit-learn's `GradientBoostingClassifier`
    with the same parameters does, as long as a tree sees all samples and features.

    Parameters
    ----------
    n_rounds : int, default=60
        Trees for two classes; as many for each class if there are more.
    learning_rate : float, default=0.1
        What the answer of each tree is multiplied by.
    max_depth : int, default=3
        Splits from the root of a tree to a leaf.
    min_samples_leaf : int, default=20
        Samples on either side of a split, at least.
    n_bins : int, default=32
        Bins of a feature.
    max_features : int, default=64
        Features that a tree may look at, drawn at random where there are more.
    max_samples : int, default=2000
        Samples that a tree is grown on, drawn at random where there are more (stochastic gradient
        boosting), which bounds the time.
    random_state : int or None, default=0
        Seed of these draws.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted.
    features_, thresholds_ : ndarrays of shape (n_scores, n_rounds, 2**max_depth - 1)
        Feature and threshold of each node, its children being the nodes 2i + 1 (at most the
        threshold) and 2i + 2. One score for two classes, otherwise one per class.
    values_ : ndarray of shape (n_scores, n_rounds, 2**max_depth)
        What each leaf adds to a score.
    base_ : ndarray of shape (n_scores,)
        What the scores begin with.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.zero_shot import BoostedTreesClassifier
    >>> X = np.random.default_rng(0).standard_normal((400, 2))
    >>> y = X[:, 0] * X[:, 1] > 0  # a product, which no linear classifier sees
    >>> clf = BoostedTreesClassifier().fit(X[:300], y[:300])
    >>> clf.score(X[300:], y[300:]) > 0.9
    True
    """

    parameter_constraints: ClassVar = {
        "n_rounds": Whole(1, 10_000),
        "learning_rate": Number(above=0, most=1),
        "max_depth": Whole(1, 10),
        "min_samples_leaf": Whole(1),
        "n_bins": Whole(2, 1024),
        "max_features": Whole(1),
        "max_samples": Whole(1),
        "random_state": Seed(),
    }
    learned_shapes: ClassVar = {
        "classes_": "names c",
        "features_": "names s t n",
        "thresholds_": "s t n",
        "values_": "s t l",
        "base_": "s",
    }

    def __init__(
        self,
        n_rounds: int = 60,
        *,
        learning_rate: float = 0.1,
        max_depth: int = 3,
        min_samples_leaf: int = 20,
        n_bins: int = 32,
        max_features: int = 64,
        max_samples: int = 2000,
        random_state: int | None = 0,
    ) -> None:
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.n_bins = n_bins
        self.max_features = max_features
        self.max_samples = max_samples
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> BoostedTreesClassifier:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample; two classes or more.

        Returns
        -------
        BoostedTreesClassifier
            The fitted classifier.
        """
        check_parameters(self)
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_, index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidInputError("boosting needs samples of two classes or more; got one class.")
        is_class = (index[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        self._grow(X, is_class[:, 1:] if len(self.classes_) == 2 else is_class)
        return self

    def _grow(self, X: NDArray, is_class: NDArray) -> None:
        """Add trees for every column of zeros and ones; a single column is the second of two."""
        n_scores, rng = is_class.shape[1], np.random.default_rng(self.random_state)
        every = Binned.of(X, self.n_bins)
        share = is_class.mean(axis=0)
        self.base_ = np.log(share) if n_scores > 1 else np.log(share / (1 - share))
        shape = (n_scores, self.n_rounds, 2**self.max_depth - 1)
        self.features_, self.thresholds_ = np.zeros(shape, dtype=np.int32), np.zeros(shape)
        self.values_ = np.zeros((*shape[:2], 2**self.max_depth))
        raw = np.tile(self.base_, (len(X), 1))
        for round_ in range(self.n_rounds):
            rows = _some(len(X), self.max_samples, rng)
            columns = _some(X.shape[1], self.max_features, rng)
            binned = Binned(every.bins[np.ix_(rows, columns)], every.edges[columns])
            residual = is_class - _probabilities(raw)
            # Newton's step, for K classes times (K − 1)/K (eq. 36 of the paper).
            curvature = np.abs(residual) * (1 - np.abs(residual))
            if n_scores > 1:
                curvature *= n_scores / (n_scores - 1)
            for score in range(n_scores):
                tree = grow(
                    binned,
                    residual[rows, score],
                    curvature[rows, score],
                    depth=self.max_depth,
                    min_samples_leaf=self.min_samples_leaf,
                )
                values = self.learning_rate * tree.values
                tree = Trees(columns[tree.features], tree.thresholds, values)
                raw[:, score] += tree.sums(X)
                self.features_[score, round_] = tree.features
                self.thresholds_[score, round_] = tree.thresholds
                self.values_[score, round_] = tree.values

    def predict_proba(self, X: Any) -> NDArray:
        """Return the probabilities of classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        P = _probabilities(self._raw(X))
        return P if P.shape[1] > 1 else np.hstack([1 - P, P])

    def predict(self, X: Any) -> NDArray:
        """Return the most likely class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _raw(self, X: Any) -> NDArray:
        """Scores of shape (n_samples, n_scores)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        trees = map(Trees, self.features_, self.thresholds_, self.values_)
        return np.stack([one.sums(X) for one in trees], axis=1) + self.base_

    def check_learned(self) -> None:
        """Refuse trees that no fit grows: of another depth, or that look at no feature.

        Raises
        ------
        InvalidInputError
            If the learned arrays do not fit together.
        """
        n_classes, (n_scores, _, n_leaves) = len(self.classes_), self.values_.shape
        known = (self.features_ >= 0) & (self.features_ < self.n_features_in_)
        if self.features_.dtype != np.int32 or not known.all():
            raise InvalidInputError(
                f"features_ must name features from 0 to {self.n_features_in_ - 1}"
            )
        if self.features_.shape[2] != 2**self.max_depth - 1 or n_leaves != 2**self.max_depth:
            raise InvalidInputError(f"the trees must have depth {self.max_depth}")
        if not (self.classes_[:-1] < self.classes_[1:]).all():
            raise InvalidInputError("classes_ must be in order")
        if n_scores != (1 if n_classes == 2 else n_classes):
            raise InvalidInputError(f"{n_scores} scores do not fit {n_classes} classes")


def _probabilities(raw: NDArray) -> NDArray:
    """Logistic function of a single score, softmax of several."""
    return np.asarray(expit(raw) if raw.shape[1] == 1 else softmax(raw, axis=1))


def _some(n: int, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return all of n rows or columns, or so many drawn at random."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
