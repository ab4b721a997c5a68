"""Which encoder made a vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from zslearn.exceptions import InvalidInputError


@dataclass(frozen=True)
class EncoderIdentity:
    """Name, weights and settings of an encoder; vectors of equal identities may be mixed.

    Parameters
    ----------
    model : str
        Name used to open the model, for example "efficientnet-lite2".
    sha256 : str
        SHA-256 of its weights.
    views : str
        Which views of a picture are averaged.
    preprocessing : mapping
        The settings of `Preprocessing`.

    Examples
    --------
    >>> from zslearn.features import EncoderIdentity
    >>> print(EncoderIdentity("onnx:net.onnx", "9656183eaeafe8cb", "flip", {"size": 64}))
    onnx:net.onnx (SHA-256 9656183eaeaf, views flip)
    """

    model: str
    sha256: str
    views: str
    preprocessing: Mapping[str, Any]

    def __str__(self) -> str:
        views = "" if self.views == "center" else f", views {self.views}"
        return f"{self.model} (SHA-256 {self.sha256[:12]}{views})"

    def matches(self, other: EncoderIdentity) -> bool:
        """Say whether both give the same vectors; an ONNX file may have moved."""
        return self._content() == other._content()

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
        texts = (identity.model, identity.sha256, identity.views)
        if not all(isinstance(text, str) for text in texts) or not isinstance(
            identity.preprocessing, Mapping
        ):
            raise InvalidInputError("the identity of an encoder is damaged: a value is not text.")
        return identity

    def _content(self) -> tuple[Any, ...]:
        return self.sha256, self.views, dict(self.preprocessing)
