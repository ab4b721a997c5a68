"""The Open Inference Protocol, version 2: bytes of a request to tensors, tensors to an answer.

Pure functions; nothing here knows about HTTP. A request is JSON, or JSON followed by raw tensors;
then the length of the JSON comes in a header of its own, whatever the content type says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

from zslearn.serve import tensors
from zslearn.serve.errors import refuse
from zslearn.serve.json_text import write_json
from zslearn.serve.number_lists import read_request


class Tensor(NamedTuple):
    """A named array; `shape` and `datatype` are those of the protocol."""

    name: str
    array: NDArray[Any]


@dataclass(frozen=True)
class Wanted:
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


@dataclass(frozen=True)
class InferRequest:
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


@dataclass(frozen=True)
class Message:
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
    document = _object(read_request(text), "the request")
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
        datatype = tensors.datatype_of(array)
        part: dict[str, Any] = {"name": name, "datatype": datatype, "shape": list(array.shape)}
        if as_raw:
            raw.append(tensors.to_raw(array))
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
    shape = tensors.check_shape(part.get("shape"), name)
    datatype = part.get("datatype", "")
    size = _parameters(part, name).get("binary_data_size")
    if size is None:
        if "data" not in part:
            raise refuse(f"the input {name!r:.40} has no data.")
        return tensors.from_json(name, datatype, shape, part["data"]), raw
    if type(size) is not int or not 0 <= size <= len(raw):
        raise refuse(
            f"binary_data_size of {name} is {size!r:.40}, but {len(raw)} bytes are left in the "
            "body; Inference-Header-Content-Length must be the length of the JSON."
        )
    return tensors.from_raw(name, datatype, shape, raw[:size]), raw[size:]


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
