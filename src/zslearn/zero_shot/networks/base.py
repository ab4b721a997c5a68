"""What the small networks share: their training parameters, Adam, inputs of unit entries."""

from __future__ import annotations

from typing import Any, ClassVar

from zslearn.zero_shot.gradient import GradientClassifier


class NetworkClassifier(GradientClassifier):
    """Base of the methods with hidden layers, in plain numpy with hand-written gradients."""

    step: ClassVar[str] = "adam"
    unit_entries: ClassVar[bool] = True
    grids: ClassVar[dict[str, tuple[Any, ...]]] = {"learning_rate": (1e-3, 3e-4)}
