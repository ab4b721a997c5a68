"""The Open Inference Protocol, version 2: bytes of a request to tensors, tensors to an answer.

Pure functions; nothing here knows about HTTP. A request is JSON, or JSON followed by raw tensors;
then the length of the JSON comes in a header of its own, whatever the content type says.
"""

from __future__ import annotations

import array as flat
import math
import struct
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from zslearn.serve.responses import read_json, refuse, write_json

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
        values = _number_array(data) if code in _FLOATS else np.array(data)
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
        items = list(_split_items(name, raw))
        _check_count(name, len(items), shape)
        return _byte_items(items, shape)
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
    cast = _converted(values, code)
    if code.kind != "f" and not np.array_equal(cast, values):
        raise refuse(f"the data of {name} does not fit the type {datatype}.")
    return cast


@np.errstate(over="ignore", invalid="ignore")  # in half the time of a `with`
def _converted(values: NDArray[Any], code: np.dtype[Any]) -> NDArray[Any]:
    return values.astype(code)


def _number_array(data: Any) -> NDArray[Any]:
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
    return _byte_items([item.encode() for item in items], shape)


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


def _split_items(name: str, raw: memoryview) -> Sequence[bytes]:
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


def _byte_items(items: Sequence[bytes], shape: tuple[int, ...]) -> NDArray[Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)


def _check_count(name: str, found: int, shape: tuple[int, ...]) -> None:
    if found != math.prod(shape):
        raise refuse(f"{name} of shape {list(shape)} has {math.prod(shape)} values; got {found}.")


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


