"""Values as JSON takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def json_ready(value: Any) -> Any:
    """Turn numpy values, tuples and non-finite numbers into what JSON knows."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
