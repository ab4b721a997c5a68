"""From tensors to tensors: what a model answers to one request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray
from scipy.special import softmax

from zslearn.core.nearest import best_columns
from zslearn.exceptions import InvalidInputError, UnknownClassError
from zslearn.serve.models import VERSION, ServedModel
from zslearn.serve.openapi import convert_body
from zslearn.serve.protocol import InferRequest, Message, Tensor, Wanted, encode_response
from zslearn.serve.responses import read_json, refuse
from zslearn.serve.samples import ready_rows, tensor_rows
from zslearn.serve.settings import Limits
from zslearn.zero_shot import Recognizer


class Parameters(Struct, kw_only=True):
    """The parameters of a request, as clients send them."""

    candidates: str | list[str | int] = "all"
    top_k: Annotated[int, Meta(ge=1)] | None = None
    bias: Annotated[float, Meta(ge=-1e30, le=1e30)] = 0.0
    reject: bool = False


class Options(NamedTuple):
    """The parameters of a request.

    Attributes
    ----------
    candidates : "all", "seen", "unseen" or list of str
        Classes allowed as answers.
    top_k : int or None
        How many classes per sample; None for one, and for all scores.
    bias : float
        What is subtracted from the scores of seen classes.
    reject : bool
        Whether samples that probably belong to no candidate are called so.
    """

    candidates: str | Sequence[str] = "all"
    top_k: int | None = None
    bias: float = 0.0
    reject: bool = False

    @classmethod
    def of(cls, given: Parameters | Mapping[str, Any]) -> Options:
        """Read the parameters of a request; unknown ones belong to others and are ignored."""
        if not given:
            return DEFAULT_OPTIONS
        one = given if isinstance(given, Parameters) else convert_body(given, Parameters)
        return cls(_candidates(one.candidates), one.top_k, one.bias, one.reject)


DEFAULT_OPTIONS = Options()


def _candidates(value: str | list[str | int]) -> str | list[str]:
    if isinstance(value, str):
        if value in ("all", "seen", "unseen"):
            return value
        # Some clients send plain values only; they write the list as text.
        named = read_json(value.encode()) if value[:1] == "[" else None
    else:
        named = value
    if not isinstance(named, list) or not all(isinstance(n, str | int) for n in named):
        raise refuse(
            "candidates must be 'all', 'seen', 'unseen' or a list of class names; got "
            f"{value!r:.80}."
        )
    return [str(name) for name in named]


# Reasons are computed sample by sample.
MOST_REASONS = 1024


class Answer:
    """The answers to some samples; each part is computed when it is first asked for.

    Parameters
    ----------
    model : ServedModel
        The model.
    X : ndarray of shape (n_samples, n_features)
        Samples as the classifier takes them.
    options : Options
        The parameters of the request.
    limits : Limits
        No part may have more bytes than a decompressed request.
    """

    def __init__(self, model: ServedModel, X: Any, options: Options, limits: Limits) -> None:
        self._model, self._X, self._limits = model, X, limits
        self._bias, self._reject = options.bias, options.reject
        self.recognizer = _allowed(model, options.candidates)
        self.k = min(options.top_k or 1, len(self.recognizer))
        self.several = options.top_k is not None

    @cached_property
    def all_scores(self) -> NDArray[Any]:
        """Scores of shape (n_samples, n_candidates)."""
        self._check_size(len(self.recognizer))
        scores = self.recognizer.scores(self._X)
        return scores - self._bias * self.recognizer.seen if self._bias else scores

    @cached_property
    def all_probabilities(self) -> NDArray[Any]:
        """Probabilities as the model gives them; with a bias of the request, a plain softmax."""
        if not self._bias:
            self._check_size(len(self.recognizer))
            return self.recognizer.probabilities(self._X)
        return softmax(self.all_scores.astype(np.float64), axis=1)

    @cached_property
    def ranking(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Names and scores of the k best classes of each sample."""
        if not self._bias and "all_scores" not in vars(self):
            return self.recognizer.rank(self._X, self.k)
        columns, scores = best_columns(self.all_scores, self.k)
        return self.recognizer.names[columns], scores

    @cached_property
    def reasons(self) -> list[Any]:
        """The explanation of the best class of each sample."""
        n = self._X.shape[0]
        if n > MOST_REASONS:
            raise refuse(f"contributions are given for at most {MOST_REASONS} samples; got {n}.")
        best = self.ranking[0][:, 0]
        return [self.recognizer.explain(x, name) for x, name in zip(self._X, best, strict=True)]

    def predict(self) -> NDArray[Any]:
        """Return the best class of each sample, or the k best."""
        if self._reject:
            return self.labels()
        names = self.ranking[0]
        return names if self.several else names[:, 0]

    def labels(self) -> NDArray[Any]:
        """Return the best class of each sample, or what rejected samples are called."""
        if self.several:
            raise refuse("reject is for one answer; leave out top_k, or ask for 'rejected'.")
        self._check_unbiased()
        return self.recognizer.predict(self._X, reject=True)

    def rejected(self) -> NDArray[Any]:
        """Return which samples probably belong to no candidate."""
        self._check_unbiased()
        return self.recognizer.rejected(self._X)

    def confidence(self) -> NDArray[Any]:
        """Return how sure the best class of each sample is."""
        self._check_unbiased()
        return self.recognizer.confidence(self._X)

    def scores(self) -> NDArray[Any]:
        """Return the score of each candidate, or of the k best."""
        return self.ranking[1] if self.several else self.all_scores

    def probabilities(self) -> NDArray[Any]:
        """Return the probability of each candidate, or of the k best."""
        if not self.several:
            return self.all_probabilities
        return -np.sort(-self.all_probabilities, axis=1)[:, : self.k]

    def attributes(self) -> NDArray[Any]:
        """Return the semantics of each sample."""
        self._check_size(self._model.signatures.n_dimensions)
        return self.recognizer.encode(self._X)

    def contributions(self) -> NDArray[Any]:
        """Return what each dimension adds to the score of the best class."""
        return np.stack([reason.contributions for reason in self.reasons])

    def offsets(self) -> NDArray[Any]:
        """Return what no dimension adds to the score of the best class."""
        seen = np.isin(self.ranking[0][:, 0], self.recognizer.names[self.recognizer.seen])
        return np.array([reason.offset for reason in self.reasons]) - self._bias * seen

    def classes(self) -> NDArray[Any]:
        """Return the names of the columns of the scores."""
        return self.recognizer.names

    def dimensions(self) -> NDArray[Any]:
        """Return the names of the columns of the contributions, or else of the attributes."""
        names = self.reasons[0].dimensions if "reasons" in vars(self) else None
        return np.array(names or self._model.signatures.dimensions)

    def _check_unbiased(self) -> None:
        if self._bias:
            raise refuse("the model learned when to reject with its own bias; leave out bias.")

    def _check_size(self, columns: int) -> None:
        if self._X.shape[0] * columns * 8 > self._limits.decompressed:
            raise refuse(
                f"the answer would hold {self._X.shape[0]} × {columns} numbers, more than "
                "the limit here; send fewer samples, or ask for top_k."
            )


