"""What the searches of zero-shot methods share."""

from __future__ import annotations

from zslearn.model_selection import Choice, choose

__all__ = ["Choice", "choose"]
