"""Tensors of the Open Inference Protocol: JSON values or raw bytes to arrays, and back."""

from __future__ import annotations

import array as flat
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.serve.errors import refuse

DATATYPES = {
    "BOOL": "?",
    "UINT8": "u1",
    "UINT16": "<u2",
    "UINT32": "<u4",
    "UINT64": "<u8",
    "INT8": "i1",
    "INT16": "<i2",
    "INT32": "<i4",
    "INT64": "<i8",
    "FP16": "<f2",
    "FP32": "<f4",
    "FP64": "<f8",
}
_FLOATS = (DATATYPES["FP32"], DATATYPES["FP64"])
_NAMES = {np.dtype(code): name for name, code in DATATYPES.items()}
_LENGTH = struct.Struct("<I")
_LARGEST_SHAPE = 2**48
# Numbers up to which `struct` takes half the time of `array`.
_FEW = 2**14


def check_shape(shape: Any, name: str) -> tuple[int, ...]:
    """Return a shape as a tuple, or refuse what is none."""
    whole = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
    if not whole or not 1 <= len(shape) <= 8 or math.prod(shape) > _LARGEST_SHAPE:
        raise refuse(
            f"the shape of {name} must be a list of 1 to 8 whole numbers; got {shape!r:.80}."
        )
    return tuple(shape)


def from_json(name: str, datatype: str, shape: tuple[int, ...], data: Any) -> NDArray[Any]:
    """Return the array that a list of values, flat or nested, stands for.

    Examples
    --------
    >>> from_json("features", "FP32", (1, 2), [0.5, 1])
    array([[0.5, 1. ]], dtype=float32)
    """
    if datatype == "BYTES":
        return _texts(name, shape, data)
    code = _code(name, datatype)
    try:
        values = _numbers(data) if code in _FLOATS else np.array(data)
    except ValueError as error:  # lists of different lengths
        raise refuse(f"the data of {name} is no rectangular list of numbers.") from error
    _check_count(name, values.size, shape)
    if values.dtype.kind not in "biuf":
        if not values.size:
            return np.empty(shape, code)
        raise refuse(f"the data of {name} must be numbers.")
    return _cast(name, datatype, values.reshape(shape))


def from_raw(name: str, datatype: str, shape: tuple[int, ...], raw: memoryview) -> NDArray[Any]:
    r"""Return the array in raw bytes, little-endian; it shares their memory.

    Examples
    --------
    >>> from_raw("image", "BYTES", (1,), memoryview(b"\x02\x00\x00\x00hi"))
    array([b'hi'], dtype=object)
    """
    if datatype == "BYTES":
        items = list(_split(name, raw))
        _check_count(name, len(items), shape)
        return _objects(items, shape)
    code = np.dtype(_code(name, datatype))
    wanted = math.prod(shape) * code.itemsize
    if len(raw) != wanted:
        raise refuse(
            f"{name} of shape {list(shape)} and type {datatype} takes {wanted} bytes; got "
            f"{len(raw)}."
        )
    return np.frombuffer(raw, code).reshape(shape)


def to_raw(array: NDArray[Any]) -> bytes:
    """Return an array as raw bytes; texts and bytes get their length before them."""
    if datatype_of(array) != "BYTES":
        return np.ascontiguousarray(array).tobytes()
    items = map(as_bytes, array.ravel().tolist())
    return b"".join(_LENGTH.pack(len(item)) + item for item in items)


def datatype_of(array: NDArray[Any]) -> str:
    """Return the protocol's name for the type of an array.

    Examples
    --------
    >>> datatype_of(np.zeros(2)), datatype_of(np.array(["zebra"]))
    ('FP64', 'BYTES')
    """
    return _NAMES.get(array.dtype, "BYTES")


def as_bytes(item: Any) -> bytes:
    """Return a text, a name or bytes as bytes."""
    return item if isinstance(item, bytes) else str(item).encode()


def _code(name: str, datatype: Any) -> str:
    if not isinstance(datatype, str) or datatype not in DATATYPES:
        raise refuse(
            f"the type of {name} must be one of {', '.join([*DATATYPES, 'BYTES'])}; got "
            f"{datatype!r:.40}."
        )
    return DATATYPES[datatype]


def _cast(name: str, datatype: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the type that was declared, if they fit it."""
    code = np.dtype(_code(name, datatype))
    if code.kind == "f":  # whole numbers too are read as doubles first, whoever reads them
        values = values.astype(np.float64, copy=False)
    if values.dtype == code:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        cast = values.astype(code)
    if code.kind != "f" and not np.array_equal(cast, values):
        raise refuse(f"the data of {name} does not fit the type {datatype}.")
    return cast


def _numbers(data: Any) -> NDArray[Any]:
    """Return a list as an array; a flat list of fractions faster than numpy does."""
    if isinstance(data, np.ndarray):  # as `number_lists` reads them
        return data
    if isinstance(data, list) and data and type(data[0]) is float:
        try:
            if len(data) <= _FEW:
                return np.frombuffer(struct.pack(f"{len(data)}d", *data))
            return np.frombuffer(flat.array("d", data))
        except (TypeError, OverflowError, struct.error):
            pass  # texts or lists among them, which numpy tells apart
    return np.array(data)


def _texts(name: str, shape: tuple[int, ...], data: Any) -> NDArray[Any]:
    items: list[Any] = _flat(data) if isinstance(data, list) else [data]
    if not all(isinstance(item, str) for item in items):
        raise refuse(f"the data of {name} must be texts, since its type is BYTES.")
    _check_count(name, len(items), shape)
    return _objects([item.encode() for item in items], shape)


def _flat(data: list[Any]) -> list[Any]:
    """Return the items of nested lists; the depth is bounded by the reader of JSON."""
    flat: list[Any] = []
    waiting: list[Any] = [data]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(reversed(item))
        else:
            flat.append(item)
    return flat


def _split(name: str, raw: memoryview) -> Sequence[bytes]:
    """Return the items of raw BYTES: each has its length before it."""
    items, start = [], 0
    while start < len(raw):
        begin = start + _LENGTH.size
        size = _LENGTH.unpack_from(raw, start)[0] if begin <= len(raw) else len(raw)
        if begin + size > len(raw):
            raise refuse(f"the binary data of {name} ends inside an item.")
        items.append(bytes(raw[begin : begin + size]))
        start = begin + size
    return items


def _objects(items: Sequence[bytes], shape: tuple[int, ...]) -> NDArray[Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)


def _check_count(name: str, found: int, shape: tuple[int, ...]) -> None:
    if found != math.prod(shape):
        raise refuse(f"{name} of shape {list(shape)} has {math.prod(shape)} values; got {found}.")