OUTPUTS: dict[str, Callable[[Answer], NDArray[Any]]] = {
    "predict": Answer.predict,
    "scores": Answer.scores,
    "probabilities": Answer.probabilities,
    "rejected": Answer.rejected,
    "confidence": Answer.confidence,
    "attributes": Answer.attributes,
    "contributions": Answer.contributions,
    "offsets": Answer.offsets,
    "classes": Answer.classes,
    "dimensions": Answer.dimensions,
}


def _allowed(model: ServedModel, candidates: str | Sequence[str]) -> Recognizer:
    """Return the recognizer among the candidates of a request."""
    every = model.recognizer
    if candidates == "all":
        return every
    if isinstance(candidates, str):
        names = every.names[every.seen if candidates == "seen" else ~every.seen].tolist()
        if not names:
            raise refuse(f"this model has no {candidates} classes.")
        return every.among(names)
    try:
        return every.among([model.class_of(name) for name in candidates])
    except UnknownClassError as error:
        raise InvalidInputError(
            str(error).replace("add the class by replace", "add the class by PUT")
        ) from error


DEFAULT_OUTPUTS = {binary: (Wanted("predict", binary=binary),) for binary in (False, True)}


def infer(model: ServedModel, request: InferRequest, limits: Limits) -> Message:
    """Answer a request.

    Parameters
    ----------
    model : ServedModel
        What answers.
    request : InferRequest
        Samples and wishes.
    limits : Limits
        What a request may cost.

    Returns
    -------
    Message
    """
    X = ready_rows(model, tensor_rows(model, request.inputs, limits))
    answer = Answer(model, X, Options.of(request.parameters), limits)
    wanted = request.outputs or DEFAULT_OUTPUTS[request.binary]
    # Reasons first: they decide which dimensions are named.
    found = {one.name: _output(answer, one) for one in sorted(wanted, key=_names_last)}
    head = {"model_name": model.name, "model_version": VERSION}
    if request.id:
        head["id"] = request.id
    return encode_response(
        head,
        [Tensor(one.name, found[one.name]) for one in wanted],
        [one.binary for one in wanted],
    )


def _output(answer: Answer, wanted: Wanted) -> NDArray[Any]:
    if wanted.name not in OUTPUTS:
        raise refuse(f"there is no output {wanted.name!r:.40}; known are {', '.join(OUTPUTS)}.")
    if not wanted.classification:
        return OUTPUTS[wanted.name](answer)
    if wanted.name not in ("scores", "probabilities"):
        raise refuse(f"classification is for scores and probabilities, not {wanted.name}.")
    values = answer.all_scores if wanted.name == "scores" else answer.all_probabilities
    columns, best = best_columns(values, min(wanted.classification, values.shape[1]))
    names = answer.recognizer.names
    rows = [
        [f"{value:f}:{column}:{names[column]}" for column, value in zip(*row, strict=True)]
        for row in zip(columns.tolist(), best.tolist(), strict=True)
    ]
    return np.array(rows, dtype=object)


def _names_last(wanted: Wanted) -> bool:
    return wanted.name == "dimensions"
