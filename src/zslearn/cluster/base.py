"""What all mappings share: the statistics they learn from, linear codes, and how they are fitted.

`MomentMapping` learns from `Statistics` alone, so that batches, streams and files of moments give
what one fit gives; `RowMapping` needs the rows themselves.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from zslearn._declared import Declared, fitted
from zslearn._parameters import check_flags, check_parameters
from zslearn.core.fitting import all_or_nothing, fit_method
from zslearn.core.learner import FoldedMoments, MomentLearner, MomentPlan, added_by_class
from zslearn.core.magnitudes import check_gram, check_learned, check_not_vanishing, check_rows
from zslearn.core.moments import Moments
from zslearn.core.rows import unmasked, validate_rows, warn_if_shuffled
from zslearn.core.threads import limit_blas_for
from zslearn.core.whitening import within_class_scatter
from zslearn.exceptions import InvalidInputError


@dataclass(frozen=True)
class MappingTags:
    """Honest facts about a mapping, shown in tables.

    Attributes
    ----------
    transductive : bool
        Whether the code of a sample depends on the other samples of the batch.
    closed_form : bool
        Whether the fit is a closed-form solution rather than an iteration.
    incremental : bool
        Whether there is a `partial_fit` that gives what one fit on all rows gives.
    reference : str
        Who published it and where.
    """

    transductive: bool = False
    closed_form: bool = True
    incremental: bool = True
    reference: str = ""


@dataclass(frozen=True)
class Statistics:
    """Centered moments of labeled rows, and of each class where a mapping asks for them.

    They add up over batches, and a fold can be subtracted. Closed-form mappings
    work with these instead of the rows, and so does standardization, which is an affine change.

    Attributes
    ----------
    total : Moments
        Of all rows, about their mean.
    by_class : tuple of Moments
        Of each class, about the mean of the class, in the order of the classes; empty unless
        asked for, because they hold one Gram matrix per class.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 7.0]])
    >>> statistics = Statistics.of(X, np.array([0, 0, 1]))
    >>> statistics.total.mean
    array([2., 3.])
    >>> statistics.spread
    array([1.63299316, 2.82842712])
    """

    total: Moments
    by_class: tuple[Moments, ...] = ()

    @classmethod
    def of(cls, X: Any, y: NDArray, *, by_class: bool = False) -> Statistics:
        """Compute the statistics of rows X of classes y, in blocks of bounded memory."""
        check_flags(by_class=by_class)
        if not by_class:
            return cls(Moments.of(X, y, centered=True))
        order = np.argsort(y, kind="stable")
        ends = np.flatnonzero(y[order][1:] != y[order][:-1]) + 1
        groups = np.split(order, ends)
        return _of_parts(tuple(Moments.of(X[rows], y[rows], centered=True) for rows in groups))

    @classmethod
    def of_folded(cls, folded: FoldedMoments) -> Statistics:
        """Take over what a pass gathered, by class if every part is one class."""
        total = folded.total
        if not total.centered:
            total = total.about(total.mean, centered=True)
        several = len(total.classes) > 1 and len(folded.parts) == len(total.classes)
        return cls(total, folded.parts if several else ())

    @property
    def classes(self) -> NDArray:
        """Sorted class labels."""
        return self.total.classes

    @property
    def counts(self) -> NDArray:
        """Number of rows of each class."""
        return self.total.counts

    @property
    def raw(self) -> Moments:
        """The moments about the origin of the features: plain sums and products."""
        return self.total.about(np.zeros(self.total.n_features))

    @property
    def spread(self) -> NDArray:
        """Standard deviation of each feature; 1 for features that do not vary."""
        # Taken about the mean, so that the diagonal of the Gram matrix is n times the variance.
        variance = np.diag(self.total.gram) / self.total.n_samples
        deviation = np.sqrt(np.maximum(variance, 0.0))
        constant = deviation <= 10 * np.finfo(float).eps * np.abs(self.total.mean)
        return np.where(constant | (deviation == 0), 1.0, deviation)

    @property
    def within(self) -> NDArray:
        """Sum over the rows of ``(x - μ_c)(x - μ_c)ᵀ`` with the mean of their class."""
        return within_class_scatter(self.total)

    def balanced(self) -> Moments:
        """Moments with every row of class c weighted by ``N / (K n_c)``; needs `by_class`."""
        weights = self.total.n_samples / (len(self.counts) * self.counts)
        parts = [_weighted(part, w) for part, w in zip(self.by_class, weights, strict=True)]
        return sum(parts[1:], parts[0])

    def standardized(self, mean: NDArray, scale: NDArray) -> Statistics:
        """Return the statistics of ``(x - mean) / scale``."""
        return Statistics(
            _affine(self.total, mean, scale),
            tuple(_affine(part, mean, scale) for part in self.by_class),
        )

    def __add__(self, other: Statistics) -> Statistics:
        if not self.by_class:
            return Statistics(self.total + other.total)
        return _of_parts(added_by_class(self.by_class, other.by_class))

    def __sub__(self, other: Statistics) -> Statistics:
        if not self.by_class:
            return Statistics(self.total - other.total)
        known = {part.classes.item(): part for part in self.by_class}
        for part in other.by_class:
            known[part.classes.item()] -= part
        left = (known[label] for label in sorted(known))
        return _of_parts(tuple(part for part in left if len(part.classes)))


def _of_parts(parts: tuple[Moments, ...]) -> Statistics:
    return Statistics(sum(parts[1:], parts[0]), parts)


def _weighted(moments: Moments, weight: float) -> Moments:
    return replace(
        moments,
        counts=weight * moments.counts,
        sums=weight * moments.sums,
        gram=weight * moments.gram,
    )


def _affine(moments: Moments, mean: NDArray, scale: NDArray) -> Moments:
    # About an origin that moves along, differences are only divided.
    return replace(
        moments,
        sums=moments.sums / scale,
        gram=moments.gram / np.outer(scale, scale),
        origin=(moments.origin - mean) / scale,
    )


class LinearMapping(Declared, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Linear map of features to codes in which Euclidean distance suits the labels.

    A subclass learns `coef_`; the metric is ``coef_ᵀ coef_``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features)
        The map.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags()
    coef_: NDArray = fitted("p d")
    classes_: NDArray = fitted("names c")

    @property
    def is_transductive(self) -> bool:
        """Whether the code of a sample depends on the other samples of the batch."""
        return self.mapping_tags.transductive

    def transform(self, X: Any) -> NDArray:
        """Map features to codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, "coef_")
        X = unmasked(X, "X")
        X = validate_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        codes = self._codes(X)
        check_rows(codes, what="the codes")
        return codes

    def _codes(self, X: NDArray) -> NDArray:
        return X @ self.coef_.T.astype(X.dtype)

    def _validated(self, X: Any, y: Any, *, reset: bool = True) -> tuple[NDArray, NDArray]:
        check_parameters(self)
        warn_if_shuffled(X, y)
        X, y = unmasked(X, "X"), unmasked(y, "y")
        X, y = validate_rows(self, X, y, reset=reset, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        check_rows(X)
        if reset:
            check_not_vanishing([X])
            self.__dict__.pop("encoder_", None)  # of pictures, of an earlier fit
        return X, y

    @property
    def _n_features_out(self) -> int:
        return self.coef_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RowMapping(LinearMapping):
    """Linear mapping that is learned from the rows themselves."""

    mapping_tags: ClassVar[MappingTags] = MappingTags(closed_form=False, incremental=False)

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the mapping.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        self
        """
        X, y = self._validated(X, y)
        self.classes_, index = np.unique(y, return_inverse=True)
        check_several_classes(self.classes_, type(self).__name__)
        self.coef_ = self._learn(X.astype(np.float64, copy=False), index)
        return self

    @abstractmethod
    def _learn(self, X: NDArray, y: NDArray[np.intp]) -> NDArray:
        """Return `coef_` for rows of classes numbered from 0."""


class MomentMapping(MomentLearner, LinearMapping):
    """Linear mapping that is learned from class counts, class sums and Gram matrices alone."""

    _statistics: Statistics | None = fitted()

    @abstractmethod
    def _coef(self, statistics: Statistics) -> NDArray:
        """Return `coef_` for these statistics."""

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the mapping, forgetting whatever was learned before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        self
        """
        X, y = self._validated(X, y)
        self._statistics = None
        statistics = Statistics.of(X, y, by_class=self._needs_class_grams())
        check_several_classes(statistics.classes, type(self).__name__)
        return self._learn(statistics)

    @fit_method
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add a batch to those given since the last `fit` and learn again from all of them.

        Any batching gives what one fit on all rows gives. Until rows of two classes have been given
        there is nothing to learn, and `transform` reports that the mapping is not fitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        self
        """
        known = getattr(self, "_statistics", None)
        X, y = self._validated(X, y, reset=known is None)
        batch = Statistics.of(X, y, by_class=self._needs_class_grams())
        self._statistics = batch if known is None else known + batch
        return self if len(self._statistics.classes) < 2 else self._learn(self._statistics)

    def moment_plan(self, classes: ArrayLike | None = None) -> MomentPlan:
        """Return what is to be gathered from the data: centered moments of the rows as they are.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), optional
            Classes whose rows are used; by default all.

        Returns
        -------
        MomentPlan
        """
        check_parameters(self)
        names = None if classes is None else np.unique(np.asarray(classes))
        return MomentPlan(centered=True, by_class=self._needs_class_grams(), classes=names)

    @all_or_nothing
    def learn(self, moments: FoldedMoments | Moments | Statistics) -> Self:
        """Learn the mapping from moments computed elsewhere.

        Parameters
        ----------
        moments : FoldedMoments, Moments or Statistics
            What a pass by `moment_plan` found, or moments, with those of each class if the
            mapping needs them.

        Returns
        -------
        self
        """
        check_parameters(self)
        if isinstance(moments, Moments):
            moments = FoldedMoments((moments,))
        if isinstance(moments, FoldedMoments):
            moments = Statistics.of_folded(moments)
        if self._needs_class_grams() and not moments.by_class:
            raise InvalidInputError(
                f"{type(self).__name__} needs moments of each class; got those of all rows "
                "together. Compute them as moment_plan describes."
            )
        self._statistics = None
        check_gram(moments.total.gram, moments.total.n_samples)
        self.n_features_in_ = moments.total.n_features
        check_several_classes(moments.classes, type(self).__name__)
        with limit_blas_for(float(self.n_features_in_) ** 3):
            self._learn(moments)
        check_learned(self)
        return self

    def _needs_class_grams(self) -> bool:
        """Whether one Gram matrix per class is needed, not only their sum."""
        return False

    def _learn(self, statistics: Statistics) -> Self:
        self.classes_ = statistics.classes
        self.n_samples_seen_ = int(statistics.total.n_samples)
        self.coef_ = self._coef(statistics)
        return self


def check_several_classes(classes: NDArray, name: str) -> None:
    """Refuse labels of a single class."""
    if len(classes) < 2:
        raise InvalidInputError(
            f"{name} needs samples of at least 2 classes to learn from; got only 1 class "
            f"({classes.tolist()[0]!r})."
        )
