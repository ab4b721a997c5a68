"""Arrays for the browser: one JSON head, then the arrays back to back."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.serve.json_text import write_json

DTYPES = {"f4": "<f4", "i4": "<i4", "u1": "u1"}
_LENGTH = struct.Struct("<I")
ALIGNMENT = 8


def pack(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a head and arrays as bytes; each part begins at a multiple of eight.

    Parameters
    ----------
    head : mapping
        What JSON can hold. The key ``arrays`` is added: name, type and shape of each.
    arrays : mapping of str to ndarray
        Of float32, int32 or uint8.

    Returns
    -------
    bytes

    Examples
    --------
    >>> packed = pack({"revision": 3}, {"answer": np.array([1, 2], np.int32)})
    >>> int.from_bytes(packed[:4], "little"), len(packed)
    (68, 80)
    """
    listed = [
        {"name": name, "dtype": array.dtype.str[1:], "shape": list(array.shape)}
        for name, array in arrays.items()
    ]
    text = write_json({**head, "arrays": listed})
    text += b" " * (-(len(text) + _LENGTH.size) % ALIGNMENT)
    parts = [_LENGTH.pack(len(text)), text]
    for array in arrays.values():
        raw = np.ascontiguousarray(array, DTYPES[array.dtype.str[1:]]).tobytes()
        parts += [raw, bytes(-len(raw) % ALIGNMENT)]
    return b"".join(parts)


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the head and the arrays of packed bytes."""
    import orjson

    length = _LENGTH.unpack_from(content)[0]
    start = _LENGTH.size + length
    head = orjson.loads(content[_LENGTH.size : start])
    arrays = {}
    for said in head["arrays"]:
        dtype = np.dtype(DTYPES[said["dtype"]])
        n = int(np.prod(said["shape"], dtype=int))
        arrays[said["name"]] = np.frombuffer(content, dtype, n, start).reshape(said["shape"])
        start += -(-n * dtype.itemsize // ALIGNMENT) * ALIGNMENT
    return head, arrays
