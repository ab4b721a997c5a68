"""JSON as the server reads and writes it: strict, UTF-8, numbers finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from zslearn.serve.errors import refuse


def read_json(text: bytes | memoryview) -> Any:
    """Return the value of a JSON text, or say where it is wrong."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise refuse(f"the body is not JSON ({error}).") from error


def write_json(value: Any) -> bytes:
    """Return a value as JSON; arrays of numbers become lists, and what is not finite null."""
    return orjson.dumps(value, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError
