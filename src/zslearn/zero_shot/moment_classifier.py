"""Base of the classifiers that learn from moments."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import check_parameters
from zslearn.core.fitting import all_or_nothing, fit_method
from zslearn.core.learner import FoldedMoments, MomentLearner, MomentPlan, gather_rows
from zslearn.core.magnitudes import check_gram, check_learned
from zslearn.core.moments import Moments
from zslearn.core.rows import RowTransform, checked_weights, without_weightless
from zslearn.core.threads import limit_blas_for
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.search import SearchingMethod, folds_of_classes, parameter_folds


class MomentClassifier(MomentLearner, SearchingMethod):
    """A zero-shot classifier that needs class counts, class sums and the Gram matrix alone.

    A method says whether it chooses parameters (`_chooses`) and learns from moments by fold
    (`_learn`); `fit` gathers them from rows in memory.
    """

    def moment_plan(self, classes: ArrayLike | None = None) -> MomentPlan:
        """Return what is to be gathered of the data.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), optional
            Training classes; without them no folds can be made to choose parameters by.

        Returns
        -------
        MomentPlan
        """
        check_parameters(self)
        chooses = self._chooses()
        if chooses and self.signatures is None:
            raise InvalidInputError(
                f"{type(self).__name__} with one-hot signatures chooses its parameters by holding "
                "out samples, which one pass over moments cannot do. Give them as numbers."
            )
        names = None if classes is None else np.unique(np.asarray(classes))
        folds: list[NDArray] = []
        if chooses and names is not None:
            folds = folds_of_classes(names, self.cv, self.random_state)
        # The plan names the transform, so that moments of other rows are refused when they come.
        transform = self._moment_transform()
        return MomentPlan(transform, chooses=chooses, classes=names, folds=tuple(folds))

    @all_or_nothing
    def learn(self, moments: FoldedMoments | Moments) -> Self:
        """Learn from moments, choosing parameters by folds if there are any.

        Parameters
        ----------
        moments : FoldedMoments or Moments
            What a pass by `moment_plan` found, or raw moments, labeled by class names, of rows
            that were transformed as `moment_plan` says. Without folds, parameters left to "cv" take
            a default multiple of the scale of the data.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._learn_named(moments, None)

    def _learn_named(
        self, folded: FoldedMoments | Moments, table: Signatures | None, least: int = 2
    ) -> Self:
        """Learn with the signatures given at construction, or with a table grown since."""
        check_parameters(self)
        if isinstance(folded, Moments):
            folded = FoldedMoments((folded,))
        self._check_folded(folded, least)
        # The first batch of a stream may hold one class, and then equal rows are no surprise.
        several = len(folded.total.classes) > 1
        self._warn_if_constant(several and folded.total.constant)
        check_gram(folded.total.gram, folded.total.n_samples)
        self.n_features_in_ = folded.n_features
        self.seen_classes_ = folded.total.classes
        self._set_signatures(self.seen_classes_, table)
        # What follows are decompositions and products of (d, d) matrices.
        with limit_blas_for(float(folded.total.n_features) ** 3):
            self._learn(folded.numbered(self.seen_classes_))
        check_learned(self)
        return self

    def _check_folded(self, folded: FoldedMoments, least: int) -> None:
        total = folded.total
        if total.centered or len(total.classes) < least:
            raise InvalidInputError(
                "learn needs raw moments (centered=False) of at least two classes; got "
                f"{'centered' if total.centered else 'raw'} ones of {len(total.classes)}."
            )
        wanted = self._moment_transform()
        if folded.plan is not None and folded.plan.transform != wanted:
            raise InvalidInputError(
                f"the moments are of rows transformed by {folded.plan.transform}; "
                f"{type(self).__name__} needs {wanted}. Gather them again."
            )

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from samples of the seen classes.

        A fit that fails or is interrupted (Ctrl-C) leaves the classifier as it was before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. A memory map is read block by block, never as a whole;
            `zslearn.scale.fit_batches` does it in fewer passes and in threads.
        y : array-like of shape (n_samples,)
            Class of each sample; every class needs a signature.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample, at least 0: a sample of weight 2 counts as two, also where
            parameters are chosen by folds of classes. Folds of samples, which one-hot signatures
            need, are dealt before the weights count.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_parameters(self)
        rows, labels = self._training_rows(X, y)
        if sample_weight is None:
            self._fit(rows, self._set_classes(rows, labels))
            return self
        weights = checked_weights(sample_weight, len(labels))
        # A sample of weight 0 is as if it were not there: its class may be gone with it.
        rows, labels, weights = without_weightless(rows, labels, weights)
        self._check_labels(labels)
        self._fit(rows, self._set_classes(rows, labels), weights)
        return self

    def _fit(self, X: Features, y: NDArray[np.intp], weights: NDArray | None = None) -> None:
        # With a search the moments of each fold are kept apart: a fold is judged by a map that was
        # learned from the sum of the others.
        folds = []
        if self._chooses():
            one_hot = self.signatures is None
            folds = parameter_folds(y, self.cv, self.random_state, one_hot=one_hot)
        self._learn(gather_rows(X, y, folds, weights))

    def _moment_transform(self) -> RowTransform:
        """Return what happens to rows before their moments are taken."""
        return self._row_transform()

    @abstractmethod
    def _chooses(self) -> bool:
        """Whether parameters are left to be chosen by folds of classes."""

    @abstractmethod
    def _learn(self, folded: FoldedMoments) -> None:
        """Learn from moments whose classes are numbered as in `seen_classes_`."""
