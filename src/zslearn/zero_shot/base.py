"""The interface of every zero-shot classifier, and the base of every method."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from zslearn._declared import Declared, fitted, parameter
from zslearn._optional import warn_renamed
from zslearn._parameters import Constraint, Either, check_parameters
from zslearn._pipelines import last_step
from zslearn.core.fitting import fit_method
from zslearn.core.learner import MomentLearner
from zslearn.core.magnitudes import check_not_vanishing, check_signatures
from zslearn.core.nearest import SCORE_BYTES, well_scaled
from zslearn.core.rows import (
    LazyRows,
    RowTransform,
    are_equal,
    is_small_finite_array,
    plain_labels,
    row_pieces,
    unmasked,
    validate_rows,
    warn_if_shuffled,
)
from zslearn.core.threads import ForkSafeLock
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    TransductiveBatchError,
    UncalibratedWarning,
    UnknownClassError,
    ZslearnWarning,
)
from zslearn.metrics import per_class_accuracy
from zslearn.signatures import Signatures
from zslearn.zero_shot.candidates import Candidates
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import (
    SIGNATURES,
    as_rows,
    as_signatures,
    check_features,
    plain_features,
    refuses_sample_weight,
)
from zslearn.zero_shot.recognizer import Facts, Recognizer
from zslearn.zero_shot.scoring import (
    UNCALIBRATED,
    Calibration,
    Classes,
    LinearForm,
    Queries,
    Scorer,
)
from zslearn.zero_shot.tags import ZeroShotTags

Features = Any  # ndarray or sparse matrix of shape (n_samples, n_features)
# What candidates may be in one word.
_SETTINGS = '"all", "seen", "unseen"'
# Held while a table of classes is exchanged for a larger one.
_growing = ForkSafeLock()


# What methods had to provide once, and what they provide now.
_RENAMED = {
    "_prepare": "prepare(names, vectors)",
    "_prepared": "prepare(names, vectors)",
    "_score": "represent(rows) and compare(queries, classes)",
    "_queries": "represent(rows)",
    "_score_queries": "compare(queries, classes)",
    "_explain": "decompose(rows, name, vector)",
    "_explained": "decompose(rows, name, vector)",
    "_form": "linear_form(classes)",
    "_ready_rows": "check_rows(X)",
    "_encode": "encode_rows(rows)",
    "_to_probabilities": "calibration",
    "_confidence": "calibration",
    "_rejects": "calibration",
    "_snapshot": "scorer()",
}


class ZeroShotClassifier(Declared, ClassifierMixin, BaseEstimator):
    """The face of every zero-shot classifier: what is asked of it once it is fitted.

    Everything here stands on `scorer`, which answers, and `calibration`, which says how sure the
    answers are. A method of its own derives from `ZeroShotMethod`; a classifier around other
    classifiers derives from this class and composes their scorers.

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
        Held-out accuracy of every point tried, with scikit-learn's keys; None if nothing was
        chosen.
    best_params_ : dict
        What was taken for the parameters left to "cv".
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags()
    # How scores become probabilities and rejections: plain softmax, nothing rejected.
    calibration: ClassVar[Calibration] = UNCALIBRATED
    seen_classes_: NDArray = fitted("names c")
    n_features_in_: int = fitted()
    cv_results_: dict[str, Any] | None = fitted()
    best_params_: dict[str, Any] = fitted()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for old in vars(cls).keys() & _RENAMED.keys():
            raise InvalidTypeError(
                f"{cls.__name__} defines {old}, which is no longer asked; provide {_RENAMED[old]} "
                "in its place, see ZeroShotMethod."
            )
        if "_fit" in vars(cls) and not hasattr(cls, "prepare"):
            raise InvalidTypeError(
                f"{cls.__name__} provides _fit, so it must derive from ZeroShotMethod, not from "
                "ZeroShotClassifier."
            )

    def scorer(self) -> Scorer:
        """Return what answers: the learned state, without what only fitting needs.

        Returns
        -------
        Scorer
        """
        raise NotImplementedError(f"{type(self).__name__} must provide scorer")

    @property
    def classes_(self) -> NDArray:
        """Every class that can be predicted, sorted: the columns of `predict_proba`."""
        if self.signatures is None:
            return self.seen_classes_
        return self.signatures_.in_order()[0]

    def predict(
        self,
        X: Any,
        candidates: Sequence[Any] | None = None,
        *,
        reject: bool = False,
        reject_label: Any = None,
    ) -> NDArray:
        """Return the best class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes allowed as answers; by default all of `classes_`.
        reject : bool, default=False
            Whether samples that probably belong to no candidate get `reject_label`. The classifier
            must have learned when to reject, as `CalibratedStacking` does.
        reject_label : str or int, optional
            What they are called; by default what the classifier was told, "none of these" or, if
            classes are whole numbers, -1.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        recognizer = self._live(candidates)
        self._warn_if_biased(candidates)
        return recognizer.predict(X, reject=reject, reject_label=reject_label)

    def predict_top_k(self, X: Any, k: int = 5, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return the k best classes of each sample, best first, ties in candidate order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        k : int, default=5
            How many classes, at most the number of candidates.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes allowed as answers; by default all of `classes_`.

        Returns
        -------
        ndarray of shape (n_samples, k)
        """
        recognizer = self._live(candidates)
        self._warn_if_biased(candidates)
        return recognizer.rank(X, k).names

    def decision_function(self, X: Any, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return the score of each candidate; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Columns of the answer; by default all of `classes_`.

        Returns
        -------
        ndarray of shape (n_samples, n_candidates)
            With one-hot signatures of two classes, as scikit-learn asks of a binary classifier,
            the difference of the two scores, of shape (n_samples,).
        """
        scores = self._live(candidates).scores(X)
        if self.signatures is None and candidates is None and scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict_proba(self, X: Any, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return the softmax of the scores; only `CalibratedStacking` makes it one to believe.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Columns of the answer; by default all of `classes_`.

        Returns
        -------
        ndarray of shape (n_samples, n_candidates)
            Rows sum to one.
        """
        recognizer = self._live(candidates)
        self._warn_if_biased(candidates)
        return recognizer.probabilities(X)

    def recognizer(self, candidates: Sequence[Any] | None = None) -> Recognizer:
        """Return an immutable answerer with the candidates prepared once.

        It is what `predict` and its siblings use for one call. Keep one to predict many times
        with the same candidates, from many threads, or with classes that change one by one.

        Parameters
        ----------
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes allowed as answers; by default all of `classes_`.

        Returns
        -------
        Recognizer
            Later changes of the classifier do not change it.
        """
        return self._live(candidates, copied=True)

    def recogniser(self, candidates: Sequence[Any] | None = None) -> Recognizer:
        """Return `recognizer(candidates)`; the old spelling, for one more release."""
        warn_renamed("recogniser()", "recognizer()")
        return self.recognizer(candidates)

    def explain(self, x: ArrayLike, name: Any) -> Explanation:
        """Return why a sample gets its score for one class.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            One sample.
        name : class name
            The class whose score is explained.

        Returns
        -------
        Explanation
            Contributions of the semantic dimensions (of the seen classes, for methods that build a
            class from them) that sum, with the offset, to the score.
        """
        return self._live([name]).explain(x, name)

    def candidate_names(self, candidates: Sequence[Any] | None = None) -> NDArray:
        """Return the classes allowed as answers, checked.

        Parameters
        ----------
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            By default all of `classes_`. "seen" and "unseen" are those with and without training
            samples.

        Returns
        -------
        ndarray of shape (n_candidates,)
            Sorted, unless they were given by name.
        """
        check_is_fitted(self)
        if candidates is None or isinstance(candidates, str):
            return self._classes_of_setting("all" if candidates is None else candidates)
        names = np.array(unmasked(candidates, "candidates"))
        if names.ndim != 1 or len(names) == 0:
            raise InvalidInputError(
                f"candidates must be {_SETTINGS} or a list of class names; got {candidates!r}."
            )
        if len(set(names.tolist())) < len(names):
            unique, counts = np.unique(names, return_counts=True)
            raise InvalidInputError(f"candidate {unique[counts.argmax()]!s} is named twice.")
        self._check_known(names, "Correct the candidate or add it by add_classes.")
        return names

    def score(
        self,
        X: Any,
        y: Any,
        candidates: Sequence[Any] | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the per-class accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            True classes.
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes allowed as answers; the figure depends on them, so pass them. By default
            "unseen" if no class in `y` was seen in training (the conventional setting) and
            otherwise "all" (the generalized one), with a warning that says which.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample within its class.

        Returns
        -------
        float
            Mean over the classes in `y` of the share of their samples that is right.

        Raises
        ------
        UnknownClassError
            If a class in `y` has no signature, as a misspelt one.
        InvalidInputError
            If a class in `y` is not among the candidates and so could never be right.
        """
        check_is_fitted(self)
        warn_if_shuffled(X, y, stacklevel=3)
        truth = np.asarray(plain_labels(y))
        present = np.unique(truth)
        self._check_known(present, "Correct the label or add the class by add_classes.")
        names = self.candidate_names(self._setting_of(truth) if candidates is None else candidates)
        never = np.setdiff1d(present, names)
        if len(never):
            raise InvalidInputError(
                f"y holds class {never[0]!s}, which is none of the {len(names)} candidates and so "
                "could never be right. Add it to candidates, or leave out its samples."
            )
        answers = self.predict(X, names.tolist())
        return per_class_accuracy(truth, answers, sample_weight=sample_weight)

    def add_classes(self, new: Signatures | Mapping[Any, ArrayLike]) -> Self:
        """Make new classes predictable by their signatures; nothing is fitted again.

        Any number of threads may add classes at once; a prediction in another thread sees the
        table before or after, never between.

        Parameters
        ----------
        new : Signatures, or dict of name to vector or to texts
            Classes that have no signature yet. Texts, one or several per class, are for signatures
            that a text encoder made; it encodes them.

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
        rows = as_rows(new, self.signatures_)
        # Tables never change, so a reader has the old one or the new one, and only writers wait.
        with _growing:
            self.__dict__["signatures_"] = self.signatures_.append(rows)
        return self

    def remove_classes(self, names: Sequence[Any]) -> Self:
        """Take classes back, as if they had never been added; nothing is fitted again.

        Parameters
        ----------
        names : sequence of class names
            Classes without training samples. Others stay known; leave them out of ``candidates=``
            where they cannot be right.

        Returns
        -------
        ZeroShotClassifier
            The classifier itself.
        """
        check_is_fitted(self)
        if isinstance(names, str):
            raise InvalidTypeError(f"names must be a list of class names; got {names!r}.")
        removed = np.array(unmasked(names, "names"))
        self._check_known(removed, "Correct the name.")
        trained = [name for name in removed.tolist() if name in set(self.seen_classes_.tolist())]
        if trained:
            raise InvalidInputError(
                f"class {trained[0]!s} has training samples, so it stays known; leave it out of "
                "candidates= where it cannot be right."
            )
        with _growing:
            changed = vars(self._with_table(self.signatures_.drop(removed.tolist())))
            # In one step, so that a reader in another thread never sees half of it.
            self.__dict__.update({k: v for k, v in changed.items() if v is not vars(self).get(k)})
        return self

    def with_signatures(self, signatures: Signatures) -> Self:
        """Return a fitted copy that answers with the classes of another table.

        Parameters
        ----------
        signatures : Signatures
            All classes that can be predicted, those of the training among them, with the same
            dimensions. What was learned stays, and is shared with this classifier.

        Returns
        -------
        ZeroShotClassifier
            The same kind, fitted.
        """
        check_is_fitted(self)
        if self.signatures is None or signatures.dimensions != self.signatures_.dimensions:
            raise InvalidInputError(
                "the table of a fitted classifier can be exchanged for one with the same "
                f"dimensions; got {signatures!r}."
            )
        missing = [name for name in self.seen_classes_.tolist() if name not in signatures]
        if missing:
            raise UnknownClassError(missing, list(signatures), "Training classes stay in it.")
        return self._with_table(signatures)

    def _with_table(self, signatures: Signatures) -> Self:
        twin = copy.copy(self)
        twin.__dict__["signatures_"] = signatures
        return twin

    def encode(self, X: Any) -> NDArray:
        """Return the semantics of samples: one estimate per dimension of the signatures.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_dimensions)
            In the scale of the normalized signatures; of methods that map features to semantics,
            such as SAEClassifier.
        """
        return self._live(None).encode(X)

    def _check_known(self, names: NDArray, remedy: str) -> None:
        """Refuse names without a signature."""
        # With one-hot signatures the table has the names as text, whatever kind the labels are.
        known = set(self.seen_classes_.tolist()) if self.signatures is None else self.signatures_
        unknown = [name for name in names.tolist() if name not in known]
        if unknown:
            raise UnknownClassError(unknown, list(known), remedy)

    def _classes_of_setting(self, setting: str) -> NDArray:
        """Classes that a setting allows as answers, sorted."""
        if setting not in ("all", "seen", "unseen"):
            raise InvalidInputError(
                f"candidates must be {_SETTINGS} or a list of class names; got {setting!r}."
            )
        if setting == "seen":
            return self.seen_classes_.copy()
        # A table's names are read-only; one-hot classes are an array of the classifier itself.
        names = self.classes_.copy() if self.signatures is None else self.classes_
        if setting == "all":
            return names
        unseen = names[~np.isin(names, self.seen_classes_)]
        if not len(unseen):
            raise InvalidInputError(
                "every class was seen in training, so there are no unseen candidates. Add some by "
                'add_classes, or pass candidates="all".'
            )
        return unseen

    def _setting_of(self, y: NDArray) -> str:
        """Infer the setting from true classes; warn where another one is possible."""
        setting = "all" if np.isin(y, self.seen_classes_).any() else "unseen"
        if len(self.classes_) > len(self.seen_classes_):
            some = "some" if setting == "all" else "none"
            n = len(self._classes_of_setting(setting))
            warnings.warn(
                f"{some} of the classes in y were seen in training, so score allows "
                f'{n} classes as answers, candidates="{setting}". Pass candidates= to say what '
                "is allowed.",
                ZslearnWarning,
                stacklevel=3,
            )
        return setting

    def _warn_if_biased(self, candidates: Sequence[Any] | None) -> None:
        """Warn where all classes compete and nothing was learned about seen ones winning."""
        among_all = candidates is None or (isinstance(candidates, str) and candidates == "all")
        if self.calibration is not UNCALIBRATED or not among_all:
            return
        if len(self.classes_) > len(self.seen_classes_):
            name = type(self).__name__
            warnings.warn(
                f"{name} is not calibrated: where seen and unseen classes compete, seen ones win "
                f'too often. Fit CalibratedStacking({name}(...)), or pass candidates="unseen" '
                "where only unseen classes can be right.",
                UncalibratedWarning,
                stacklevel=3,
            )

    def _live(self, candidates: Sequence[Any] | None = None, *, copied: bool = False) -> Recognizer:
        """Return a recognizer, for one call with the arrays of the classifier, or with copies."""
        names, vectors = self._named_signatures(candidates)
        scorer = self.scorer()
        facts = Facts(
            type(self).__name__,
            self.n_features_in_,
            self.seen_classes_,
            self.signatures_,
            self.signatures is None,
            self.calibration,
        )
        # In one copy, so that arrays which both hold stay shared.
        if copied:
            scorer, facts = copy.deepcopy((scorer, facts))
        return Recognizer(Candidates.of(scorer, names, vectors), facts)

    def _named_signatures(self, candidates: Sequence[Any] | None) -> tuple[NDArray, NDArray]:
        """Names and raw signatures of the candidates, as they are in one moment."""
        if candidates is not None or self.signatures is None or not hasattr(self, "signatures_"):
            names = self.candidate_names(candidates)
            return names, self._raw_signatures(names)
        # Read once: another thread may add classes meanwhile, and names and rows must match.
        table = self.signatures_
        names, rows = table.in_order()
        return names, table.vectors if names is table.names else table.vectors[rows]

    def _raw_signatures(self, names: NDArray) -> NDArray:
        """Signatures of the given classes as they were given."""
        if self.signatures is None:
            return np.eye(len(self.seen_classes_))[np.searchsorted(self.seen_classes_, names)]
        table = self.signatures_
        return table.vectors if names is table.names else table.rows(names)

    def _validated(
        self, X: Any, y: Any, *, reset: bool = True, several: bool = True, **checks: Any
    ) -> tuple[Any, NDArray]:
        warn_if_shuffled(X, y)
        X, labels = validate_rows(
            self,
            plain_features(X),
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.zero_shot_tags.non_negative
        tags.non_deterministic = not self.zero_shot_tags.deterministic
        return tags


class ZeroShotMethod(ZeroShotClassifier):
    """Base of methods that recognize classes by their signatures.

    A method declares its parameters (`zslearn._declared`) and provides

    - ``_fit(X, y)``: learn from normalized features and class indices; ``self.seen_signatures_``
      holds the normalized signature of each index,
    - ``prepare(names, vectors)``: what candidates, given by their raw signatures, are turned into
      once; unless the tag `separable` is False, arrays with one row per candidate (or a tuple, dict
      or dataclass of such arrays). `_unit_signatures` normalizes them,
    - ``compare(queries, classes)``: scores of shape (n_samples, n_candidates), larger is better,
    - ``represent(rows)``, if samples are mapped before they are compared,
    - ``decompose(rows, name, vector)``, if a score is a sum: the `Explanation` of one sample,
    - ``linear_form(classes)``, if scores are products of features with class vectors.

    So a fitted method is its own scorer, see `zslearn.zero_shot.scoring.Scorer`.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    """

    signatures: Any = parameter(default=None, allowed=Either(None, SIGNATURES), kw_only=False)
    signatures_: Signatures = fitted()
    seen_signatures_: NDArray = fitted("c k")
    feature_norm: str | None = parameter(default="l2", allowed=Either("l2", None), init=False)
    signature_norm: str | None = parameter(default="l2", allowed=Either("l2", None), init=False)

    @refuses_sample_weight
    @fit_method
    def fit(self, X: Any, y: Any) -> ZeroShotMethod:
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
        ZeroShotMethod
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

    def scorer(self) -> Scorer:
        """Return what answers: the learned state, without what only fitting needs.

        Returns
        -------
        Scorer
            Of the class of the method. It shares arrays with the method and is never written to.
        """
        # Not by its constructor: only what was learned and given, no scratch (_) and no search.
        twin = object.__new__(type(self))
        twin.__dict__ = {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "cv_results_"
        }
        return twin

    def check_rows(self, X: Any) -> Any:
        """Validate samples to predict; many of them are normalized when their block is scored.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features as a user gives them.

        Returns
        -------
        {ndarray, sparse matrix, LazyRows} of shape (n_samples, n_features)
            Normalized as in training.
        """
        if not is_small_finite_array(X, self):
            X = check_features(X, self)
        tags = self.zero_shot_tags
        if X.shape[0] < tags.min_batch:
            raise TransductiveBatchError(type(self).__name__, X.shape[0], tags.min_batch)
        # Many rows are normalized block by block as they are scored, never twice in memory.
        transform = self._row_transform()
        if tags.transductive or sparse.issparse(X) or X.nbytes <= SCORE_BYTES:
            return transform.apply(X)
        return LazyRows(X, transform.apply)

    def represent(self, rows: Features) -> Queries:
        """Return what is compared with classes, an array or dict of arrays with a row per sample.

        Parameters
        ----------
        rows : {ndarray, sparse matrix} of shape (n_samples, n_features)
            What `check_rows` returned, or a block of it.

        Returns
        -------
        array, or dict or tuple of arrays
            The rows themselves, unless the method maps them.
        """
        return rows

    def prepare(self, names: NDArray, vectors: NDArray) -> Classes:
        """Return what candidates are turned into once, before anything is compared with them.

        Parameters
        ----------
        names : ndarray of shape (n_candidates,)
            Class names.
        vectors : ndarray of shape (n_candidates, n_dimensions)
            Raw signatures.

        Returns
        -------
        array, or tuple, dict or dataclass of arrays
            With one row per candidate, unless the tag `separable` is False.
        """
        return self._unit_signatures(names, vectors)

    def compare(self, queries: Queries, classes: Classes) -> NDArray:
        """Return the scores of samples for candidates; larger is better.

        Parameters
        ----------
        queries : array, or dict or tuple of arrays
            What `represent` returned.
        classes : array, or tuple, dict or dataclass of arrays
            What `prepare` returned.

        Returns
        -------
        ndarray of shape (n_samples, n_candidates)
        """
        raise NotImplementedError(f"{type(self).__name__} must provide compare")

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        """Return the score of a sample for a class as a sum.

        Parameters
        ----------
        rows : {ndarray, sparse matrix} of shape (1, n_features)
            What `check_rows` returned.
        name : class name
            The class.
        vector : ndarray of shape (n_dimensions,)
            Its raw signature.

        Returns
        -------
        Explanation
        """
        raise InvalidInputError(
            f"{type(self).__name__} cannot explain its scores by dimensions; linear methods such "
            "as SAEClassifier can."
        )

    def familiarity(self, queries: Queries, names: NDArray, vectors: NDArray) -> NDArray | None:
        """Return how much better classes explain samples than a class nobody described does.

        Parameters
        ----------
        queries : array, or dict or tuple of arrays
            What `represent` returned.
        names : ndarray of shape (n_classes,)
            Class names.
        vectors : ndarray of shape (n_classes, n_dimensions)
            Raw signatures.

        Returns
        -------
        ndarray of shape (2, n_samples, n_classes) or None
            Two measures, larger is more familiar; None of methods that know no densities.
        """
        return None

    def linear_form(self, classes: Classes) -> LinearForm:
        """Return the scores as products with class vectors.

        Parameters
        ----------
        classes : array, or tuple, dict or dataclass of arrays
            What `prepare` returned.

        Returns
        -------
        LinearForm
        """
        raise InvalidInputError(
            f"the scores of {type(self).__name__} are no products of the features with class "
            "vectors, so other runtimes cannot compute them. Those of SAEClassifier are."
        )

    def encode_rows(self, rows: Features) -> NDArray:
        """Return the estimated semantics of samples.

        Parameters
        ----------
        rows : {ndarray, sparse matrix} of shape (n_samples, n_features)
            What `check_rows` returned.

        Returns
        -------
        ndarray of shape (n_samples, n_dimensions)
        """
        raise InvalidInputError(
            f"{type(self).__name__} does not map features to semantics; SAEClassifier does."
        )

    def _set_classes(self, rows: Any, labels: NDArray) -> NDArray[np.intp]:
        """Begin a fit: set the seen classes and return the index of each sample's."""
        self._warn_if_constant(are_equal(rows))
        if self.feature_norm is None:
            check_not_vanishing(row_pieces(rows))
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

    def _set_signatures(self, classes: NDArray, table: Signatures | None = None) -> None:
        """Set what can be predicted and the normalized signatures of the seen classes."""
        if self.signatures is None:
            self.signatures_ = Signatures.one_hot(classes.astype(str))
        else:
            self.signatures_ = as_signatures(self.signatures) if table is None else table
        self._check_known(classes, remedy(classes, self.signatures_))
        self.seen_signatures_ = self._unit_signatures(classes, self._raw_signatures(classes))
        if self.signature_norm is None:
            check_not_vanishing([self.seen_signatures_], "signatures")

    def _unit_signatures(self, names: Sequence[Any] | NDArray, vectors: NDArray) -> NDArray:
        """Return raw signatures as the method sees them: of unit length if `signature_norm` is.

        A class without any attribute ("nothing is wrong") has no direction and stays at the origin,
        as far from every class as its attributes say. Among vectors with signs, such as those of
        words, zeros are a vector that is missing, and two classes at the origin cannot be told
        apart; both are refused.
        """
        if self.signature_norm is None:
            check_signatures(vectors, names)
            return vectors
        # s / ‖s‖; rows whose squares overflow or vanish were divided by their largest entry.
        scaled, squares, _ = well_scaled(vectors)
        if squares.all():
            return np.asarray(scaled * (1.0 / np.sqrt(squares))[:, None])
        zero = np.flatnonzero(squares == 0)
        if len(zero) > 1 or (self.signatures_.vectors < 0).any():
            of = " and ".join(f"class {names[int(i)]!s}" for i in zero[:2])
            raise InvalidInputError(
                f"the signature of {of} holds only zeros, so it has no direction to compare. Give "
                "it values, drop the class, or use signature_norm=None."
            )
        return np.asarray(scaled / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None])

    def _normalized_features(self, X: Features) -> Features:
        """Return features as the method sees them."""
        return self._row_transform().apply(X)

    def _row_transform(self) -> RowTransform:
        """Return what is done to the rows; an ordinary classifier also takes samples of zeros."""
        return RowTransform(self.feature_norm, allow_zero=self.signatures is None)

    def _training_rows(self, X: Any, y: Any) -> tuple[Any, NDArray]:
        """Return validated features and labels; a memory map is normalized as it is read."""
        # Moments add up over blocks; fewer rows than features are small, and kept themselves.
        mapped = isinstance(self, MomentLearner) and isinstance(X, np.memmap) and X.ndim == 2
        if not mapped or len(X) <= X.shape[1]:
            X, labels = self._validated(X, y)
            return self._normalized_features(X), labels
        labels = column_or_1d(plain_labels(y))
        check_consistent_length(X, labels)
        # A few rows tell scikit-learn the number of features; all labels are looked at.
        validate_data(self, plain_features(X[:1]), dtype=[np.float64, np.float32])
        self._check_labels(labels)
        self._forget_encoder()
        return LazyRows(X, self._row_transform().apply), labels


class NormalizedMethod(ZeroShotMethod):
    """A method whose samples and signatures are scaled as its parameters say.

    Parameters
    ----------
    feature_norm : {"l2", None}, default="l2"
        Scale every sample to unit length, at fit and at prediction.
    signature_norm : {"l2", None}, default="l2"
        Scale every signature to unit length.
    """

    feature_norm: str | None = parameter(default="l2")
    signature_norm: str | None = parameter(default="l2")


CLASSIFIER = Constraint(
    "a zero-shot classifier such as SAEClassifier(signatures), or a pipeline that ends in one",
    lambda value: isinstance(last_step(value), ZeroShotClassifier),
)


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
