"""A model as it is served: immutable, shared by all requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from zslearn.exceptions import InvalidInputError
from zslearn.features import EncoderIdentity, ImageEncoder, known_encoder
from zslearn.persistence import load
from zslearn.signatures import Signatures
from zslearn.zero_shot import Recognizer

VERSION = "1"
# The one text encoder that names its dimensions and whose weights are known by their checksum.
TEXT_ENCODER, TEXT_DIMENSIONS = "minilm", tuple(f"minilm{i}" for i in range(384))


class PictureEncoder:
    """The encoder of a model, opened when a process first needs it.

    An open encoder has threads, which worker processes cannot inherit.

    Parameters
    ----------
    identity : EncoderIdentity
        The encoder that the model was trained with.
    """

    def __init__(self, identity: EncoderIdentity) -> None:
        self.identity = identity

    @cached_property
    def opened(self) -> ImageEncoder:
        """The encoder; refused if its weights are not those the model was trained with."""
        # Requests run in threads of their own; each encodes its pictures in the thread it has.
        return ImageEncoder.from_identity(self.identity, n_jobs=1)


@dataclass(frozen=True)
class ServedModel:
    """What answers requests for one model.

    Attributes
    ----------
    name : str
        The name it is served under.
    method : str
        Class of the classifier.
    recognizer : Recognizer
        Every class that can be answered, with the changes made since the model was saved.
    n_features : int
        Length of a sample.
    columns : tuple of str
        Names of the features, if the model knows them.
    encoder : PictureEncoder or None
        What turns pictures into samples, if the model knows it.
    prepare : callable or None
        The steps of a pipeline before the classifier.
    """

    name: str
    method: str
    recognizer: Recognizer
    n_features: int
    columns: tuple[str, ...] = ()
    encoder: PictureEncoder | None = None
    prepare: Callable[[NDArray[Any]], NDArray[Any]] | None = None

    @property
    def signatures(self) -> Signatures:
        """The table of the classes that can be answered."""
        return self.recognizer.signatures

    @property
    def text_encoder(self) -> str | None:
        """Name of the text encoder that made the signatures, if they say so."""
        return TEXT_ENCODER if self.signatures.dimensions == TEXT_DIMENSIONS else None

    def with_recognizer(self, recognizer: Recognizer) -> ServedModel:
        """Return the model with changed classes."""
        return replace(self, recognizer=recognizer)

    def class_of(self, name: str) -> str | int:
        """Return a class name in the type of the model's names."""
        if self.recognizer.names.dtype.kind not in "iu":
            return name
        if not (name.isascii() and name.lstrip("-").isdigit() and len(name) < 19):
            raise InvalidInputError(f"the classes of this model are whole numbers; got {name!r}.")
        return int(name)


def open_model(name: str, path: Path) -> ServedModel:
    """Load a model file to serve it.

    Parameters
    ----------
    name : str
        The name it is served under.
    path : Path
        A file written by `zslearn.persistence.save`.

    Returns
    -------
    ServedModel
    """
    whole = load(path)
    steps, classifier = _parts(whole)
    if not hasattr(classifier, "signatures_"):
        raise InvalidInputError(
            f"{path} holds a {type(classifier).__name__}, which names no classes; serve a "
            "zero-shot classifier."
        )
    identity = known_encoder(whole) or known_encoder(classifier)
    return ServedModel(
        name,
        type(classifier).__name__,
        classifier.recognizer(),
        int(whole.n_features_in_),
        tuple(getattr(whole, "feature_columns_", ())),
        None if identity is None else PictureEncoder(identity),
        None if steps is None else steps.transform,
    )


def _parts(model: Any) -> tuple[Any, Any]:
    """Return the steps before the classifier, if there are any, and the classifier."""
    if not isinstance(model, Pipeline):
        return None, model
    return (model[:-1] if len(model) > 1 else None), model[-1]
