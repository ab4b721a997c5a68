"""A model as it is served: immutable, shared by all requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from zslearn._pipelines import features_of, last_step, steps_before
from zslearn.encoders import (
    Encoder,
    EncoderIdentity,
    encoder_of,
    encoder_of_model,
    split_encoder,
    text_encoder_of,
)
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load
from zslearn.signatures import Signatures
from zslearn.zero_shot import Recognizer
from zslearn.zero_shot.teaching import Teachable

VERSION = "1"
Name = str | int


class LazyEncoder:
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
    def opened(self) -> Encoder:
        """The encoder; refused if its weights are not those the model was trained with."""
        # Requests run in threads of their own; each encodes its samples in the thread it has.
        return encoder_of(self.identity, n_jobs=1)


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
    classifier : ZeroShotClassifier or None
        What the recognizer was made of, if it learns from single samples.
    encoder : LazyEncoder or None
        What turns pictures or texts into samples, if the model knows it.
    prepare : callable or None
        The steps of a pipeline before the classifier.
    """

    name: str
    method: str
    recognizer: Recognizer
    n_features: int
    columns: tuple[str, ...] = ()
    classifier: Any = None
    encoder: LazyEncoder | None = None
    prepare: Callable[[NDArray[Any]], NDArray[Any]] | None = None

    @property
    def signatures(self) -> Signatures:
        """The table of the classes that can be answered."""
        return self.recognizer.signatures

    @property
    def text_encoder(self) -> str | None:
        """Name of the text encoder that made the signatures, if they say so."""
        identity = text_encoder_of(self.signatures)
        return None if identity is None else identity.model

    @property
    def inputs(self) -> tuple[str, ...]:
        """What a request may hold: features, and what the encoder takes."""
        return ("features",) if self.encoder is None else ("features", self.encoder.identity.kind)

    def with_recognizer(self, recognizer: Recognizer) -> ServedModel:
        """Return the model with changed classes."""
        return replace(self, recognizer=recognizer)

    @property
    def kappa(self) -> float | None:
        """How many examples a description is worth, if the model learns from examples."""
        return None if self.classifier is None else float(self.classifier.kappa_)

    def check_teachable(self) -> None:
        """Refuse examples for a model that learns nothing from single samples."""
        if self.classifier is None:
            raise InvalidInputError(
                f"{self.name} is a {self.method}, which learns nothing from single examples; "
                "PrototypeRegression does, which zslearn fit takes by default."
            )

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
    encoder, whole = split_encoder(load(path))
    classifier = last_step(whole)
    if not hasattr(classifier, "signatures_"):
        raise InvalidInputError(
            f"{path} holds a {type(classifier).__name__}, which names no classes; serve a "
            "zero-shot classifier."
        )
    identity = encoder_of_model(whole) or encoder_of_model(classifier)
    if encoder is not None:  # a pipeline: what follows its encoder takes vectors
        identity = encoder.known_identity
    return ServedModel(
        name,
        type(classifier).__name__,
        classifier.recognizer(),
        int(whole.n_features_in_),
        tuple(getattr(whole, "feature_columns_", ())),
        classifier if learns_from_examples(classifier) else None,
        None if identity is None else LazyEncoder(identity),
        partial(features_of, whole) if steps_before(whole) else None,
    )


def learns_from_examples(classifier: Any) -> bool:
    """Say whether a fitted classifier can be taught single samples."""
    return isinstance(classifier, Teachable) and hasattr(classifier, "kappa_")
