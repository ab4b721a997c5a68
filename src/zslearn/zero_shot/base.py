"""The interface of every zero-shot classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from zslearn._parameters import Constraint, Either, Seed, Whole, check_parameters
from zslearn.core.lazy_rows import LazyRows
from zslearn.core.nearest import BLOCK_BYTES, best_columns, row_blocks
from zslearn.core.threads import map_blocks
from zslearn.exceptions import InvalidInputError, TransductiveBatchError, UnknownClassError
from zslearn.metrics import per_class_accuracy
from zslearn.signatures import Signatures
from zslearn.zero_shot.inputs import SIGNATURES, as_signatures, checked_k, is_cv, single
from zslearn.zero_shot.normalization import (
    finite_features,
    normalized_features,
    normalized_signatures,
)
from zslearn.zero_shot.prepared import prepared_once
from zslearn.zero_shot.tags import ZeroShotTags

# Candidates above this number are prepared and scored in blocks; below, all at once and kept.
CLASS_BLOCK = 32_768
Features = Any  # ndarray or sparse matrix of shape (n_samples, n_features)


class ZeroShotClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers that recognize classes by their signatures.

    A method derives from this class, takes ``signatures`` as its first constructor parameter (None
    means one-hot signatures of the training classes, an ordinary classifier) and provides

    - ``_fit(X, y)``: learn from normalized features and class indices; ``self.seen_signatures_``
      holds the normalized signature of each index,
    - ``_prepare(S)``: what the candidates' normalized signatures are turned into once a call,
    - ``_score(X, prepared)``: scores of shape (n_samples, n_candidates), larger is better.

    Attributes
    ----------
    classes_ : ndarray of shape (n_seen,)
        Classes seen in training.
    signatures_ : Signatures
        Every class that can be predicted; `add_classes` extends it.
    n_features_in_ : int
        Number of features.
    cv_results_ : dict or None
        If parameters were chosen, the scores of every point tried, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags()
    # What each parameter may be; a method adds those of its own, and `fit` checks them all.
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "signatures": Either(None, SIGNATURES),
        "feature_norm": Either("l2", None),
        "signature_norm": Either("l2", None),
        "cv": Whole(2),
        "random_state": Seed(),
        "verbose": Whole(0),
    }
    # Whether the method learns from `Moments` and scores each candidate apart from the others.
    _from_moments: ClassVar[bool] = False
    feature_norm: str | None = "l2"
    signature_norm: str | None = "l2"
    signatures: Any
    signatures_: Signatures
    cv_results_: dict[str, Any] | None
    best_params_: dict[str, Any]

    def fit(self, X: Any, y: Any) -> ZeroShotClassifier:
        """Learn from samples of the seen classes.

        An interruption (Ctrl-C) leaves the classifier as it was before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. A memory map is read block by block, never as a whole, by methods that learn
            from moments; `zslearn.scale.fit_batches` does it in fewer passes and in threads.
        y : array-like of shape (n_samples,)
            Class of each sample; every class needs a signature.

        Returns
        -------
        ZeroShotClassifier
            The fitted classifier.
        """
        check_parameters(self)
        before = dict(vars(self))
        try:
            rows, labels = self._training_rows(X, y)
            self.classes_, index = np.unique(labels, return_inverse=True)
            self._set_signatures(self.classes_)
            self.cv_results_, self.best_params_ = None, {}
            self._fit(rows, index)
        except KeyboardInterrupt:
            self.__dict__ = before
            raise
        return self

    def predict(self, X: Any, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return the best class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        candidates : sequence of class names, optional
            Classes allowed as answers; by default every class with a signature.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.predict_top_k(X, 1, candidates)[:, 0]

    def predict_top_k(self, X: Any, k: int = 5, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return the k best classes of each sample, best first, ties in candidate order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        k : int, default=5
            How many classes, at most the number of candidates.
        candidates : sequence of class names, optional
            Classes allowed as answers; by default every class with a signature.

        Returns
        -------
        ndarray of shape (n_samples, k)
        """
        check_is_fitted(self)
        names = self._candidate_names(candidates) if self._from_moments else None
        if names is not None and len(names) > CLASS_BLOCK:
            return names[self._streamed_best(self._ready_rows(X), names, checked_k(k, len(names)))]
        X, names, prepared = self._ready(X, candidates)
        return names[self._best(X, prepared, checked_k(k, len(names)), len(names))[0]]

    def _best(
        self, X: Features, prepared: Any, k: int, n_candidates: int
    ) -> tuple[NDArray[np.intp], NDArray]:
        """Positions and scores of the k best candidates of each sample, in blocks of samples."""
        blocks = list(self._blocks(X, n_candidates))
        found = map_blocks(
            lambda rows: best_columns(self._score(X[rows], prepared), k),
            blocks,
            X.shape[0] * n_candidates,
        )
        positions, scores = map(np.concatenate, zip(*found, strict=True))
        return positions, scores

    def _streamed_best(self, X: Features, names: NDArray, k: int) -> NDArray[np.intp]:
        """Positions of the k best of so many candidates that they are prepared in blocks too."""
        best = np.empty((X.shape[0], 0), dtype=np.intp)
        scores: NDArray = np.empty((X.shape[0], 0))
        for start in range(0, len(names), CLASS_BLOCK):
            part = names[start : start + CLASS_BLOCK]
            prepared = self._prepare(self._normalized(part))
            found, values = self._best(X, prepared, min(k, len(part)), len(part))
            best, scores = np.hstack([best, found + start]), np.hstack([scores, values])
            order, scores = best_columns(scores, min(k, scores.shape[1]))
            best = np.take_along_axis(best, order, axis=1)
        return best

    def decision_function(self, X: Any, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return the score of each candidate; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        candidates : sequence of class names, optional
            Columns of the answer; by default every class with a signature, in its order.

        Returns
        -------
        ndarray of shape (n_samples, n_candidates)
            With one-hot signatures of two classes, as scikit-learn asks of a binary classifier,
            the difference of the two scores, of shape (n_samples,).
        """
        scores = self._all_scores(X, candidates)
        if self.signatures is None and candidates is None and scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict_proba(self, X: Any, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return the softmax of the scores: comparable within a sample, but not calibrated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        candidates : sequence of class names, optional
            Columns of the answer; by default every class with a signature.

        Returns
        -------
        ndarray of shape (n_samples, n_candidates)
            Rows sum to one.
        """
        return softmax(self._all_scores(X, candidates).astype(np.float64), axis=1)

    def score(self, X: Any, y: Any, candidates: Sequence[Any] | None = None) -> float:
        """Return the per-class accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            True classes.
        candidates : sequence of class names, optional
            Classes allowed as answers. By default the classes in `y` if none of them was seen in
            training (the conventional setting, so that scikit-learn's searches with `ClassKFold`
            work unchanged), otherwise the seen classes and those in `y`.

        Returns
        -------
        float
            Mean over the classes in `y` of the share of their samples that is right.
        """
        check_is_fitted(self)
        truth = np.asarray(y)
        names: Any = candidates
        if names is None:
            present = np.unique(truth)
            seen = np.isin(present, self.classes_)
            names = np.union1d(present, self.classes_) if seen.any() else present
        return per_class_accuracy(truth, self.predict(X, names))

    def add_classes(self, new: Signatures | Mapping[Any, ArrayLike]) -> ZeroShotClassifier:
        """Make new classes predictable by their signatures; nothing is fitted again.

        Parameters
        ----------
        new : Signatures or dict of name to vector
            Classes that have no signature yet.

        Returns
        -------
        ZeroShotClassifier
            The classifier itself.
        """
        check_is_fitted(self)
        if self.signatures is None:
            raise InvalidInputError(
                "a classifier with one-hot signatures knows its training classes only; pass "
                "signatures= to add classes."
            )
        self.signatures_ = self.signatures_.append(new)
        return self

    def frozen(self) -> ZeroShotClassifier:
        """Return an unfitted copy in which every parameter chosen by `fit` is given as a number.

        A parameter ``name="cv"`` is replaced by the fitted attribute ``name_``. Use it to fit the
        same model again, on other data or many times, without choosing again.

        Returns
        -------
        ZeroShotClassifier
        """
        check_is_fitted(self)
        return clone(self).set_params(**self._choices())

    def _choices(self) -> dict[str, Any]:
        """Values that `fit` chose for parameters left to "cv"."""
        left = [name for name, value in self.get_params(deep=False).items() if is_cv(value)]
        used = {name: getattr(self, f"{name}_") for name in left if hasattr(self, f"{name}_")}
        return used | getattr(self, "best_params_", {})

    def _chooses(self) -> bool:
        """Whether a fit from moments wants folds of classes, to choose parameters by."""
        return False

    def _moment_power(self) -> float:
        """Exponent p of ``sign(x)|x|^p`` that moments for this method are taken of."""
        return 1.0

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        raise NotImplementedError(f"{type(self).__name__} must provide _fit")

    def _prepare(self, S: NDArray) -> Any:
        return S

    def _score(self, X: Features, prepared: Any) -> NDArray:
        raise NotImplementedError(f"{type(self).__name__} must provide _score")

    def _validated(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, NDArray]:
        X, labels = validate_data(
            self, single(X), y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        self._check_labels(labels, several=reset)
        return X, labels

    def _check_labels(self, labels: NDArray, *, several: bool = True) -> None:
        with warnings.catch_warnings():
            # One sample a class is few-shot data here, not a sign of a regression target.
            warnings.filterwarnings("ignore", message="The number of unique classes is greater")
            check_classification_targets(labels)
        if several and len(np.unique(labels)) < 2:
            raise InvalidInputError(
                f"training needs samples of at least two classes; got one class, {labels[0]!s}."
            )

    def _set_signatures(self, classes: NDArray, table: Signatures | None = None) -> None:
        """Set what can be predicted and the normalized signatures of the seen classes."""
        if self.signatures is None:
            self.signatures_ = Signatures.one_hot(classes.astype(str))
        else:
            self.signatures_ = as_signatures(self.signatures) if table is None else table
        self._check_known(classes, "Add a row or pass other signatures=.")
        self.seen_signatures_ = self._normalized(classes)

    def _check_known(self, names: NDArray, remedy: str) -> None:
        """Refuse names without a signature."""
        known = set(self.classes_.tolist()) if self.signatures is None else self.signatures_
        unknown = [name for name in names.tolist() if name not in known]
        if unknown:
            raise UnknownClassError(unknown, list(known), remedy)

    def _normalized(self, names: NDArray) -> NDArray:
        """Return the normalized signatures of the given classes."""
        if self.signatures is None:
            return np.eye(len(self.classes_))[np.searchsorted(self.classes_, names)]
        return normalized_signatures(self.signatures_.rows(names), names, self.signature_norm)

    def _normalized_features(self, X: Features) -> Features:
        """Features as the method sees them; an ordinary classifier also takes samples of zeros."""
        return normalized_features(X, self.feature_norm, allow_zero=self.signatures is None)

    def _ready(self, X: Any, candidates: Sequence[Any] | None) -> tuple[Any, NDArray, Any]:
        """Validate a prediction's input and prepare its candidates once."""
        check_is_fitted(self)
        rows = self._ready_rows(X)
        names = self._candidate_names(candidates)
        prepared = prepared_once(self, names, lambda: self._prepare(self._normalized(names)))
        return rows, names, prepared

    def _ready_rows(self, X: Any) -> Any:
        """Validate samples to predict; many of them are normalized when their block is scored."""
        X = single(X)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        needed = self.zero_shot_tags.min_batch
        if X.shape[0] < needed:
            raise TransductiveBatchError(type(self).__name__, X.shape[0], needed)
        large = not sparse.issparse(X) and X.nbytes > BLOCK_BYTES
        return self._lazy(X) if self._from_moments and large else self._normalized_features(X)

    def _lazy(self, X: NDArray) -> LazyRows:
        """Rows that are checked and normalized when they are used."""
        allow_zero = self.signatures is None
        return LazyRows(
            X,
            lambda rows, numbers: finite_features(
                rows, self.feature_norm, numbers, allow_zero=allow_zero
            ),
        )

    def _training_rows(self, X: Any, y: Any) -> tuple[Any, NDArray]:
        """Return validated features and labels; a memory map is normalized as it is read."""
        mapped = self._from_moments and isinstance(X, np.memmap) and X.ndim == 2
        if not mapped or len(X) <= X.shape[1]:
            X, labels = self._validated(X, y)
            return self._normalized_features(X), labels
        labels = column_or_1d(y)
        check_consistent_length(X, labels)
        # A few rows tell scikit-learn the number of features; all labels are looked at.
        validate_data(self, single(X[:1]), dtype=[np.float64, np.float32])
        self._check_labels(labels)
        return self._lazy(X), labels

    def _candidate_names(self, candidates: Sequence[Any] | None) -> NDArray:
        if candidates is None:
            return self.classes_ if self.signatures is None else self.signatures_.names
        names = np.asarray(candidates)
        if names.ndim != 1 or len(names) == 0:
            raise InvalidInputError(
                f"candidates must be a list of class names; got {candidates!r}."
            )
        unique, counts = np.unique(names, return_counts=True)
        if counts.max() > 1:
            raise InvalidInputError(f"candidate {unique[counts.argmax()]!s} is named twice.")
        self._check_known(names, "Correct the candidate or add it by add_classes.")
        return names

    def _blocks(self, X: Features, n_candidates: int) -> Iterator[slice]:
        """Row blocks of bounded memory; a transductive method gets the batch whole."""
        if self.zero_shot_tags.transductive:
            return iter([slice(0, X.shape[0])])
        return row_blocks(X.shape[0], max(n_candidates, X.shape[1]) * 8)

    def _all_scores(self, X: Any, candidates: Sequence[Any] | None) -> NDArray:
        X, names, prepared = self._ready(X, candidates)
        blocks = [self._score(X[rows], prepared) for rows in self._blocks(X, len(names))]
        return np.concatenate(blocks)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.zero_shot_tags.non_negative
        tags.non_deterministic = not self.zero_shot_tags.deterministic
        return tags


def dense(X: Features) -> NDArray:
    """Return X as a dense array, for methods that need one."""
    return X.toarray() if sparse.issparse(X) else X
