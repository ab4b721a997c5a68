"""From samples to answers: rows, texts and pictures as a model takes them, and what it says."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cached_property
from typing import Annotated, Any, TypeVar

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray
from scipy.special import softmax
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from zslearn.core.nearest import best_columns
from zslearn.encoders import Encoder
from zslearn.encoders.pictures import decode_rgb
from zslearn.encoders.samples import text_problem
from zslearn.exceptions import InvalidInputError, UnknownClassError
from zslearn.serve.changes import VERSION, ServedModel
from zslearn.serve.openapi import convert_body, read_body
from zslearn.serve.protocol import InferRequest, Message, Tensor, Wanted, encode_response
from zslearn.serve.responses import RequestError, read_json, refuse
from zslearn.serve.settings import Limits
from zslearn.zero_shot import Recognizer

# How files of pictures begin, and what decodes them.
PICTURES, FORMATS = (b"\xff\xd8\xff", b"\x89PNG"), ("JPEG", "PNG")
MOST_FILES, MOST_LETTERS = 64, 10_000
# Samples as JSON has them; a single one need not be in a list.
Rows = list[float | list[float]]
Texts = str | list[str]
Wish = TypeVar("Wish", bound=Struct)


async def read_given(
    headers: Headers, body: bytes, kind: type[Wish], plain: type[Wish]
) -> tuple[Wish, list[bytes]]:
    """Return what is wanted, and the pictures of a request.

    Parameters
    ----------
    headers : Headers
        Of the request.
    body : bytes
        JSON, the file of a picture, or a form with files.
    kind : type
        What JSON must hold; samples in it are `rows` or `texts`.
    plain : type
        The same without samples: the fields of a form.
    """
    if body.startswith(PICTURES):
        return plain(), [body]
    if headers.get("content-type", "").startswith("multipart/form-data"):
        fields, pictures = await _form(headers, body)
        return convert_body(fields, plain), pictures
    return read_body(body, kind), []


async def _form(headers: Headers, body: bytes) -> tuple[dict[str, Any], list[bytes]]:
    async def stream() -> AsyncIterator[bytes]:
        yield body

    try:
        parser = MultiPartParser(headers, stream(), max_files=MOST_FILES, max_fields=20)  # type: ignore[arg-type]
        form: FormData = await parser.parse()
    except (MultiPartException, KeyError, ValueError) as error:
        raise refuse(f"the form cannot be read ({str(error)[:100]}).") from error
    try:
        items = form.multi_items()
        pictures = [await part.read() for _, part in items if isinstance(part, UploadFile)]
        fields = {name: _value(name, part) for name, part in items if isinstance(part, str)}
    finally:
        await form.close()
    if not pictures:
        raise refuse("the form holds no picture; send one with curl -F image=@photo.jpg.")
    return fields, pictures


def _value(name: str, text: str) -> Any:
    """Return a field of a form as JSON would have it."""
    if name in ("model", "candidates") and not text.startswith("["):
        return text
    return read_json(text.encode())


def given_rows(
    given: Struct, pictures: Sequence[bytes], model: ServedModel, limits: Limits
) -> NDArray[Any]:
    """Return rows, texts or pictures as features; a single one need not be in a list."""
    if pictures:
        return as_features(model, "image", _objects(pictures), limits)
    rows, texts = getattr(given, "rows", []), getattr(given, "texts", [])
    if bool(rows) == bool(texts):
        ways = {"image": ", or a picture", "text": ', or {"texts": ["..."]}'}
        other = "".join(ways[kind] for kind in model.inputs[1:])
        raise refuse(f'send {{"rows": [[...], ...]}}: lists of {model.n_features} numbers{other}.')
    if texts:
        listed = [texts] if isinstance(texts, str) else texts
        said = _objects([text.encode(errors="surrogatepass") for text in listed])
        return as_features(model, "text", said, limits)
    try:
        array = np.atleast_2d(np.array(rows, dtype=np.float64))
    except ValueError as error:
        raise refuse("the rows are lists of different lengths.") from error
    return as_features(model, "features", array, limits)


def tensor_rows(model: ServedModel, inputs: Any, limits: Limits) -> NDArray[Any]:
    """Return the samples of a request of the protocol as features."""
    if len(inputs) != 1 or next(iter(inputs)) not in model.inputs:
        raise refuse(
            f"{model.name} takes one input, {' or '.join(model.inputs)}; got "
            f"{', '.join(inputs):.100}."
        )
    [(name, array)] = inputs.items()
    return as_features(model, name, array, limits)


def as_features(model: ServedModel, name: str, array: NDArray[Any], limits: Limits) -> NDArray[Any]:
    """Return features as they are, and pictures and texts encoded."""
    if not len(array):
        raise refuse(f"{name} holds no samples.")
    if len(array) > limits.rows:
        raise RequestError(413, f"{name} holds {len(array)} samples, more than {limits.rows}.")
    if name == "image":
        return encode_pictures(model, _pictures(array), limits)
    if name == "text":
        return encode_texts(model, _texts(array))
    if array.dtype.kind == "O":
        raise refuse("features must be numbers, FP32 or FP64; got BYTES.")
    if array.ndim != 2 or array.shape[1] != model.n_features:
        raise refuse(
            f"features must have the shape [n, {model.n_features}]; got {list(array.shape)}."
        )
    return array


def ready_rows(model: ServedModel, X: NDArray[Any]) -> NDArray[Any]:
    """Return features behind the steps of a pipeline, as the classifier takes them."""
    return X if model.prepare is None else np.asarray(model.prepare(X))


def encode_texts(model: ServedModel, texts: Sequence[str]) -> NDArray[Any]:
    """Turn texts into features, in this thread; what the encoder does not read is left out."""
    for number, text in enumerate(texts):
        problem = text_problem(text)
        if problem is not None:
            raise refuse(f"text {number}: {problem}.")
        if len(text) > MOST_LETTERS:
            raise RequestError(
                413, f"text {number} has {len(text)} letters, more than {MOST_LETTERS}."
            )
    return _encoder(model, "text").run_batch(texts).vectors


def encode_pictures(model: ServedModel, files: Sequence[bytes], limits: Limits) -> NDArray[Any]:
    """Turn the bytes of picture files into features, one after the other in this thread."""
    encoder = _encoder(model, "image")
    vectors = []
    for number, content in enumerate(files):
        name = f"picture {number}" if len(files) > 1 else "the picture"
        pixels = decode_rgb(content, name, formats=FORMATS, max_pixels=limits.pixels)
        vectors.append(encoder.encode_batch([pixels])[0])
    return np.stack(vectors)


def _encoder(model: ServedModel, kind: str) -> Encoder:
    """Return the encoder of a model, if it is of a kind."""
    if model.encoder is None or kind not in model.inputs:
        what = "pictures" if kind == "image" else "texts"
        raise refuse(
            f"{model.name} was not trained on {what}; send it {' or '.join(model.inputs)}."
        )
    return model.encoder.opened


def _objects(items: Sequence[bytes]) -> NDArray[Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _pictures(array: NDArray[Any]) -> list[bytes]:
    """Return the files of pictures; in JSON they are written in base64."""
    if array.dtype.kind != "O":
        raise refuse("image must be of type BYTES: encoded JPEG or PNG files.")
    return [_decoded(item) for item in array.ravel().tolist()]


def _texts(array: NDArray[Any]) -> list[str]:
    """Return the texts of a tensor."""
    if array.dtype.kind != "O":
        raise refuse("text must be of type BYTES: texts in UTF-8.")
    try:
        return [str(item, "utf-8") for item in array.ravel().tolist()]
    except UnicodeDecodeError as error:
        raise refuse("a text is not UTF-8.") from error


def _decoded(item: bytes) -> bytes:
    if item[:2] in (b"\xff\xd8", b"\x89P"):
        return item
    try:
        return base64.b64decode(item, validate=True)
    except binascii.Error as error:
        raise refuse("a picture is neither JPEG or PNG, nor base64 of one.") from error


class Parameters(Struct, kw_only=True):
    """The parameters of a request; unknown ones belong to others and are ignored.

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

    candidates: str | list[str | int] = "all"
    top_k: Annotated[int, Meta(ge=1)] | None = None
    bias: Annotated[float, Meta(ge=-1e30, le=1e30)] = 0.0
    reject: bool = False

    @property
    def allowed(self) -> str | list[str]:
        """What `candidates` are: "all", "seen", "unseen", or names."""
        value: Any = self.candidates
        if isinstance(value, str):
            if value in ("all", "seen", "unseen"):
                return value
            # Some clients send plain values only; they write the list as text.
            value = read_json(value.encode()) if value[:1] == "[" else None
        if not isinstance(value, list) or not all(isinstance(name, str | int) for name in value):
            raise refuse(
                "candidates must be 'all', 'seen', 'unseen' or a list of class names; got "
                f"{self.candidates!r:.80}."
            )
        return [str(name) for name in value]


NO_PARAMETERS = Parameters()


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
    wanted : Parameters
        Of the request.
    limits : Limits
        No part may have more bytes than a decompressed request.
    """

    def __init__(self, model: ServedModel, X: Any, wanted: Parameters, limits: Limits) -> None:
        self._model, self._X, self._limits = model, X, limits
        self._bias, self._reject = wanted.bias, wanted.reject
        self.recognizer = _allowed(model, wanted.allowed)
        self.k = min(wanted.top_k or 1, len(self.recognizer))
        self.several = wanted.top_k is not None

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
    given = request.parameters
    parameters = convert_body(given, Parameters) if given else NO_PARAMETERS
    answer = Answer(model, X, parameters, limits)
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
