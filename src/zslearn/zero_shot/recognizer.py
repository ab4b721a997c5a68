"""The recognizer: a scorer and a fixed set of candidates that answer from any thread."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._optional import warn_renamed
from zslearn._parameters import check_flags, check_value
from zslearn.exceptions import (
    ImmutableError,
    InvalidInputError,
    InvalidTypeError,
    UnknownClassError,
    ZslearnWarning,
)
from zslearn.metrics.accuracy import checked_k
from zslearn.signatures import Signatures
from zslearn.signatures.phrases import Phrases
from zslearn.zero_shot.candidates import Candidates, ReadySamples, kept_queries, whole_rows
from zslearn.zero_shot.explanation import Explanation, Reason
from zslearn.zero_shot.inputs import one_row
from zslearn.zero_shot.scoring import REJECT_LABEL, Calibration, LinearForm, Scorer


class Ranking(NamedTuple):
    """The best classes of each sample, best first, ties in candidate order.

    Attributes
    ----------
    names : ndarray of shape (n_samples, k)
        Class names.
    scores : ndarray of shape (n_samples, k)
        Their scores.
    """

    names: NDArray
    scores: NDArray


class Facts(NamedTuple):
    """What a recognizer knows besides scoring.

    Attributes
    ----------
    method : str
        Name of the class of the classifier.
    n_features : int
        Length of a sample.
    seen : ndarray of shape (n_seen,)
        Classes with training samples.
    table : Signatures
        Every class that can be predicted; the names and blocks of the dimensions.
    one_hot : bool
        Whether signatures only number the classes, so that none can be described.
    calibration : Calibration
        How sure answers are.
    phrases : mapping of class to Phrases or None
        Of classes that were described since the table was made.
    """

    method: str
    n_features: int
    seen: NDArray
    table: Signatures
    one_hot: bool
    calibration: Calibration
    phrases: Mapping[Any, Phrases] | None = None


def with_reject_label(
    answers: NDArray[Any], rejected: NDArray[np.bool_], label: Any, classes: NDArray[Any]
) -> NDArray[Any]:
    """Return answers in which rejected ones are replaced by a label that is no class."""
    if label is None:
        label = -1 if classes.dtype.kind in "iu" else "none of these"
    check_value("reject_label", label, REJECT_LABEL)
    if np.isin(label, classes) or label in classes.tolist():
        raise InvalidInputError(
            f"reject_label {label!r} is the name of a class; choose another label."
        )
    # Answers stay text or numbers if the label is of their kind, and become objects otherwise; a
    # longer text than all class names needs a wider array.
    text, whole = isinstance(label, str), isinstance(label, (int, np.integer))
    fits = text if answers.dtype.kind == "U" else whole and answers.dtype.kind == "i"
    if not fits:
        answers = answers.astype(object)
    elif text:
        answers = answers.astype(np.result_type(answers.dtype, np.array(label).dtype))
    answers[rejected] = label
    return answers


class Recognizer:
    """Names samples among fixed candidates; made by ``classifier.recognizer(candidates)``.

    Candidates are prepared once, at most 32,768 of them; more are prepared in blocks at each call,
    in bounded memory. Nothing that happens to the classifier or to arrays of the caller later
    changes a recognizer, and a change of it returns a new one that shares all that did not change.
    So it can be used by any number of threads.

    Attributes
    ----------
    names : ndarray of shape (n_candidates,)
        Class names, read-only.
    seen : ndarray of bool of shape (n_candidates,)
        Which candidates had training samples.
    signatures : Signatures
        The signatures of the candidates, as they were given.
    n_features : int
        Length of a sample.

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> from zslearn.zero_shot import SAEClassifier
    >>> animals = load_animals()
    >>> split = animals.split("proposed")
    >>> rows = animals.rows(split.seen)
    >>> clf = SAEClassifier(animals.signatures, lam=1.0).fit(animals.X[rows], animals.y[rows])
    >>> recognizer = clf.recognizer(["bat", "dolphin", "horse"])
    >>> recognizer.rank(animals.X[animals.y == "horse"][:1], k=2).names.tolist()
    [['horse', 'bat']]
    >>> recognizer.without("horse").names.tolist()
    ['bat', 'dolphin']
    """

    names: NDArray
    _scorer: Scorer
    _candidates: Candidates
    _facts: Facts

    def __init__(self, candidates: Candidates, facts: Facts) -> None:
        # Past __setattr__, which refuses. Arrays that many threads share are read-only.
        candidates.names.flags.writeable = False
        vars(self).update(
            names=candidates.names,
            _scorer=candidates.scorer,
            _candidates=candidates,
            _facts=facts,
        )

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which candidates had training samples."""
        return np.isin(self.names, self._facts.seen)

    @property
    def is_calibrated(self) -> bool:
        """Whether probabilities were learned on held-out classes; a plain softmax means little."""
        return self._facts.calibration.is_learned(self.seen)

    @property
    def n_features(self) -> int:
        """Length of a sample."""
        return self._facts.n_features

    @property
    def signatures(self) -> Signatures:
        """The signatures of the candidates, as they were given."""
        table = self._facts.table
        names = self.names.astype(str) if self._facts.one_hot else self.names
        kept = set(names.tolist())
        return Signatures(
            names,
            self._candidates.vectors,
            table.dimensions,
            blocks=table.blocks,
            encoder=table.encoder,
            texts={name: texts for name, texts in table.texts.items() if name in kept},
            phrases={name: told for name in self.names.tolist() if (told := self._phrases(name))},
        )

    def rank(self, X: Any, k: int = 5) -> Ranking:
        """Return the k best candidates of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        k : int, default=5
            How many classes, at most the number of candidates.

        Returns
        -------
        Ranking
            Names and scores of shape (n_samples, k), best first, ties in candidate order.
        """
        best, scores = self._candidates.best(X, checked_k(k, len(self.names)))
        return Ranking(self.names[best], scores)

    def predict(self, X: Any, *, reject: bool = False, reject_label: Any = None) -> NDArray:
        """Return the best candidate of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        reject : bool, default=False
            Whether samples of too low a confidence get `reject_label`.
        reject_label : str or int, optional
            By default that of the classifier, "none of these" or -1.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_flags(reject=reject)
        if not reject:
            # The best of each block is enough; only confidence needs all scores.
            return self.names[self._candidates.best(X, 1)[0][:, 0]]
        calibration, scores = self._calibration(), self.scores(X)
        label = calibration.reject_label if reject_label is None else reject_label
        rejected = calibration.rejected(scores, self.seen, self._ratios(X, scores))
        if doubt := calibration.doubts.get("all" if self.seen.any() else "unseen"):
            warnings.warn(doubt, ZslearnWarning, stacklevel=2)
        return with_reject_label(self.names[scores.argmax(axis=1)], rejected, label, self.names)

    def probabilities(self, X: Any) -> NDArray:
        """Return the probability of each candidate; of a calibrated classifier, one to believe.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_candidates)
            Rows sum to one.
        """
        return self._facts.calibration.probabilities(self.scores(X), self.seen)

    def confidence(self, X: Any) -> NDArray:
        """Return how sure the best answer of each sample is, by a calibrated classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            By default the probability that the answer is right; see `CalibratedStacking`.
        """
        calibration, scores = self._calibration(), self.scores(X)
        return calibration.confidence(scores, self.seen, self._ratios(X, scores))

    def rejected(self, X: Any) -> NDArray[np.bool_]:
        """Say which samples probably belong to no candidate, by a calibrated classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        calibration, scores = self._calibration(), self.scores(X)
        return calibration.rejected(scores, self.seen, self._ratios(X, scores))

    def familiarity(self, X: Any) -> NDArray:
        """Return how much better its answer explains a sample than a class nobody described does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Logarithms of ratios of densities, by `PrototypeRegression`: of Gaussians, and the same
            without regard to how far from everything a sample is. The smaller, the newer.
        """
        return self._familiarity(X, self._candidates.best(X, 1)[0][:, 0])

    def familiarity_table(self, X: Any) -> NDArray | None:
        """Return the same for every candidate, of shape (2, n_samples, n_candidates), or None."""
        return self._candidates.familiarity_table(X)

    def scores(self, X: Any) -> NDArray:
        """Return the score of each candidate; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_candidates)
        """
        return self._candidates.scores(X)

    def ready(self, X: Any) -> ReadySamples:
        """Return samples checked, scaled and mapped once, to be scored while classes change.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ReadySamples
            What `rank`, `scores` and `column` take in place of features, here and in every
            recognizer that comes from this one by `replace`, `without` or `among`. They stay as
            they are when `X` changes.
        """
        rows = self._scorer.check_rows(X)
        queries = kept_queries(self._scorer.represent(whole_rows(rows)), X)
        return ReadySamples(self._scorer, rows.shape, queries)

    def column(self, X: Any, name: Any) -> NDArray:
        """Return the scores of one candidate, without computing those of the others.

        Parameters
        ----------
        X : ReadySamples, or {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        name : class name
            The candidate.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of a method whose tag `separable` is False, all scores are computed.
        """
        place = self._place(name)
        if not self._scorer.zero_shot_tags.separable:
            return self.scores(X)[:, place]
        # Prepared anew: those of all candidates lie in parts, and one row costs little.
        vector = self._candidates.vector(place)
        alone = Candidates.of(self._scorer, self.names[[place]], vector[None])
        return alone.scores(X)[:, 0]

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
        return self._scorer.encode_rows(whole_rows(self._scorer.check_rows(X)))

    def explain(self, x: ArrayLike, name: Any) -> Explanation:
        """Return why a sample gets its score for one candidate.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            One sample.
        name : class name
            The candidate whose score is explained.

        Returns
        -------
        Explanation
            Contributions that sum, with the offset, to the score; its `reasons` are those that a
            person can read.
        """
        vector = self._candidates.vector(self._place(name))
        rows = self._scorer.check_rows(one_row(x))
        found = self._removals(rows, name, vector)
        try:
            why = self._scorer.decompose(rows, name, vector)
        except InvalidInputError:
            if not found:
                raise
            # The score is no sum, and what a phrase adds to it is known all the same.
            why = Explanation.of((), np.empty(0), float(self.column(one_row(x), name)[0]))
        if why.deviations is None and why.dimensions == self._facts.table.dimensions:
            why = replace(why, deviations=vector)  # a sum s·z begins from the class of zeros
        return replace(why, removals=found)

    def linear_form(self) -> LinearForm:
        """Return the scores as products with class vectors, for other runtimes such as ONNX.

        Returns
        -------
        LinearForm
            Of linear methods, of methods with linear class vectors, and of both calibrated or
            behind preparation steps.
        """
        if self._scorer.zero_shot_tags.transductive:
            raise InvalidInputError(
                f"{self._facts.method} looks at the whole batch of samples, so its scores are no "
                "products of the features with class vectors."
            )
        # In one piece, which a file needs, where candidates keep theirs in parts.
        prepared = self._scorer.prepare(self.names, self._candidates.vectors)
        return replace(self._scorer.linear_form(prepared), allow_zero=self._facts.one_hot)

    def form(self) -> LinearForm:
        """Return `linear_form()`; the old name, for one more release."""
        warn_renamed("form()", "linear_form()")
        return self.linear_form()

    def replace(self, name: Any, vector: Any, *, phrases: Phrases | None = None) -> Recognizer:
        """Return a recognizer in which one class has another signature; a new name is added.

        Parameters
        ----------
        name : class name
            A candidate, which keeps its place, or a new class, which comes last.
        vector : array-like of shape (n_dimensions,) or mapping of dimension to value
            Its signature.
        phrases : Phrases, optional
            What can be left out of the texts that the signature was made from, for its reasons;
            `Signatures.phrases` has them.

        Returns
        -------
        Recognizer
            Only the one class is prepared anew, unless the method's tag `separable` is False.
        """
        told = {**(self._facts.phrases or {}), name: phrases}
        known = {key: value for key, value in told.items() if value is not None}
        facts = self._facts._replace(phrases=known)
        return Recognizer(self._candidates.with_class(name, self._checked(name, vector)), facts)

    def without(self, name: Any) -> Recognizer:
        """Return a recognizer that never answers with one of the candidates.

        Parameters
        ----------
        name : class name
            A candidate, but not the only one.

        Returns
        -------
        Recognizer
        """
        place = self._place(name)
        if len(self.names) == 1:
            raise InvalidInputError(f"{name!s} is the only candidate; a recognizer needs one.")
        return Recognizer(self._candidates.without(place), self._facts)

    def among(self, names: Sequence[Any]) -> Recognizer:
        """Return a recognizer that answers with some of the candidates only.

        Parameters
        ----------
        names : sequence of class names
            Candidates, each once, in the order of the columns of `scores`.

        Returns
        -------
        Recognizer
            Nothing is prepared anew, unless the method's tag `separable` is False.
        """
        places = [self._place(name) for name in names]
        if not places or len(set(places)) < len(places):
            raise InvalidInputError("candidates must be named, at least one, and each once.")
        return Recognizer(self._candidates.among(np.array(places)), self._facts)

    def _phrases(self, name: Any) -> Phrases | None:
        """Return what can be left out of the texts of a candidate, unless its row was changed."""
        told = (self._facts.phrases or {}).get(name)
        if told is not None or name not in self._facts.table.phrases:
            return told
        told = self._facts.table.phrases[name]
        vector = self._candidates.vector(self._place(name))
        return told if np.array_equal(self._facts.table[name], vector) else None

    def _removals(self, rows: Any, name: Any, vector: NDArray) -> tuple[Reason, ...]:
        """Return by how much the score of a candidate is higher than it is without each phrase."""
        told, tags = self._phrases(name), self._scorer.zero_shot_tags
        if told is None or tags.transductive or not tags.separable:
            return ()
        versions = np.vstack([vector, told.vectors])
        classes = self._scorer.prepare(
            np.repeat(self.names[[self._place(name)]], len(versions)), versions
        )
        scores = self._scorer.compare(self._scorer.represent(whole_rows(rows)), classes)[0]
        adds = (scores[0] - scores[1:]).tolist()
        return tuple(Reason(word, "says", one) for word, one in zip(told.words, adds, strict=True))

    def _checked(self, name: Any, vector: Any) -> NDArray:
        """Return a signature in the order of the dimensions, or say what is wrong with it."""
        if self._facts.one_hot:
            raise InvalidInputError(
                "a classifier with one-hot signatures knows its training classes only; pass "
                "signatures= to change or add classes."
            )
        table = self._facts.table
        row = Signatures.from_dict({name: vector}, table.dimensions)
        if row.names.dtype.kind != table.names.dtype.kind:
            kind = "text" if table.names.dtype.kind == "U" else "whole numbers"
            raise InvalidTypeError(f"the class names of this recognizer are {kind}; got {name!r}.")
        return row.vectors[0]

    def _place(self, name: Any) -> int:
        place = self._candidates.place(name)
        if place is None:
            remedy = "Correct the name or add the class by replace."
            raise UnknownClassError([name], self.names.tolist(), remedy)
        return place

    def _ratios(self, X: Any, scores: NDArray) -> NDArray | None:
        """Return the familiarity of the best answers, if how sure they are depends on it."""
        if not self._facts.calibration.asks_familiarity(self.seen):
            return None
        return self._familiarity(X, scores.argmax(axis=1))

    def _familiarity(self, X: Any, answers: NDArray[np.intp]) -> NDArray:
        found = self._candidates.familiarity(X, answers)
        if found is None:
            raise InvalidInputError(
                f"{self._facts.method} does not know how likely samples are; "
                "PrototypeRegression does."
            )
        return found

    def _calibration(self) -> Calibration:
        """Return how sure answers are, or refuse if that was not learned."""
        if self._facts.calibration.threshold is None:
            name = self._facts.method
            raise InvalidInputError(
                f"{name} has not learned how sure it is, nor when to reject; fit "
                f"CalibratedStacking({name}(...)) instead."
            )
        return self._facts.calibration

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ImmutableError(
            f"a recognizer never changes, so {name!r} cannot be set. Make a new one with replace "
            "or without, or by classifier.recognizer(candidates)."
        )

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Recognizer({self._facts.method}, {len(self)} candidates)"