def read_request_json(text: bytes) -> Any:
    """Return the value of a JSON text; the data of inputs of type FP32 or FP64 may be arrays.

    Examples
    --------
    >>> text = b'{"inputs": [{"datatype": "FP64", "data": [%s]}]}' % b",".join([b"0.5"] * 5000)
    >>> float(sum(read_request_json(text)["inputs"][0]["data"]))
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
    request, inputs = _members(document, "inputs"), []
    for part in document["inputs"]:
        found = _members(part, "data")
        is_float = found.get("datatype") in ("FP32", "FP64")
        found["data"] = _fast_numbers(part["data"]) if is_float else _plain(part["data"])
        inputs.append(found)
    request["inputs"] = inputs
    # Lists among the numbers, which the array does not show, have brackets of their own. There
    # must be one per list; a search for each takes less time than to count all letters.
    place, n_lists = text.find(b"["), _count_lists(request)
    while place >= 0 and n_lists >= 0:
        place, n_lists = text.find(b"[", place + 1), n_lists - 1
    if n_lists:
        raise _UnusualError
    return request


def _parser() -> Any:
    """Return the parser of this thread; it holds one document at a time."""
    if not hasattr(_of_thread, "parser"):
        _of_thread.parser = simdjson.Parser()
    return _of_thread.parser


def _members(value: Any, but: str) -> dict[str, Any]:
    """Return the members of an object but one; each key must come once."""
    keys = list(value) if isinstance(value, simdjson.Object) and len(value) <= MOST_KEYS else []
    if not keys or len(set(keys)) < len(keys):
        raise _UnusualError
    return {key: _plain(value[key]) for key in keys if key != but}


def _plain(value: Any) -> Any:
    if isinstance(value, simdjson.Array):
        return value.as_list()
    return value.as_dict() if isinstance(value, simdjson.Object) else value


def _fast_numbers(data: Any) -> NDArray[np.float64]:
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
    """Return how many lists a text must have had at least."""
    n, waiting = 0, [value]
    for part in waiting:  # which grows meanwhile
        if type(part) is dict:
            waiting += part.values()
        elif type(part) is list:
            n += 1
            waiting += part
        elif type(part) is np.ndarray:
            n += 1 + (len(part) if part.ndim > 1 else 0)
    return n


class Tensor(NamedTuple):
    """A named array; `shape` and `datatype` are those of the protocol."""

    name: str
    array: NDArray[Any]


class Wanted(Struct, frozen=True):
    """An output that the client asks for.

    Attributes
    ----------
    name : str
        Which output.
    binary : bool
        Whether it comes as raw bytes.
    classification : int
        If above 0, the best classes as texts "score:index:name".
    """

    name: str
    binary: bool = False
    classification: int = 0


class InferRequest(Struct, frozen=True):
    """What a client sends to be inferred.

    Attributes
    ----------
    inputs : mapping of str to ndarray
        Tensors by name.
    outputs : tuple of Wanted
        What to answer; empty for what the model answers by default.
    parameters : mapping
        Parameters of the request.
    id : str
        Comes back with the answer.
    binary : bool
        Whether outputs that were not named come as raw bytes.
    """

    inputs: Mapping[str, NDArray[Any]]
    outputs: tuple[Wanted, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    binary: bool = False


class Message(Struct, frozen=True):
    """A body and, if raw tensors follow its JSON, the length of the JSON."""

    body: bytes
    header_length: int | None = None


def decode_request(message: Message) -> InferRequest:
    """Read a request.

    Parameters
    ----------
    message : Message
        The body, decompressed.

    Returns
    -------
    InferRequest

    Examples
    --------
    >>> body = b'{"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [2]}]}'
    >>> decode_request(Message(body)).inputs["x"]
    array([2.], dtype=float32)
    """
    text, raw = _split(message)
    document = _object(read_request_json(text), "the request")
    parameters = _parameters(document, "the request")
    inputs = _inputs(_objects(document, "inputs"), raw)
    if not inputs:
        raise refuse("the request has no inputs.")
    identity = document.get("id", "")
    if not isinstance(identity, str):
        raise refuse("the id of a request must be text.")
    return InferRequest(
        inputs,
        tuple(map(_wanted, _objects(document, "outputs"))),
        parameters,
        identity,
        _flag(parameters, "binary_data_output", "the request"),
    )


def encode_response(
    head: Mapping[str, Any], outputs: Sequence[Tensor], binary: Sequence[bool]
) -> Message:
    """Write an answer.

    Parameters
    ----------
    head : mapping
        What comes before the outputs: model, version, id.
    outputs : sequence of Tensor
        The outputs.
    binary : sequence of bool
        Which of them come as raw bytes behind the JSON.

    Returns
    -------
    Message

    Examples
    --------
    >>> import numpy as np
    >>> answer = encode_response({"model_name": "m"}, [Tensor("y", np.array([1.5]))], [False])
    >>> answer.body
    b'{"model_name":"m","outputs":[{"name":"y","datatype":"FP64","shape":[1],"data":[1.5]}]}'
    """
    parts, raw = [], []
    for (name, array), as_raw in zip(outputs, binary, strict=True):
        datatype = datatype_of(array)
        part: dict[str, Any] = {"name": name, "datatype": datatype, "shape": list(array.shape)}
        if as_raw:
            raw.append(to_raw(array))
            part["parameters"] = {"binary_data_size": len(raw[-1])}
        else:
            part["data"] = _values(array, datatype)
        parts.append(part)
    text = write_json({**head, "outputs": parts})
    return Message(b"".join([text, *raw]), len(text) if any(binary) else None)


def _values(array: NDArray[Any], datatype: str) -> Any:
    flat = array.ravel()
    return [_text(item) for item in flat.tolist()] if datatype == "BYTES" else flat


def _text(item: Any) -> str:
    return item.decode(errors="replace") if isinstance(item, bytes) else str(item)


def _split(message: Message) -> tuple[bytes, memoryview]:
    length = len(message.body) if message.header_length is None else message.header_length
    if not 0 <= length <= len(message.body):
        raise refuse(
            f"Inference-Header-Content-Length is {length}, but the body has {len(message.body)} "
            "bytes."
        )
    whole = memoryview(message.body)
    return message.body[:length], whole[length:]


def _inputs(parts: list[dict[str, Any]], raw: memoryview) -> dict[str, NDArray[Any]]:
    inputs: dict[str, NDArray[Any]] = {}
    for part in parts:
        name = _name(part, "an input")
        if name in inputs:
            raise refuse(f"the input {name!r:.40} comes twice.")
        inputs[name], raw = _input(part, name, raw)
    if len(raw):
        raise refuse(f"{len(raw)} bytes are left behind the last binary tensor.")
    return inputs


def _input(part: dict[str, Any], name: str, raw: memoryview) -> tuple[NDArray[Any], memoryview]:
    """Return one tensor, and the raw bytes that belong to later ones."""
    shape = check_shape(part.get("shape"), name)
    datatype = part.get("datatype", "")
    size = _parameters(part, name).get("binary_data_size")
    if size is None:
        if "data" not in part:
            raise refuse(f"the input {name!r:.40} has no data.")
        return from_json(name, datatype, shape, part["data"]), raw
    if type(size) is not int or not 0 <= size <= len(raw):
        raise refuse(
            f"binary_data_size of {name} is {size!r:.40}, but {len(raw)} bytes are left in the "
            "body; Inference-Header-Content-Length must be the length of the JSON."
        )
    return from_raw(name, datatype, shape, raw[:size]), raw[size:]


def _wanted(part: dict[str, Any]) -> Wanted:
    name = _name(part, "an output")
    parameters = _parameters(part, name)
    count = parameters.get("classification", 0)
    if type(count) is not int or count < 0:
        raise refuse(f"classification of {name} must be a whole number; got {count!r:.40}.")
    return Wanted(name, _flag(parameters, "binary_data", name), count)


def _name(part: dict[str, Any], what: str) -> str:
    name = part.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= 100:
        raise refuse(f"{what} needs a name of 1 to 100 letters; got {name!r:.40}.")
    return name


def _objects(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = document.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or len(found) > 100:
        raise refuse(f"{key} must be a list of at most 100 objects.")
    return [_object(item, f"each of {key}") for item in found]


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise refuse(f"{what} must be a JSON object; got {type(value).__name__}.")
    return value


def _parameters(part: dict[str, Any], what: str) -> dict[str, Any]:
    return _object(part.get("parameters") or {}, f"parameters of {what:.40}")


def _flag(parameters: dict[str, Any], key: str, what: str) -> bool:
    value = parameters.get(key, False)
    if not isinstance(value, bool):
        raise refuse(f"{key} of {what} must be true or false; got {value!r:.40}.")
    return value
