"""Objects to JSON and named tensors.

None, booleans, whole numbers, finite floats and text stand for themselves; everything else is an
object with a ``kind``.
"""

from __future__ import annotations

import dataclasses
import math
from types import FunctionType
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from zslearn.exceptions import InvalidTypeError
from zslearn.persistence.container import KINDS
from zslearn.persistence.trusted import (
    FUNCTIONS,
    REMADE,
    estimator_name,
    function_name,
    record_name,
)
from zslearn.signatures import Signatures
from zslearn.zero_shot.inputs import as_signatures

TENSOR_KINDS = KINDS.keys()


class Encoder:
    """Collects the tensors of one file while objects are turned into JSON.

    Attributes
    ----------
    tensors : dict of str to ndarray
        Tensors by name; an array that occurs twice is stored once.
    """

    def __init__(self) -> None:
        self.tensors: dict[str, NDArray[Any]] = {}
        self._arrays: dict[int, dict[str, Any]] = {}
        self._tables: dict[int, int] = {}
        self._kept: list[Any] = []  # keeps ids unique while the encoder lives

    def encode(self, value: Any, where: str) -> Any:
        """Return what stands for `value` in JSON; `where` names it in errors."""
        # Exact types: numpy's text and float64 derive from Python's and come back as they were.
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}
        for kind, encode in self._encoders():
            if isinstance(value, kind):
                return encode(value, where)
        return self._estimator(value, where)

    def _encoders(self) -> list[tuple[Any, Any]]:
        return [
            (np.generic, self._scalar),
            (np.ndarray, self._array),
            (list | tuple, self._sequence),
            (dict, self._mapping),
            (slice, self._slice),
            (np.dtype, self._dtype),
            (FunctionType, self._function),
            (Signatures, self._signatures),
            (
                sparse.csr_array | sparse.csr_matrix | sparse.csc_array | sparse.csc_matrix,
                self._sparse,
            ),
        ]

    def _scalar(self, value: np.generic, where: str) -> Any:
        if isinstance(value, np.str_):
            return {"kind": "scalar", "dtype": "str", "value": str(value)}
        if value.dtype.name not in TENSOR_KINDS - {"complex64"}:
            raise _refused(where, value)
        return {
            "kind": "scalar",
            "dtype": value.dtype.name,
            "value": self.encode(value.item(), where),
        }

    def _array(self, value: NDArray[Any], where: str) -> Any:
        if id(value) not in self._arrays:
            self._kept.append(value)
            self._arrays[id(value)] = self._new_array(value, where)
        return self._arrays[id(value)]

    def _new_array(self, value: NDArray[Any], where: str) -> dict[str, Any]:
        if value.dtype.kind == "U":
            return {"kind": "texts", "shape": list(value.shape), "items": value.ravel().tolist()}
        if value.dtype.kind == "O":
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value.ravel())]
            return {"kind": "objects", "shape": list(value.shape), "items": items}
        if value.dtype.name not in TENSOR_KINDS:
            raise InvalidTypeError(
                f"{where} is an array of {value.dtype}, which model files cannot hold; keep "
                "arrays of numbers, booleans or text."
            )
        # The order in memory is kept, because it decides the last digit of matrix products; a part
        # of a larger array is contiguous in neither order.
        turned = value.ndim > 1 and value.strides[0] < value.strides[-1]
        name = f"t{len(self.tensors)} {where}"
        self.tensors[name] = np.ascontiguousarray(value.T if turned else value)
        return {"kind": "array", "tensor": name, "turned": turned}

    def _sequence(self, value: Any, where: str) -> Any:
        if type(value) not in (list, tuple):
            return self._estimator(value, where)
        items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
        return {"kind": type(value).__name__, "items": items}

    def _mapping(self, value: dict[Any, Any], where: str) -> Any:
        if type(value) is not dict:
            raise _refused(where, value)
        pairs = [
            [self.encode(key, f"a key of {where}"), self.encode(item, f"{where}[{key!r}]")]
            for key, item in value.items()
        ]
        return {"kind": "dict", "items": pairs}

    def _slice(self, value: slice, where: str) -> Any:
        parts = [value.start, value.stop, value.step]
        return {"kind": "slice", "parts": [self.encode(part, where) for part in parts]}

    def _dtype(self, value: np.dtype[Any], where: str) -> Any:
        if value.name not in TENSOR_KINDS:
            raise _refused(where, value)
        return {"kind": "dtype", "name": value.name}

    def _function(self, value: FunctionType, where: str) -> Any:
        name = function_name(value)
        if name is None:
            raise InvalidTypeError(
                f"{where} is the function {value.__qualname__}, which cannot be saved without "
                f"pickle; the functions that can be are {', '.join(FUNCTIONS)}."
            )
        return {"kind": "function", "name": name}

    def _signatures(self, value: Signatures, where: str) -> Any:
        if id(value) in self._tables:
            return {"kind": "same signatures", "number": self._tables[id(value)]}
        self._kept.append(value)
        self._tables[id(value)] = len(self._tables)
        return {
            "kind": "signatures",
            "names": self.encode(value.names, f"{where}.names"),
            "vectors": self.encode(value.vectors, f"{where}.vectors"),
            "dimensions": list(value.dimensions),
            "blocks": [[name, part.start, part.stop] for name, part in value.blocks.items()],
        }

    def _sparse(self, value: Any, where: str) -> Any:
        parts = {part: getattr(value, part) for part in ("data", "indices", "indptr")}
        return {
            "kind": "sparse",
            "class": type(value).__name__,
            "shape": list(value.shape),
            "parts": {name: self.encode(part, f"{where}.{name}") for name, part in parts.items()},
        }

    def _estimator(self, value: Any, where: str) -> Any:
        name = record_name(value)
        if name is not None:
            fields = getattr(value, "_fields", None) or [f.name for f in dataclasses.fields(value)]
            parts = {field: getattr(value, field) for field in fields}
            return {"kind": "record", "class": name, "fields": self._attributes(parts, where)}
        name = estimator_name(value)
        if name is None:
            raise _refused(where, value)
        node = {"kind": "estimator", "class": name, **self._estimator_parts(value, name, where)}
        return node | ({"version": sklearn.__version__} if name.startswith("sklearn.") else {})

    def _estimator_parts(self, model: BaseEstimator, name: str, where: str) -> dict[str, Any]:
        """Encode parameters and learned state: everything the object holds."""
        parameters = model.get_params(deep=False)
        table = parameters.get("signatures")
        if hasattr(table, "columns"):  # a data frame becomes the table that it stands for
            parameters["signatures"] = as_signatures(table)
        # A network that is given again after loading; the learned state knows its identity.
        parameters |= dict.fromkeys(getattr(type(model), "given_again", ()))
        left_out = parameters.keys() | {REMADE.get(name)}
        state = {key: item for key, item in vars(model).items() if key not in left_out}
        return {
            "parameters": self._attributes(parameters, where),
            "state": self._attributes(state, where),
        }

    def _attributes(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        # In order, so that equal models give equal bytes however they came about.
        return {key: self.encode(values[key], f"{where}.{key}") for key in sorted(values)}


def _refused(where: str, value: object) -> InvalidTypeError:
    return InvalidTypeError(
        f"{where} holds a {type(value).__module__}.{type(value).__qualname__}, which cannot be "
        "saved without pickle. Keep numbers, text, arrays, lists, dicts, Signatures, estimators "
        "of zslearn or those of scikit-learn that zslearn.persistence.trusted lists there; an "
        "estimator class of your own is allowed by zslearn.persistence.register."
    )
