"""From zero samples to many: classifiers that learn from single samples after the fit.

A description says where the samples of a class will lie, and is worth κ samples; samples of the
class, labeled or not, move it from there. `PrototypeRegression` does it; `CalibratedStacking`
around it has the same methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from zslearn.core.fitting import all_or_nothing
from zslearn.core.rows import checked_weights, plain_labels, warn_if_shuffled, without_weightless
from zslearn.exceptions import InvalidInputError

if TYPE_CHECKING:
    from zslearn.zero_shot.prototypes.prototype_beliefs import PrototypeBeliefs

Array = NDArray[np.float64]
# Classes named in the sentence about an adaptation.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Evidence:
    """What samples said about classes after the fit; never changed in place.

    Attributes
    ----------
    names : ndarray of shape (n_classes,)
        Sorted class names.
    weights : ndarray of shape (n_classes,)
        Total weight of the samples of each.
    sums : ndarray of shape (n_classes, n_dimensions)
        Sum of these samples, each times its weight, in the whitened space.
    offsets : ndarray of shape (n_classes,)
        Added to the scores of each class.

    Examples
    --------
    >>> import numpy as np
    >>> cat = Evidence(np.array(["cat"]), np.ones(1), np.array([[1.0, 2.0]]), np.zeros(1))
    >>> both = cat.plus(cat)
    >>> both.names.tolist(), both.weights.tolist(), both.sums.tolist()
    (['cat'], [2.0], [[2.0, 4.0]])
    """

    names: NDArray
    weights: Array
    sums: Array
    offsets: Array

    @classmethod
    def none(cls, names: NDArray, n_dimensions: int) -> Evidence:
        """Return no evidence, about classes whose names are of the kind of some given ones."""
        return cls(plain_names(names)[:0], np.zeros(0), np.zeros((0, n_dimensions)), np.zeros(0))

    def __len__(self) -> int:
        return len(self.names)

    def plus(self, other: Evidence) -> Evidence:
        """Return both together."""
        names = np.union1d(self.names, other.names)
        mine, yours = self.of(names), other.of(names)
        return Evidence(names, *(a + b for a, b in zip(mine, yours, strict=True)))

    def without(self, name: Any) -> Evidence:
        """Return what is known of the other classes."""
        kept = self.names != name
        return Evidence(self.names[kept], self.weights[kept], self.sums[kept], self.offsets[kept])

    def places(self, names: NDArray) -> NDArray[np.intp]:
        """Return the place of each of some names, -1 for those without evidence."""
        names = plain_names(names)
        if not len(self.names) or self.names.dtype.kind != names.dtype.kind:
            return np.full(len(names), -1)
        found = np.minimum(np.searchsorted(self.names, names), len(self.names) - 1)
        return np.where(self.names[found] == names, found, -1)

    def of(self, names: NDArray) -> tuple[Array, Array, Array]:
        """Return weights, sums and offsets of named classes; zeros where there is no evidence."""
        weights, offsets = np.zeros(len(names)), np.zeros(len(names))
        sums = np.zeros((len(names), self.sums.shape[1]))
        places = self.places(names)
        known = places >= 0
        weights[known], offsets[known] = self.weights[places[known]], self.offsets[places[known]]
        sums[known] = self.sums[places[known]]
        return weights, sums, offsets

    def fits(self, n_dimensions: int) -> bool:
        """Say whether the parts belong together, which those of a damaged file may not."""
        n = len(self.names)
        shapes = [self.weights.shape, self.offsets.shape, self.sums.shape]
        finite = all(np.isfinite(part).all() for part in (self.weights, self.offsets, self.sums))
        ordered = bool((self.names[:-1] < self.names[1:]).all())
        positive = bool((self.weights >= 0).all())
        return shapes == [(n,), (n,), (n, n_dimensions)] and finite and ordered and positive


def plain_names(names: NDArray) -> NDArray:
    """Return class names that come as objects, as those of pandas do, as text or numbers.

    Examples
    --------
    >>> import numpy as np
    >>> plain_names(np.array(["cat", "otter"], dtype=object)).dtype.kind
    'U'
    """
    return np.array(names.tolist()) if names.dtype.kind == "O" and len(names) else names


@dataclass(frozen=True)
class Adaptation:
    """How far a batch without labels moved a classifier; ``print`` it.

    Attributes
    ----------
    n_samples : int
        Samples in the batch.
    names : ndarray of shape (n_candidates,)
        Candidates.
    shares : ndarray of shape (n_candidates,)
        Share that each has of those samples of the batch that are of any, as estimated.
    moved : ndarray of shape (n_candidates,)
        How far each prototype moved, in units of the typical error of a description.
    """

    n_samples: int
    names: NDArray
    shares: NDArray = field(repr=False)
    moved: NDArray = field(repr=False)

    def __str__(self) -> str:
        order = np.argsort(-self.shares, kind="stable")[:_NAMED]
        largest = ", ".join(f"{self.names[i]} {self.shares[i]:.0%}" for i in order)
        return (
            f"Adapted to {self.n_samples} samples of {len(self.names)} candidates: prototypes "
            f"moved by {self.moved.mean():.2f} of the error of a description on average "
            f"({self.moved.max():.2f} at most). Largest shares: {largest}."
        )


class Suggestion(NamedTuple):
    """Samples to label next, the most useful first.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Their numbers.
    worths : ndarray of shape (n,)
        How useful each label is expected to be, relative to the first.
    names : ndarray of shape (n, 2)
        The two classes that each is between, the likelier first.
    """

    rows: NDArray[np.intp]
    worths: Array
    names: NDArray


class Teachable:
    """Methods of classifiers that go from descriptions to samples.

    A classifier provides `_taught`, the fitted `PrototypeRegression` that learns; `_with_taught`, a
    copy around another state of it; `_temperature_among`; and, if it changes scores,
    `_class_offsets`.
    """

    @available_if(lambda self: self._can_be_taught())
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add labeled samples of any classes: seen, only described, or new.

        The description of a class counts as `kappa_` samples, so the first samples move its
        prototype and many replace the description. Classes that are only described profit from
        samples of classes with similar descriptions. The same samples give the same classifier in
        any order and any batches. Space, kernels and calibration stay as `fit` chose them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample. A class without a description becomes predictable by its samples
            alone; the mean of the known classes stands for its description.
        classes : array-like, optional
            Not needed, and accepted because scikit-learn's `partial_fit` takes it: any class may
            come at any time.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample; a sample of weight 2 counts as two.

        Returns
        -------
        self
            A classifier that was not fitted yet is fitted on this batch.
        """
        if not is_fitted(self):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            me: Any = self
            fitted: Self = me.fit(X, y, **weights)
            return fitted
        warn_if_shuffled(X, y, stacklevel=3)
        added: Self = self._add_samples(X, y, sample_weight)
        return added

    @all_or_nothing
    def _add_samples(self: Any, X: Any, y: Any, sample_weight: ArrayLike | None) -> Any:
        method, scorer = self._taught(), self.scorer()
        rows, labels = scorer.check_rows(X), plain_names(column_or_1d(plain_labels(y)))
        check_consistent_length(rows, labels)
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, len(labels))
            rows, labels, weights = without_weightless(rows, labels, weights)
        method.teach(scorer.represent(rows[:]), labels, weights)
        return self

    def forget(self, name: Any) -> Self:
        """Take back the samples that `partial_fit` added of a class.

        Parameters
        ----------
        name : class name
            A class with such samples. One that was never described is no longer predicted.

        Returns
        -------
        self
        """
        self._taught().unteach(name)
        return self

    def adapt(self, X: Any, candidates: Sequence[Any] | None = None) -> Self:
        """Return a copy that is moved to a batch without labels.

        Prototypes move towards the samples they explain, as far as their descriptions are
        uncertain, and classes that are surely more frequent in the batch than others are preferred.
        Samples that are likely of no candidate count little, and with few samples hardly anything
        moves. The copy is meant for this batch and others like it: in answers to other mixtures of
        classes the preferences may be wrong.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, without labels.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes that the batch may hold; by default all of `classes_`.

        Returns
        -------
        classifier
            The same kind, fitted; its attribute `adaptation_` says by how much it moved and which
            shares it found. What an earlier call of `adapt` found is dropped.
        """
        me: Any = self
        method, names, scorer = self._taught(), me.candidate_names(candidates), me.scorer()
        rows = scorer.represent(scorer.check_rows(X)[:])
        temperature = self._temperature_among(names)
        moved, facts = method.adapted(rows, names, temperature, self._class_offsets(names))
        twin: Any = self._with_taught(moved)
        twin.adaptation_ = facts
        return twin

    def novelty(self, X: Any, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return how much more likely a sample is of a class nobody described than of its answer.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes allowed as answers; by default all of `classes_`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Logarithm of the ratio of both densities; the larger, the newer.
        """
        self._taught()
        me: Any = self
        return -me.recognizer(candidates).familiarity(X)[:, 0]

    def suggest(self, X: Any, n: int = 20, candidates: Sequence[Any] | None = None) -> Suggestion:
        """Choose the samples whose labels would help most.

        A sample is worth asking for where two classes are close and their prototypes uncertain;
        one is chosen after the other as if the earlier labels were known.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, without labels.
        n : int, default=20
            How many; all if there are fewer.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes that the samples may be of, at least two; by default all of `classes_`.

        Returns
        -------
        Suggestion
            Rows of X, the most useful first; label them and pass them to `partial_fit`.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise InvalidInputError(f"n must be a whole number of at least 1; got {n!r}.")
        me: Any = self
        method, names = self._taught(), me.candidate_names(candidates)
        if len(names) < 2:
            raise InvalidInputError("suggest needs at least two candidates; got one.")
        scores = me.recognizer(names).scores(X)
        return method.suggested(scores, names, self._temperature_among(names), int(n))

    def class_uncertainty(self, names: Sequence[Any] | None = None) -> NDArray:
        """Return how uncertain the prototypes of classes are, before any sample of them.

        Parameters
        ----------
        names : sequence of class names, optional
            By default all of `classes_`.

        Returns
        -------
        ndarray of shape (n_names,)
            Variance of the prediction from the description, in units of the mean over seen classes
            that are predicted from the others: 1 is usual, more is farther from what is known.
        """
        me: Any = self
        return self._taught().uncertainties(me.candidate_names(names))

    def _can_be_taught(self) -> bool:
        """Say, before the fit as well, whether single samples can be added."""
        return True

    def _taught(self) -> PrototypeBeliefs:
        """Return the fitted method that learns from samples, or refuse."""
        raise NotImplementedError(f"{type(self).__name__} must provide _taught")

    def _temperature_among(self, names: NDArray) -> float:
        """Return what makes probabilities of scores among these candidates."""
        raise NotImplementedError(f"{type(self).__name__} must provide _temperature_among")

    def _class_offsets(self, names: NDArray) -> Array:
        """Return what is added to the scores of the method for these candidates."""
        return np.zeros(len(names))

    def _with_taught(self, method: PrototypeBeliefs) -> Self:
        """Return a copy around another state of the method."""
        raise NotImplementedError(f"{type(self).__name__} must provide _with_taught")


def taught_method(classifier: Any) -> PrototypeBeliefs:
    """Return the method inside a fitted classifier that learns from samples, or refuse."""
    if not isinstance(classifier, Teachable):
        raise InvalidInputError(
            f"{type(classifier).__name__} learns nothing after the fit from single samples or from "
            "samples without labels; PrototypeRegression does."
        )
    return classifier._taught()


def is_fitted(estimator: Any) -> bool:
    """Say whether an estimator was fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True
