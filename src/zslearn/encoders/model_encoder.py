"""The encoder a model was trained with, so that it names pictures and refuses foreign vectors."""

from __future__ import annotations

from typing import Any

from zslearn.encoders.identity import EncoderIdentity
from zslearn.encoders.image_encoder import ImageEncoder
from zslearn.exceptions import InvalidInputError


def remember_encoder(model: Any, identity: EncoderIdentity | None) -> None:
    """Keep the identity of the encoder with a fitted model; none for plain features."""
    if identity is not None:
        model.encoder_ = identity.as_dict()
    elif hasattr(model, "encoder_"):
        del model.encoder_


def known_encoder(model: Any) -> EncoderIdentity | None:
    """Return the identity of the encoder a model was trained with, if it has one."""
    stored = getattr(model, "encoder_", None)
    return None if stored is None else EncoderIdentity.from_dict(stored)


def load_encoder(model: Any, path: str) -> ImageEncoder:
    """Open the encoder a model was trained with."""
    identity = known_encoder(model)
    if identity is None:
        raise InvalidInputError(
            f"the model {path} was not trained on pictures; give it features, or train it on a "
            "store made by zslearn features."
        )
    return ImageEncoder.from_identity(identity)


def check_encoder(model: Any, identity: EncoderIdentity, path: str) -> None:
    """Refuse vectors of another encoder than the model's."""
    known = known_encoder(model)
    if known is not None and not known.matches(identity):
        raise InvalidInputError(
            f"{path} was made by the encoder {identity}, the model was trained with {known}; run "
            f"zslearn features --encoder {known.model} on the pictures."
        )
