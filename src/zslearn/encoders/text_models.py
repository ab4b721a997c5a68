"""Text models by name: what they offer, and where each is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError

FloatArray = NDArray[np.float32]


class TextModel(Protocol):
    """What a text encoder needs of a model.

    Attributes
    ----------
    width : int
        Length of a vector.
    max_tokens : int
        Pieces of a text, marks included, that are read; the rest is not.
    sha256 : str
        SHA-256 of the weights, in hexadecimal digits.
    """

    width: int
    max_tokens: int
    sha256: str

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of pieces of each text, marks included."""

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return one vector per text, of shape (n_texts, width)."""


@lru_cache(maxsize=4)
def open_text_model(name: str) -> TextModel:
    """Return a model, loading its weights on first use.

    Parameters
    ----------
    name : str
        "minilm", "hf:NAME" or "open_clip:NAME/TAG".
    """
    kind, _, rest = name.partition(":")
    if kind not in _OPENERS or bool(rest) == (kind == "minilm"):
        raise InvalidInputError(
            f"There is no text model {name!r}; choose 'minilm', 'hf:NAME' or "
            "'open_clip:NAME/TAG', for example 'open_clip:ViT-B-32/laion2b_s34b_b79k'."
        )
    return _OPENERS[kind](rest)


def _open_minilm(_: str) -> TextModel:
    from zslearn.encoders.minilm import MiniLM

    return MiniLM()


def _open_hugging_face(name: str) -> TextModel:
    from zslearn.encoders.hugging_face import HuggingFaceText

    return HuggingFaceText(name)


def _open_open_clip(name: str) -> TextModel:
    from zslearn.encoders.open_clip import OpenClipText

    return OpenClipText(name)


_OPENERS: dict[str, Callable[[str], TextModel]] = {
    "minilm": _open_minilm,
    "hf": _open_hugging_face,
    "open_clip": _open_open_clip,
}
