"""The interface of every zero-shot classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from zslearn._parameters import Constraint, Either, Seed, Whole, check_parameters
from zslearn.core.fitting import all_or_nothing
from zslearn.core.learner import MomentLearner
from zslearn.core.nearest import SCORE_BYTES
from zslearn.core.rows import LazyRows, RowTransform, are_equal, check_squares, plain_labels
from zslearn.core.threads import limits_blas
from zslearn.exceptions import InvalidInputError, TransductiveBatchError, ZslearnWarning
from zslearn.signatures import Signatures
from zslearn.zero_shot.inputs import (
    SIGNATURES,
    as_signatures,
    is_plain,
    single,
    warn_if_shuffled,
)
from zslearn.zero_shot.normalization import normalized_signatures
from zslearn.zero_shot.prediction import Predictor
from zslearn.zero_shot.weights import refuses_weights

Features = Any  # ndarray or sparse matrix of shape (n_samples, n_features)


class ZeroShotClassifier(Predictor, ClassifierMixin, BaseEstimator):
    """Base of classifiers that recognize classes by their signatures.

    A method derives from this class, takes ``signatures`` as its first constructor parameter (None
    means one-hot signatures of the training classes, an ordinary classifier) and provides

    - ``_fit(X, y)``: learn from normalized features and class indices; ``self.seen_signatures_``
      holds the normalized signature of each index,
    - ``_prepare(S)``: what the candidates' normalized signatures are turned into once; unless the
      tag `separable` is False, arrays with one row per candidate (or a tuple, dict or dataclass
      of such arrays),
    - ``_score(X, prepared)``: scores of shape (n_samples, n_candidates), larger is better,
    - ``_explain(X, s)``, if a score is a sum: the `Explanation` of one sample, of shape
      (1, n_features), for one normalized signature.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Every class that can be predicted, sorted: the columns of `predict_proba` and
        `decision_function`. `add_classes` extends it.
    seen_classes_ : ndarray of shape (n_seen,)
        Classes seen in training, sorted.
    signatures_ : Signatures
        The signatures of the classes that can be predicted, in the order they were given.
    n_features_in_ : int
        Number of features.
    cv_results_ : dict or None
        If parameters were chosen, the scores of every point tried, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".
    """

    # What each parameter may be; a method adds those of its own, and `fit` checks them all.
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "signatures": Either(None, SIGNATURES),
        "feature_norm": Either("l2", None),
        "signature_norm": Either("l2", None),
        "cv": Whole(2),
        "random_state": Seed(),
        "verbose": Whole(0),
    }
    # Shapes of what `fit` learns, checked when a model is loaded: d features, k dimensions of
    # signatures, c seen classes, other letters as they come; "" is a number; what is "optional" may
    # be missing.
    learned_shapes: ClassVar[Mapping[str, str | None]] = {
        "seen_classes_": "names c",
        "seen_signatures_": "c k",
    }
    feature_norm: str | None = "l2"
    cv_results_: dict[str, Any] | None
    best_params_: dict[str, Any]

    @refuses_weights
    @all_or_nothing
    @limits_blas
    def fit(self, X: Any, y: Any) -> ZeroShotClassifier:
        """Learn from samples of the seen classes.

        A fit that fails or is interrupted (Ctrl-C) leaves the classifier as it was before.

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
        check_parameters(self)
        rows, labels = self._training_rows(X, y)
        self._fit(rows, self._set_classes(rows, labels))
        return self

    def frozen(self) -> ZeroShotClassifier:
        """Return an unfitted copy in which every parameter chosen by `fit` is given as a number.

        Parameters left to "cv" take the values of `best_params_`. Use it to fit the same model
        again, on other data or many times, without choosing again.

        Returns
        -------
        ZeroShotClassifier
        """
        check_is_fitted(self)
        return clone(self).set_params(**self.best_params_)

    def _set_classes(self, rows: Any, labels: NDArray) -> NDArray[np.intp]:
        """Begin a fit: set the seen classes and return the index of each sample's."""
        self._warn_if_constant(are_equal(rows))
        self.seen_classes_, index = np.unique(labels, return_inverse=True)
        self._set_signatures(self.seen_classes_)
        self.cv_results_, self.best_params_ = None, {}
        return index

    def _warn_if_constant(self, constant: bool) -> None:
        if constant:
            scaled = " once scaled to unit length" if self.feature_norm == "l2" else ""
            warnings.warn(
                f"all training samples are equal{scaled}, so every sample will get the same "
                "class. Check which columns were read as features.",
                ZslearnWarning,
                stacklevel=6,
            )

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        raise NotImplementedError(f"{type(self).__name__} must provide _fit")

    def _validated(
        self, X: Any, y: Any, *, reset: bool = True, several: bool = True, **checks: Any
    ) -> tuple[Any, NDArray]:
        warn_if_shuffled(X, y)
        X, labels = validate_data(
            self,
            single(X),
            plain_labels(y),
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            **checks,
        )
        self._check_labels(labels, several=several)
        if reset:
            self._forget_encoder()
        return X, labels

    def _forget_encoder(self) -> None:
        """Drop the encoder of pictures that an earlier fit was given, before a fit on features."""
        self.__dict__.pop("encoder_", None)

    def _check_labels(self, labels: NDArray, *, several: bool = True) -> None:
        with warnings.catch_warnings():
            # One sample per class is few-shot data here, not a sign of a regression target.
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
        self._check_known(classes, remedy(classes, self.signatures_))
        self.seen_signatures_ = self._normalized(classes)

    def _normalized(self, names: NDArray) -> NDArray:
        """Return the normalized signatures of the given classes."""
        return normalized_signatures(self._raw_signatures(names), names, self.signature_norm)

    def _normalized_features(
        self, X: Features, numbers: NDArray[np.intp] | None = None
    ) -> Features:
        """Return features as the method sees them; rows given with numbers are checked as well."""
        transform = self._row_transform()
        if numbers is None and transform.norm is None:
            check_squares(X)
            return X
        return transform.apply(X, numbers)

    def _row_transform(self) -> RowTransform:
        """Return what is done to the rows; an ordinary classifier also takes samples of zeros."""
        return RowTransform(self.feature_norm, allow_zero=self.signatures is None)

    def _ready_rows(self, X: Any) -> Any:
        """Validate samples to predict; many of them are normalized when their block is scored."""
        if not is_plain(X, self):
            X = validate_data(
                self,
                single(X),
                reset=False,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
            )
        needed = self.zero_shot_tags.min_batch
        if X.shape[0] < needed:
            raise TransductiveBatchError(type(self).__name__, X.shape[0], needed)
        large = not sparse.issparse(X) and X.nbytes > SCORE_BYTES
        lazily = large and not self.zero_shot_tags.transductive
        return self._lazy(X) if lazily else self._normalized_features(X)

    def _lazy(self, X: NDArray) -> LazyRows:
        """Rows that are checked and normalized when they are used."""
        return LazyRows(X, self._normalized_features)

    def _training_rows(self, X: Any, y: Any) -> tuple[Any, NDArray]:
        """Return validated features and labels; a memory map is normalized as it is read."""
        mapped = isinstance(self, MomentLearner) and isinstance(X, np.memmap) and X.ndim == 2
        if not mapped or len(X) <= X.shape[1]:
            X, labels = self._validated(X, y)
            return self._normalized_features(X), labels
        labels = column_or_1d(plain_labels(y))
        check_consistent_length(X, labels)
        # A few rows tell scikit-learn the number of features; all labels are looked at.
        validate_data(self, single(X[:1]), dtype=[np.float64, np.float32])
        self._check_labels(labels)
        self._forget_encoder()
        return self._lazy(X), labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.zero_shot_tags.non_negative
        tags.non_deterministic = not self.zero_shot_tags.deterministic
        return tags


def remedy(classes: NDArray, table: Signatures) -> str:
    """Return what to do about training classes without a signature."""
    encoded = classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes)))
    if encoded and table.names.dtype.kind == "U":
        return (
            "Labels 0, 1, 2, ... look encoded: VotingClassifier, StackingClassifier, "
            "BaggingClassifier and cross_val_predict of probabilities fit on numbers in place of "
            "class names, and a zero-shot classifier needs the names."
        )
    return "Add a row or pass other signatures=."


def dense(X: Features) -> NDArray:
    """Return X as a dense array, for methods that need one."""
    return X.toarray() if sparse.issparse(X) else X
