"""What every fitted zero-shot classifier answers, all of it through a recogniser."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from zslearn.core.rows import plain_labels
from zslearn.core.threads import ForkSafeLock
from zslearn.exceptions import InvalidInputError, UnknownClassError, ZslearnWarning
from zslearn.metrics import per_class_accuracy
from zslearn.signatures import Signatures
from zslearn.zero_shot.candidates import Candidates
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.normalization import normalized_signatures
from zslearn.zero_shot.recogniser import Recogniser
from zslearn.zero_shot.score_form import ScoreForm
from zslearn.zero_shot.tags import ZeroShotTags

# What candidates may be in one word.
_SETTINGS = '"all", "seen", "unseen"'
# Held while a table of classes is exchanged for a larger one.
_growing = ForkSafeLock()


class Predictor:
    """The predicting side of a zero-shot classifier.

    A classifier provides ``_ready_rows(X)`` (validated and normalized samples), ``_prepare(S)``,
    ``_score(X, prepared)`` and, if it can, ``_explain(X, s)``.
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags()
    signature_norm: str | None = "l2"
    signatures: Any
    signatures_: Signatures
    seen_classes_: NDArray

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
        return self._live(candidates).predict(X, reject=reject, reject_label=reject_label)

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
        return self._live(candidates).rank(X, k).names

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
        return self._live(candidates).probabilities(X)

    def recogniser(self, candidates: Sequence[Any] | None = None) -> Recogniser:
        """Return an immutable answerer with the candidates prepared once.

        It is what `predict` and its siblings use for one call. Keep one to predict many times
        with the same candidates, from many threads, or with classes that change one by one.

        Parameters
        ----------
        candidates : "all", "seen", "unseen" or sequence of class names, optional
            Classes allowed as answers; by default all of `classes_`.

        Returns
        -------
        Recogniser
            Later changes of the classifier do not change it.
        """
        names, vectors = self._named_signatures(candidates)
        return Recogniser(Candidates.of(self._snapshot(), names, vectors))

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
        names = np.array(candidates)
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
        """
        check_is_fitted(self)
        truth = np.asarray(plain_labels(y))
        allowed = self._setting_of(truth) if candidates is None else candidates
        return per_class_accuracy(truth, self.predict(X, allowed), sample_weight=sample_weight)

    def add_classes(self, new: Signatures | Mapping[Any, ArrayLike]) -> Self:
        """Make new classes predictable by their signatures; nothing is fitted again.

        Any number of threads may add classes at once; a prediction in another thread sees the
        table before or after, never between.

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
        with _growing:
            self.signatures_ = self.signatures_.append(new)
        return self

    def _ready_rows(self, X: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must provide _ready_rows")

    def _prepare(self, S: NDArray) -> Any:
        return S

    def _score(self, X: Any, prepared: Any) -> NDArray:
        raise NotImplementedError(f"{type(self).__name__} must provide _score")

    def _form(self, prepared: Any) -> ScoreForm:
        raise InvalidInputError(
            f"the scores of {type(self).__name__} are no products of the features with class "
            "vectors, so other runtimes cannot compute them. Those of SAEClassifier are."
        )

    def _encode(self, X: Any) -> NDArray:
        raise InvalidInputError(
            f"{type(self).__name__} does not map features to semantics; SAEClassifier does."
        )

    def _explain(self, X: Any, s: NDArray) -> Explanation:
        raise InvalidInputError(
            f"{type(self).__name__} cannot explain its scores by dimensions; linear methods such "
            "as SAEClassifier can."
        )

    def _to_probabilities(self, scores: NDArray, names: NDArray) -> NDArray:
        """Return the probability of each of the named candidates."""
        return softmax(scores.astype(np.float64), axis=1)

    def _confidence(self, scores: NDArray, names: NDArray) -> NDArray:
        raise InvalidInputError(
            f"{type(self).__name__} has not learned how sure it is, nor when to reject; fit "
            f"CalibratedStacking({type(self).__name__}(...)) instead."
        )

    def _rejects(self, scores: NDArray, names: NDArray) -> NDArray[np.bool_]:
        """Say which answers are below the threshold."""
        return self._confidence(scores, names) < np.inf

    def _check_known(self, names: NDArray, remedy: str) -> None:
        """Refuse names without a signature."""
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
        self._check_known(np.unique(y), "Correct the label or add the class by add_classes.")
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

    def _live(self, candidates: Sequence[Any] | None) -> Recogniser:
        """Return a recogniser over the classifier itself, for one call."""
        return Recogniser(Candidates.of(self, *self._named_signatures(candidates)))

    def _named_signatures(self, candidates: Sequence[Any] | None) -> tuple[NDArray, NDArray]:
        """Names and raw signatures of the candidates, as they are in one moment."""
        names = self.candidate_names(candidates)
        return names, self._raw_signatures(names)

    def _raw_signatures(self, names: NDArray) -> NDArray:
        """Signatures of the given classes as they were given."""
        if self.signatures is None:
            return np.eye(len(self.seen_classes_))[np.searchsorted(self.seen_classes_, names)]
        table = self.signatures_
        if names is table.names:
            return table.vectors
        in_order, rows = table.in_order()
        return table.vectors[rows] if names is in_order else table.rows(names)

    def _prepared(self, names: NDArray, vectors: NDArray) -> Any:
        """Return what candidates given by their raw signatures are turned into for scoring."""
        return self._prepare(normalized_signatures(vectors, names, self.signature_norm))

    def _explained(self, X: Any, name: Any, vector: NDArray) -> Explanation:
        """Explain the score of one sample, of shape (1, n_features), for one raw signature."""
        names = np.array([name])
        return self._explain(X, normalized_signatures(vector[None], names, self.signature_norm)[0])

    def _snapshot(self) -> Self:
        """Return a copy that shares nothing anybody writes to, without what only fitting needs."""
        kept = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        kept.pop("cv_results_", None)
        if kept.get("signatures") is not None:
            kept["signatures"] = kept.get("signatures_", kept["signatures"])
        twin = object.__new__(type(self))
        twin.__dict__ = {
            name: value._snapshot() if isinstance(value, Predictor) else copy.deepcopy(value)
            for name, value in kept.items()
        }
        return twin
