"""The two settings that calibration tells apart, and parameters that have a value for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zslearn._parameters import Constraint

# Candidates with seen classes among them, and candidates without.
SETTINGS = ("all", "unseen")


class ForEachSetting(Constraint):
    """A dict with a value for each setting, allowed by `each`."""

    def __init__(self, each: Constraint) -> None:
        def allows(value: Any) -> bool:
            complete = isinstance(value, Mapping) and set(value) == set(SETTINGS)
            return complete and all(map(each.allows, value.values()))

        super().__init__(f"a dict of 'all' and 'unseen' to {each.words}", allows)


def in_each_setting(value: Any) -> dict[str, float]:
    """Return a number, or a dict of numbers, as one number for each setting."""
    if isinstance(value, Mapping):
        return {name: float(value[name]) for name in SETTINGS}
    return dict.fromkeys(SETTINGS, float(value))


def is_auto(value: Any) -> bool:
    """Say whether a parameter is left to folds."""
    return isinstance(value, str) and value == "auto"
