"""The recognizer: a fitted map and a fixed set of candidates that answer from any thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.core.nearest import SCORE_BYTES, best_columns, row_blocks
from zslearn.core.threads import map_blocks
from zslearn.exceptions import (
    ImmutableError,
    InvalidInputError,
    InvalidTypeError,
    UnknownClassError,
)
from zslearn.metrics.accuracy import checked_k
from zslearn.signatures import Signatures
from zslearn.zero_shot.candidates import Block, Candidates, ReadySamples, made_ready, score
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import one_row
from zslearn.zero_shot.scoring import ScoreForm


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


def with_label(
    answers: NDArray[Any], rejected: NDArray[np.bool_], label: Any, classes: NDArray[Any]
) -> NDArray[Any]:
    """Return answers in which rejected ones are replaced by a label that is no class."""
    if label is None:
        label = -1 if classes.dtype.kind in "iu" else "none of these"
    if np.isin(label, classes) or label in classes.tolist():
        raise InvalidInputError(
            f"reject_label {label!r} is the name of a class; choose another label."
        )
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
    _model: Any
    _candidates: Candidates

    def __init__(self, candidates: Candidates) -> None:
        candidates.names.flags.writeable = False
        vars(self).update(names=candidates.names, _model=candidates.model, _candidates=candidates)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which candidates had training samples."""
        return np.isin(self.names, self._model.seen_classes_)

    @property
    def n_features(self) -> int:
        """Length of a sample."""
        return int(self._model.n_features_in_)

    @property
    def signatures(self) -> Signatures:
        """The signatures of the candidates, as they were given."""
        table: Signatures = self._model.signatures_
        names = self.names.astype(str) if self._model.signatures is None else self.names
        return Signatures(names, self._candidates.vectors, table.dimensions, blocks=table.blocks)

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
        rows = self._rows(X)
        k = checked_k(k, len(self.names))
        first, *rest = (self._best(rows, block, k) for block in self._candidates.blocks())
        best, scores = first
        for found, values in rest:
            best, scores = np.hstack([best, found]), np.hstack([scores, values])
            order, scores = best_columns(scores, min(k, scores.shape[1]))
            best = np.take_along_axis(best, order, axis=1)
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
        if not reject:
            return self.rank(X, 1).names[:, 0]
        scores = self.scores(X)
        label = getattr(self._model, "reject_label", None) if reject_label is None else reject_label
        rejected = self._model._rejects(scores, self.names)
        return with_label(self.names[scores.argmax(axis=1)], rejected, label, self.names)

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
        return self._model._to_probabilities(self.scores(X), self.names)

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
        return self._model._confidence(self.scores(X), self.names)

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
        return self._model._rejects(self.scores(X), self.names)

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
        rows = self._rows(X)
        blocks = [self._all(rows, block) for block in self._candidates.blocks()]
        return blocks[0] if len(blocks) == 1 else np.hstack(blocks)

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
            recognizer that comes from this one by `replace`, `without` or `among`.
        """
        return made_ready(self._model, X)

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
        if not self._model.zero_shot_tags.separable:
            return self.scores(X)[:, place]
        rows, prepared = self._rows(X), self._candidates.prepared_class(place)
        parts = row_blocks(rows.shape[0], rows.shape[1] * 8)
        return np.concatenate([score(self._model, rows[p], prepared)[:, 0] for p in parts])

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
        return self._model._encode(self._model._ready_rows(X))

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
            Contributions that sum, with the offset, to the score.
        """
        vector = self._candidates.vector(self._place(name))
        return self._model._explained(self._model._ready_rows(one_row(x)), name, vector)

    def form(self) -> ScoreForm:
        """Return the scores as products with class vectors, for other runtimes such as ONNX.

        Returns
        -------
        ScoreForm
            Of linear methods, of methods with linear class vectors, and of both calibrated.
        """
        if self._model.zero_shot_tags.transductive:
            raise InvalidInputError(
                f"{type(self._model).__name__} looks at the whole batch of samples, so its scores "
                "are no products of the features with class vectors."
            )
        prepared = self._model._prepared(self.names, self._candidates.vectors)
        form: ScoreForm = self._model._form(prepared)
        return form

    def replace(self, name: Any, vector: Any) -> Recognizer:
        """Return a recognizer in which one class has another signature; a new name is added.

        Parameters
        ----------
        name : class name
            A candidate, which keeps its place, or a new class, which comes last.
        vector : array-like of shape (n_dimensions,) or mapping of dimension to value
            Its signature.

        Returns
        -------
        Recognizer
            Only the one class is prepared anew, unless the method's tag `separable` is False.
        """
        return Recognizer(self._candidates.with_class(name, self._checked(name, vector)))

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
        return Recognizer(self._candidates.without(place))

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
        return Recognizer(self._candidates.among(np.array(places)))

    def _checked(self, name: Any, vector: Any) -> NDArray:
        """Return a signature in the order of the dimensions, or say what is wrong with it."""
        if self._model.signatures is None:
            raise InvalidInputError(
                "a classifier with one-hot signatures knows its training classes only; pass "
                "signatures= to change or add classes."
            )
        table = self._model.signatures_
        row = Signatures.from_dict({name: vector}, table.dimensions)
        if row.names.dtype.kind != table.names.dtype.kind:
            kind = "text" if table.names.dtype.kind == "U" else "whole numbers"
            raise InvalidTypeError(f"the class names of this recognizer are {kind}; got {name!r}.")
        return row.vectors[0]

    def _rows(self, X: Any) -> Any:
        """Return samples as the model scores them."""
        return X.of(self._model) if isinstance(X, ReadySamples) else self._model._ready_rows(X)

    def _place(self, name: Any) -> int:
        place = self._candidates.place(name)
        if place is None:
            remedy = "Correct the name or add the class by replace."
            raise UnknownClassError([name], self.names.tolist(), remedy)
        return place

    def _parts(self, X: Any, block: Block) -> Iterator[slice]:
        """Parts of the samples of bounded memory; a transductive method gets the batch whole."""
        if self._model.zero_shot_tags.transductive:
            return iter([slice(0, X.shape[0])])
        return row_blocks(X.shape[0], max(block.size, X.shape[1]) * 8, SCORE_BYTES)

    def _all(self, X: Any, block: Block) -> NDArray:
        """Scores of the candidates of a block."""
        parts = list(self._parts(X, block))
        size = X.shape[0] * block.size
        return np.concatenate(list(map_blocks(lambda rows: block.scores(X[rows]), parts, size)))

    def _best(self, X: Any, block: Block, k: int) -> tuple[NDArray[np.intp], NDArray]:
        """Numbers and scores of the best candidates of a block."""
        found = list(
            map_blocks(
                lambda rows: best_columns(block.scores(X[rows]), min(k, block.size)),
                list(self._parts(X, block)),
                X.shape[0] * block.size,
            )
        )
        places, scores = (
            found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
        )
        return places + block.start, scores

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ImmutableError(
            f"a recognizer never changes, so {name!r} cannot be set. Make a new one with replace "
            "or without, or by classifier.recognizer(candidates)."
        )

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Recognizer({type(self._model).__name__}, {len(self)} candidates)"
