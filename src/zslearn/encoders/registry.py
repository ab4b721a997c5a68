"""Pretrained models by name: what each offers, where it is found, and the vectors it gave last."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, check_value
from zslearn.core.threads import ForkSafeLock
from zslearn.exceptions import InvalidInputError, InvalidTypeError, did_you_mean

Vectors = NDArray[np.float32]
KINDS = ("image", "text")
# Memory for the vectors of texts that were seen last: 64 MB hold about 35,000 texts of MiniLM.
RECENT_BYTES = 64 * 2**20


class Model(Protocol):
    """A pretrained network: one sample is prepared, a batch of prepared samples is run.

    A model of texts may have ``max_tokens``, the size above which the end of a text is not read.
    A model of pictures may take ``views`` in `prepare`, and have ``settings``, a mapping of what
    else its vectors depend on.

    Attributes
    ----------
    sha256 : str
        SHA-256 of its weights.
    n_features : int
        Length of a vector.
    """

    sha256: str
    n_features: int

    def prepare(self, sample: Any) -> Any:
        """Decode and crop a picture; cut a text into tokens."""

    def size(self, prepared: Any) -> int:
        """Return the number of tokens of a prepared text; 0 for a picture."""

    def run(self, batch: Sequence[Any]) -> Vectors:
        """Return the vectors of prepared samples, of shape (n, n_features); safe in threads."""


Opener = Callable[..., Model]

# What follows the colon is the opener's first argument; without a colon that is the whole name.
_OPENERS: dict[str, dict[str, str | Opener]] = {
    "image": {
        "efficientnet-lite0": "zslearn.encoders.efficientnet:open_lite",
        "efficientnet-lite1": "zslearn.encoders.efficientnet:open_lite",
        "efficientnet-lite2": "zslearn.encoders.efficientnet:open_lite",
        "onnx:FILE": "zslearn.encoders.onnx_models:open_image",
        "timm:NAME": "zslearn.encoders.hub_models:open_timm",
        "open_clip:NAME/TAG": "zslearn.encoders.hub_models:open_clip_image",
        "hf:NAME": "zslearn.encoders.hub_models:open_hf_image",
    },
    "text": {
        "minilm": "zslearn.encoders.onnx_models:open_minilm",
        "minilm-int8": "zslearn.encoders.onnx_models:open_minilm_int8",
        "hf:NAME": "zslearn.encoders.hub_models:open_hf_text",
        "open_clip:NAME/TAG": "zslearn.encoders.hub_models:open_clip_text",
    },
}
_BUILT_IN = {(kind, form) for kind, openers in _OPENERS.items() for form in openers}


def register_encoder(kind: str, name: str, opener: Opener) -> None:
    """Offer a model of your own under a name, to `ImageEncoder` or `TextEncoder`.

    Parameters
    ----------
    kind : {"image", "text"}
        What it encodes.
    name : str
        The name to open it by; with a colon, as "mine:FILE", every name that begins with "mine:".
    opener : callable
        ``opener(name)`` returns a model, where `name` is the part behind the colon, or the whole
        name. A model has ``sha256``, ``n_features``, ``prepare(sample)``, ``size(prepared)`` and
        ``run(batch)``. An opener of image models also gets ``preprocessing=`` if that is given.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.encoders import TextEncoder, register_encoder
    >>> class LetterCounts:
    ...     sha256, n_features = "0" * 64, 26
    ...     def prepare(self, text):
    ...         return [text.lower().count(letter) + 0.5 for letter in "abcdefghijklmnopqrstuvwxyz"]
    ...     def size(self, prepared):
    ...         return 0
    ...     def run(self, batch):
    ...         return np.array(batch, dtype=np.float32)
    >>> register_encoder("text", "letters", lambda name: LetterCounts())
    >>> TextEncoder("letters").transform(["Where is my card?"]).shape
    (1, 26)
    """
    check_value("kind", kind, Either(*KINDS))
    if not isinstance(name, str) or not name.partition(":")[0].strip() or name.endswith(":"):
        raise InvalidInputError(f"name must be as 'mine' or 'mine:FILE'; got {name!r}.")
    if not callable(opener):
        raise InvalidTypeError(
            f"opener must be a function that returns a model; got {type(opener).__name__}."
        )
    form = _form_of(kind, name.partition(":")[0]) or name
    if (kind, form) in _BUILT_IN:
        raise InvalidInputError(f"{form!r} is a built-in {kind} encoder; choose another name.")
    _OPENERS[kind].pop(form, None)
    _OPENERS[kind][name] = opener
    _open_once.cache_clear()


def encoder_names(kind: str) -> list[str]:
    """Return the names a model can be opened by, such as "minilm" and "hf:NAME"."""
    return list(_OPENERS[kind])


class OpenedModel(NamedTuple):
    """A model, and the vectors it gave last."""

    model: Any
    recent: RecentVectors


def open_model(kind: str, name: str, preprocessing: Any = None) -> OpenedModel:
    """Open a model by its name; the last four opened are shared by the process.

    Parameters
    ----------
    kind : {"image", "text"}
        What it encodes.
    name : str
        One of `encoder_names`.
    preprocessing : Preprocessing, optional
        Replaces an image model's own settings.

    Returns
    -------
    OpenedModel
    """
    return _open_once(kind, name, preprocessing, _file_state(name))


@lru_cache(maxsize=4)
def _open_once(kind: str, name: str, preprocessing: Any, _: object) -> OpenedModel:
    family, colon, rest = name.partition(":")
    form = _form_of(kind, family)
    if form is None or bool(rest) != (":" in form) or bool(colon) != (":" in form):
        names = encoder_names(kind)
        hint = did_you_mean(name, [name for name in names if ":" not in name])
        raise InvalidInputError(
            f"there is no {kind} encoder {name!r}; choose {', '.join(map(repr, names[:-1]))} or "
            f"{names[-1]!r}.{hint}"
        )
    opener = _OPENERS[kind][form]
    if isinstance(opener, str):
        module, _, function = opener.partition(":")
        opener = getattr(importlib.import_module(module), function)
    settings: Mapping[str, Any] = {} if preprocessing is None else {"preprocessing": preprocessing}
    return OpenedModel(opener(rest or family, **settings), RecentVectors())


def _form_of(kind: str, family: str) -> str | None:
    """Return the name in the table that a family stands for."""
    return next((form for form in _OPENERS[kind] if form.partition(":")[0] == family), None)


def _file_state(name: str) -> tuple[tuple[int, int], ...] | None:
    """Return what changes when the files of an ONNX model do."""
    family, _, path = name.partition(":")
    if family != "onnx" or not path:
        return None
    files = [file for file in (Path(path), Path(path).with_suffix(".json")) if file.is_file()]
    return tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files)


class RecentVectors:
    """Vectors of the texts seen last, so that no fold of a cross-validation encodes them again."""

    def __init__(self) -> None:
        self._rows: dict[str, Vectors] = {}
        self._bytes = 0
        self._lock = ForkSafeLock()

    def find(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors that are known."""
        with self._lock:
            return {text: self._rows[text] for text in texts if text in self._rows}

    def keep(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors; the oldest go when they need more than `RECENT_BYTES`."""
        with self._lock:
            for text, vector in zip(texts, vectors, strict=True):
                self._drop(text)
                self._rows[text] = own = vector.copy()
                self._bytes += _size(text, own)
            while self._bytes > RECENT_BYTES:
                self._drop(next(iter(self._rows)))

    def _drop(self, text: str) -> None:
        vector = self._rows.pop(text, None)
        if vector is not None:
            self._bytes -= _size(text, vector)


def _size(text: str, vector: Vectors) -> int:
    return sys.getsizeof(text) + sys.getsizeof(vector)
