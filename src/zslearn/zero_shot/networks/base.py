"""What the small networks share: their training parameters, Adam, inputs of unit entries."""

from __future__ import annotations

from typing import Any, ClassVar

from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.gradient import GradientClassifier


class NetworkClassifier(GradientClassifier):
    """Base of the methods with hidden layers, in plain numpy with hand-written gradients."""

    step: ClassVar[str] = "adam"
    unit_entries: ClassVar[bool] = True
    grids: ClassVar[dict[str, tuple[Any, ...]]] = {"learning_rate": (1e-3, 3e-4)}

    def _check_positive(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if isinstance(value, str) or not value > 0:
                raise InvalidInputError(f"{name} must be a positive number; got {value!r}.")

    def _check_loss(self, losses: Any) -> None:
        loss = getattr(self, "loss", None)
        if loss not in losses:
            raise InvalidInputError(f"loss must be one of {', '.join(losses)}; got {loss!r}.")
