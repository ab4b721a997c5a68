"""What encoders of pictures and of texts have in common: identity, checks, batches, threads."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from zslearn._parameters import check_parameters
from zslearn.core.threads import map_in_order, n_threads
from zslearn.encoders.registry import KINDS, OpenedModel, Vectors, open_model
from zslearn.exceptions import InvalidInputError, InvalidTypeError


@dataclass(frozen=True)
class EncoderIdentity:
    """Name, weights and settings of an encoder; vectors of equal identities may be mixed.

    Parameters
    ----------
    model : str
        Name used to open the model, for example "efficientnet-lite2" or "minilm".
    sha256 : str
        SHA-256 of its weights.
    settings : mapping, optional
        What else the vectors depend on: for pictures `preprocessing`, and `views` where it is not
        "center".
    kind : {"image", "text"}, default="image"
        What it encodes. Stores and models written before there were texts do not say.

    Examples
    --------
    >>> from zslearn.encoders import EncoderIdentity
    >>> print(EncoderIdentity("onnx:net.onnx", "9656183eaeafe8cb", {"views": "flip"}))
    onnx:net.onnx (SHA-256 9656183eaeaf, views flip)
    """

    model: str
    sha256: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    kind: Literal["image", "text"] = "image"

    def __str__(self) -> str:
        texts = {name: value for name, value in self.settings.items() if isinstance(value, str)}
        facts = {"SHA-256": self.sha256[:12]} | texts
        return f"{self.model} ({', '.join(f'{name} {fact}' for name, fact in facts.items())})"

    def matches(self, other: EncoderIdentity) -> bool:
        """Say whether both give the same vectors; an ONNX file may have moved."""
        return (self.sha256, dict(self.settings), self.kind) == (
            other.sha256,
            dict(other.settings),
            other.kind,
        )

    def check(self, other: EncoderIdentity, what: str) -> None:
        """Refuse vectors of another encoder than that of a model.

        Parameters
        ----------
        other : EncoderIdentity
            The encoder that made the vectors.
        what : str
            Where they come from, for the message.
        """
        if not self.matches(other):
            samples = "pictures" if self.kind == "image" else "texts"
            raise InvalidInputError(
                f"{what} was made by the encoder {other}, the model was trained with {self}; run "
                f"zslearn features --encoder {self.model} on the {samples}."
            )

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Any) -> EncoderIdentity:
        """Restore one from what `as_dict` gave."""
        try:
            identity = cls(**stored)
        except TypeError as error:
            raise InvalidInputError(f"the identity of an encoder is damaged ({error}).") from error
        texts = (identity.model, identity.sha256)
        if not all(isinstance(text, str) for text in texts) or not isinstance(
            identity.settings, Mapping
        ):
            raise InvalidInputError("the identity of an encoder is damaged: a value is not text.")
        if identity.kind not in KINDS:
            raise InvalidInputError(
                "the identity of an encoder is damaged: it encodes neither pictures nor texts."
            )
        return identity


class EncodedBatch(NamedTuple):
    """Vectors of samples, and the rows of those that were not read to their end."""

    vectors: Vectors
    cut: list[int]


class Encoder(TransformerMixin, BaseEstimator):
    """Turn samples into vectors with a pretrained model; nothing is fitted.

    The weights are loaded on first use and shared by all encoders of the process; a copy or a
    pickle carries the parameters only.

    Attributes
    ----------
    identity : EncoderIdentity
        Name of the model, SHA-256 of its weights and the settings: encoders of the same identity
        give the same vectors.
    n_features : int
        Length of a vector.
    identity_ : dict
        The identity as `fit` found it. A model of other weights is refused afterwards, also when
        the encoder comes from a file.
    """

    kind: ClassVar[Literal["image", "text"]]
    unit: ClassVar[str]
    _batches_per_block: ClassVar[int] = 1

    model: str
    batch_size: int
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def identity(self) -> EncoderIdentity:
        """Name of the model, SHA-256 of its weights and the settings."""
        model = self.opened.model
        settings = {**getattr(model, "settings", {}), **self._own_settings()}
        return EncoderIdentity(self.model, model.sha256, settings, self.kind)

    @property
    def n_features(self) -> int:
        """Length of a vector."""
        return int(self.opened.model.n_features)

    @property
    def opened(self) -> OpenedModel:
        """The model behind the name; refused if it is not the one the encoder was fitted with."""
        check_parameters(self)
        found = open_model(self.kind, self.model, getattr(self, "preprocessing", None))
        stored = vars(self).get("identity_")
        if stored is not None and stored["sha256"] != found.model.sha256:
            raise InvalidInputError(
                f"the encoder {EncoderIdentity.from_dict(stored)} is needed; here the model of "
                f"that name has the SHA-256 {found.model.sha256[:12]}. Install the one that was "
                "used."
            )
        return found

    @property
    def known_identity(self) -> EncoderIdentity:
        """The identity, without opening the model where a fit or a file has noted it."""
        stored = vars(self).get("identity_")
        return self.identity if stored is None else EncoderIdentity.from_dict(stored)

    @property
    def block_size(self) -> int:
        """Samples that are prepared together, so that those of like size can be run together."""
        return self._batches_per_block * self.batch_size

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parameters, open the model and note which one it is: nothing is learned."""
        self.__dict__.pop("identity_", None)
        self.identity_ = self.identity.as_dict()
        return self

    def check_learned(self) -> None:
        """Refuse a file in which the identity of the encoder is damaged, or of another kind."""
        if self.known_identity.kind != self.kind or self.known_identity.model != self.model:
            raise InvalidInputError("the identity of the encoder is not that of its model")

    def transform(self, X: Any) -> Vectors:
        """Encode samples.

        Parameters
        ----------
        X : sequence, or frame with one column
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float32
        """
        return self._encoded(self.check_samples(X))

    def check_samples(self, X: Any) -> list[Any]:
        """Return samples as a list; refuse a single one in its place, and none at all."""
        if isinstance(X, (str, bytes, Path)) or not hasattr(X, "__len__"):
            raise InvalidTypeError(
                f"{self.unit}s must come as a list; got {type(X).__name__}. Put a single one into "
                "a list."
            )
        if hasattr(X, "columns"):  # of pandas or polars
            X = self._only_column(X)
        if not len(X):
            raise InvalidInputError(f"there are no {self.unit}s to encode.")
        return list(X)

    def encode_blocks(self, samples: Iterable[Any]) -> Iterator[Vectors]:
        """Yield the vectors of samples block by block, for any number of them.

        Parameters
        ----------
        samples : iterable
            As `transform` takes them; read as it goes, a few blocks ahead.

        Yields
        ------
        ndarray of shape (n, n_features), float32
        """
        cut: list[Any] = []

        def work(block: list[Any]) -> Vectors:
            encoded = self.run_batch(block)
            cut.extend(block[row] for row in encoded.cut)
            return encoded.vectors

        yield from map_in_order(work, _blocks(samples, self.block_size), self.n_jobs or n_threads())
        self._warn_of_cut(cut)

    def encode_batch(self, samples: Sequence[Any]) -> Vectors:
        """Encode a few samples in this thread."""
        batch = self.run_batch(samples)
        self._warn_of_cut([samples[row] for row in batch.cut])
        return batch.vectors

    def run_batch(self, samples: Sequence[Any]) -> EncodedBatch:
        """Encode samples in this thread, `batch_size` at once, those of like size together."""
        model = self.opened.model
        ready = [self._prepare(model, sample) for sample in samples]
        sizes = np.array([model.size(one) for one in ready])
        # Short texts are not padded to the length of a long one.
        order = np.argsort(sizes, kind="stable")
        vectors = np.empty((len(ready), self.n_features), np.float32)
        for start in range(0, len(ready), self.batch_size):
            rows = order[start : start + self.batch_size]
            vectors[rows] = model.run([ready[row] for row in rows])
        cut = np.flatnonzero(sizes > getattr(model, "max_tokens", np.inf)).tolist()
        return EncodedBatch(self._finished(vectors), cut)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features: the model's name and a number.

        Parameters
        ----------
        input_features : None
            Ignored; a sample has no named features.

        Returns
        -------
        ndarray of str of shape (n_features,)
        """
        stem = self._stem()
        return np.array([f"{stem}{i}" for i in range(self.n_features)], dtype=object)

    def _encoded(self, samples: list[Any]) -> Vectors:
        return np.concatenate(list(self.encode_blocks(samples)))

    def _prepare(self, model: Any, sample: Any) -> Any:
        return model.prepare(sample)

    def _finished(self, vectors: Vectors) -> Vectors:
        return vectors

    def _warn_of_cut(self, cut: Sequence[Any]) -> None:
        """Say which samples were not read to their end."""

    def _own_settings(self) -> dict[str, Any]:
        return {}

    def _stem(self) -> str:
        return self.model

    def _only_column(self, frame: Any) -> Any:
        """Return the one column of a frame."""
        if len(frame.columns) != 1:
            names = ", ".join(map(str, frame.columns[:8]))
            raise InvalidInputError(
                f"a frame must have one column, of {self.unit}s; got {len(frame.columns)}: "
                f"{names}. Take one of them, as frame[{frame.columns[0]!r}]."
            )
        return frame[frame.columns[0]]


def encoder_of(identity: EncoderIdentity, **settings: Any) -> Encoder:
    """Return the encoder of an identity, if its weights are still the same.

    Parameters
    ----------
    identity : EncoderIdentity
        Identity of the encoder wanted.
    **settings : object
        `batch_size` and `n_jobs`.

    Returns
    -------
    ImageEncoder or TextEncoder

    Raises
    ------
    InvalidInputError
        If the model of that name has other weights now.
    """
    from zslearn.encoders.image_encoder import ImageEncoder
    from zslearn.encoders.preprocessing import Preprocessing
    from zslearn.encoders.text_encoder import TextEncoder

    encoder: Encoder
    if identity.kind == "text":
        encoder = TextEncoder(identity.model, **settings)
    else:
        said = identity.settings.get("preprocessing")
        own = None if said is None else Preprocessing.from_dict(said)
        views = identity.settings.get("views", "center")
        encoder = ImageEncoder(identity.model, views=views, preprocessing=own, **settings)
    if not encoder.identity.matches(identity):
        raise InvalidInputError(
            f"the encoder {identity} is needed; here the model of that name is "
            f"{encoder.identity}. Install the one that was used."
        )
    return encoder


def split_encoder(estimator: Any) -> tuple[Encoder | None, Any]:
    """Return the encoder that a pipeline begins with, and the rest, which takes vectors.

    Parameters
    ----------
    estimator : estimator
        A pipeline, or a fitted classifier around one; any other estimator has no encoder.

    Returns
    -------
    encoder, rest : Encoder or None, estimator
        Of a pipeline of two steps the rest is the second.
    """
    if isinstance(estimator, Pipeline) and isinstance(estimator.steps[0][1], Encoder):
        (_, encoder), *rest = estimator.steps
        return encoder, rest[0][1] if len(rest) == 1 else Pipeline(rest)
    inner = vars(estimator).get("estimator_") if hasattr(estimator, "__dict__") else None
    encoder, rest = (None, None) if inner is None else split_encoder(inner)
    if encoder is None:
        return None, estimator
    bare = copy.copy(estimator)
    bare.estimator_ = rest
    return encoder, bare


def remember_encoder(model: Any, identity: EncoderIdentity | None) -> None:
    """Keep the identity of the encoder with a fitted model; none for plain features."""
    if identity is not None:
        model.encoder_ = identity.as_dict()
    elif hasattr(model, "encoder_"):
        del model.encoder_


def encoder_of_model(model: Any) -> EncoderIdentity | None:
    """Return the identity of the encoder a model was trained with, or begins with, if any."""
    stored = getattr(model, "encoder_", None)
    if stored is not None:
        return EncoderIdentity.from_dict(stored)
    encoder, _ = split_encoder(model)
    return None if encoder is None else encoder.known_identity


def _blocks(samples: Iterable[Any], size: int) -> Iterator[list[Any]]:
    source = iter(samples)
    while block := list(islice(source, size)):
        yield block
