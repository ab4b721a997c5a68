"""Requests with long lists of numbers: from JSON to arrays without a Python object per number.

simdjson reads usual requests. What it refuses, or might understand in another way, is read by
`read_json`, so that answers and messages are the same with it and without it.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.serve.json_text import read_json

try:
    import simdjson
except ImportError:  # it has no wheels for the newest Pythons
    simdjson = None  # type: ignore[assignment]

# Bytes of a text from which it is worth it, and up to which, since a parser takes twelve bytes per
# byte or less. It keeps them, so texts longer than KEPT have a parser of their own.
SHORTEST, LONGEST, KEPT = 2**14, 2**25, 2**23
# More keys, or shorter rows, are unusual, and going through them would take long.
MOST_KEYS, SHORTEST_ROW = 16, 16
_of_thread = threading.local()


class _UnusualError(Exception):
    """A request for the other reader."""


def read_request(text: bytes) -> Any:
    """Return the value of a JSON text; the data of inputs of type FP32 or FP64 may be arrays.

    Examples
    --------
    >>> text = b'{"inputs": [{"datatype": "FP64", "data": [%s]}]}' % b",".join([b"0.5"] * 5000)
    >>> float(sum(read_request(text)["inputs"][0]["data"]))
    2500.0
    """
    # The other reader refuses a byte order mark, so the text must begin with the object.
    if simdjson is not None and SHORTEST <= len(text) <= LONGEST and text[:1] == b"{":
        try:
            return _read(text)
        except (_UnusualError, LookupError, MemoryError, RuntimeError, TypeError, ValueError):
            pass  # not `return` here, where the error still holds what was parsed
    return read_json(text)


def _read(text: bytes) -> dict[str, Any]:
    parser: Any = _parser() if len(text) <= KEPT else simdjson.Parser()
    document = parser.parse(text)
    request = {key: _plain(document[key]) for key in _keys(document) if key != "inputs"}
    request["inputs"] = [_input(part) for part in document["inputs"]]
    if not _has_brackets(text, _count_lists(request)):
        raise _UnusualError  # lists among the numbers, which the array does not show
    return request


def _parser() -> Any:
    """Return the parser of this thread; it holds one document at a time."""
    if not hasattr(_of_thread, "parser"):
        _of_thread.parser = simdjson.Parser()
    return _of_thread.parser


def _input(part: Any) -> dict[str, Any]:
    found = {key: _plain(part[key]) for key in _keys(part) if key != "data"}
    is_float = found.get("datatype") in ("FP32", "FP64")
    found["data"] = _numbers(part["data"]) if is_float else _plain(part["data"])
    return found


def _keys(value: Any) -> list[str]:
    """Return the keys of an object, each of which comes once."""
    if not isinstance(value, simdjson.Object) or len(value) > MOST_KEYS:
        raise _UnusualError
    keys = list(value)
    if len(set(keys)) < len(keys):
        raise _UnusualError
    return keys


def _plain(value: Any) -> Any:
    if isinstance(value, simdjson.Array):
        return value.as_list()
    return value.as_dict() if isinstance(value, simdjson.Object) else value


def _numbers(data: Any) -> NDArray[np.float64]:
    """Return a list of numbers, or of rows of one length; lists among the numbers go unnoticed."""
    if not isinstance(data, simdjson.Array):
        raise _UnusualError
    values = np.frombuffer(data.as_buffer(of_type="d"))
    first = data[0]
    if not isinstance(first, simdjson.Array):
        return values
    width = len(first)
    if width < SHORTEST_ROW or len(values) != len(data) * width:
        raise _UnusualError
    if any(not isinstance(row, simdjson.Array) or len(row) != width for row in data):
        raise _UnusualError
    return values.reshape(-1, width)


def _count_lists(value: Any) -> int:
    """Return how many lists the text must have had at least."""
    if isinstance(value, dict):
        return sum(map(_count_lists, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_count_lists, value))
    if isinstance(value, np.ndarray):
        return 1 + (len(value) if value.ndim > 1 else 0)
    return 0


def _has_brackets(text: bytes, count: int) -> bool:
    """Say whether a text has exactly so many opening brackets; to count them all takes longer."""
    place = -1
    for _ in range(count):
        place = text.find(b"[", place + 1)
        if place < 0:
            return False
    return text.find(b"[", place + 1) < 0
