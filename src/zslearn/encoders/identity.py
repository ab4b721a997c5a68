"""Which encoder made a vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from zslearn.exceptions import InvalidInputError


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

    Examples
    --------
    >>> from zslearn.encoders import EncoderIdentity
    >>> print(EncoderIdentity("onnx:net.onnx", "9656183eaeafe8cb", {"views": "flip"}))
    onnx:net.onnx (SHA-256 9656183eaeaf, views flip)
    """

    model: str
    sha256: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        texts = {name: value for name, value in self.settings.items() if isinstance(value, str)}
        facts = {"SHA-256": self.sha256[:12]} | texts
        return f"{self.model} ({', '.join(f'{name} {fact}' for name, fact in facts.items())})"

    def matches(self, other: EncoderIdentity) -> bool:
        """Say whether both give the same vectors; an ONNX file may have moved."""
        return (self.sha256, dict(self.settings)) == (other.sha256, dict(other.settings))

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
        return identity
