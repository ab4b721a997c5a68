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
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from zslearn.core.nearest import best_columns, row_blocks
from zslearn.exceptions import InvalidInputError, TransductiveBatchError, UnknownClassError
from zslearn.metrics import per_class_accuracy
from zslearn.signatures import Signatures
from zslearn.zero_shot._normalise import normalised_features, normalised_signatures
from zslearn.zero_shot._tags import ZeroShotTags

Features = Any  # ndarray or sparse matrix of shape (n_samples, n_features)


class ZeroShotClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers that recognise classes by their signatures.

    A method derives from this class, takes ``signatures`` as its first constructor parameter (None
    means one-hot signatures of the training classes, an ordinary classifier) and provides

    - ``_fit(X, y)``: learn from normalised features and class indices; ``self.seen_signatures_``
      holds the normalised signature of each index,
    - ``_prepare(S)``: what the candidates' normalised signatures are turned into once a call,
    - ``_score(X, prepared)``: scores of shape (n_samples, n_candidates), larger is better.

    Attributes
    ----------
    classes_ : ndarray of shape (n_seen,)
        Classes seen in training.
    signatures_ : Signatures
        Every class that can be predicted; `add_classes` extends it.
    n_features_in_ : int
        Number of features.
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags()
    feature_norm: str | None = "l2"
    signature_norm: str | None = "l2"
    signatures: Any
    signatures_: Signatures

    def fit(self, X: Any, y: Any) -> ZeroShotClassifier:
        """Learn from samples of the seen classes.

        An interruption (Ctrl-C) leaves the classifier as it was before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample; every class needs a signature.

        Returns
        -------
        ZeroShotClassifier
            The fitted classifier.
        """
        before = dict(vars(self))
        try:
            X, labels = self._validated(X, y)
            self.classes_, index = np.unique(labels, return_inverse=True)
            self._set_signatures(self.classes_)
            self._fit(self._normalised_features(X), index)
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
        X, names, prepared = self._ready(X, candidates)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= len(names):
            raise InvalidInputError(
                f"k must be a whole number between 1 and the number of candidates, {len(names)}; "
                f"got {k!r}."
            )
        best = np.empty((X.shape[0], k), dtype=np.intp)
        for rows in self._blocks(X, len(names)):
            best[rows] = best_columns(self._score(X[rows], prepared), int(k))[0]
        return names[best]

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
        left = [name for name, value in self.get_params(deep=False).items() if _is_cv(value)]
        return {name: getattr(self, f"{name}_") for name in left if hasattr(self, f"{name}_")}

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
            self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        with warnings.catch_warnings():
            # One sample a class is few-shot data here, not a sign of a regression target.
            warnings.filterwarnings("ignore", message="The number of unique classes is greater")
            check_classification_targets(labels)
        if reset and len(np.unique(labels)) < 2:
            raise InvalidInputError(
                f"training needs samples of at least two classes; got one class, {labels[0]!s}."
            )
        return X, labels

    def _set_signatures(self, classes: NDArray, table: Signatures | None = None) -> None:
        """Set what can be predicted and the normalised signatures of the seen classes."""
        if self.signatures is None:
            self.signatures_ = Signatures.one_hot(classes.astype(str))
        else:
            self.signatures_ = as_signatures(self.signatures) if table is None else table
        self._check_known(classes, "Add a row or pass other signatures=.")
        self.seen_signatures_ = self._normalised(classes)

    def _check_known(self, names: NDArray, remedy: str) -> None:
        """Refuse names without a signature."""
        known = set(self.classes_.tolist()) if self.signatures is None else self.signatures_
        unknown = [name for name in names.tolist() if name not in known]
        if unknown:
            raise UnknownClassError(unknown, list(known), remedy)

    def _normalised(self, names: NDArray) -> NDArray:
        """Normalised signatures of the given classes."""
        if self.signatures is None:
            return np.eye(len(self.classes_))[np.searchsorted(self.classes_, names)]
        return normalised_signatures(self.signatures_.rows(names), names, self.signature_norm)

    def _normalised_features(self, X: Features) -> Features:
        """Features as the method sees them; an ordinary classifier also takes samples of zeros."""
        return normalised_features(X, self.feature_norm, allow_zero=self.signatures is None)

    def _ready(self, X: Any, candidates: Sequence[Any] | None) -> tuple[Any, NDArray, Any]:
        """Validate a prediction's input and prepare its candidates once."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        needed = self.zero_shot_tags.min_batch
        if X.shape[0] < needed:
            raise TransductiveBatchError(type(self).__name__, X.shape[0], needed)
        names = self._candidate_names(candidates)
        prepared = self._prepare(self._normalised(names))
        return self._normalised_features(X), names, prepared

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


def as_signatures(table: Any) -> Signatures:
    """Return the class table a user gave as `Signatures`, a dict or a data frame."""
    if isinstance(table, Signatures):
        return table
    if isinstance(table, Mapping):
        return Signatures.from_dict(table)
    if hasattr(table, "index") and hasattr(table, "columns"):
        return Signatures.from_frame(table)
    raise InvalidInputError(
        "signatures must be a Signatures table, a dict of class to vector or a DataFrame with one "
        f"row a class; got {type(table).__name__}."
    )


def _is_cv(value: Any) -> bool:
    return isinstance(value, str) and value == "cv"


def dense(X: Features) -> NDArray:
    """Return X as a dense array, for methods that need one."""
    return X.toarray() if sparse.issparse(X) else X
