"""How much time there is."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Budget:
    """Seconds that may pass since the start; None is no limit."""

    start: float
    seconds: float | None

    def allows(self, more: float) -> bool:
        """Say whether so many seconds more are within the budget."""
        return self.seconds is None or perf_counter() - self.start + more <= self.seconds
