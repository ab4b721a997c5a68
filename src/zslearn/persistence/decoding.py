"""JSON and named tensors back to objects; only allowed classes are ever made."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from zslearn.exceptions import InvalidInputError
from zslearn.persistence.checks import check_estimator
from zslearn.persistence.encoding import TENSOR_KINDS
from zslearn.persistence.trusted import REMADE, estimator_class, function_of, record_class
from zslearn.signatures import Signatures

SPARSE = {
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "csc_matrix": sparse.csc_matrix,
}
# Letters an array of text may take: so many whatever the file, or so many times those in it.
_TEXT_ROOM, _TEXT_RATIO = 2**22, 100
FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Decoder:
    """Makes the objects of one file.

    Parameters
    ----------
    tensors : dict of str to ndarray
        The tensors the JSON document refers to.
    """

    def __init__(self, tensors: dict[str, NDArray[Any]]) -> None:
        self._tensors = tensors
        self._made: dict[tuple[str, bool], NDArray[Any]] = {}
        self._tables: list[Signatures] = []

    def decode(self, node: Any) -> Any:
        """Return the object a JSON value stands for."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if not isinstance(node, dict) or node.get("kind") not in _DECODERS:
            raise InvalidInputError(f"the description holds the unknown part {node!r:.80}")
        return _DECODERS[node["kind"]](self, node)

    def _float(self, node: Any) -> float:
        return FLOATS[node["value"]]

    def _items(self, node: Any) -> list[Any]:
        return [self.decode(item) for item in node["items"]]

    def _tuple(self, node: Any) -> tuple[Any, ...]:
        return tuple(self._items(node))

    def _dict(self, node: Any) -> dict[Any, Any]:
        return {self.decode(key): self.decode(item) for key, item in node["items"]}

    def _slice(self, node: Any) -> slice:
        return slice(*map(self.decode, node["parts"]))

    def _function(self, node: Any) -> Any:
        return _allowed(function_of, node, "name")

    def _scalar(self, node: Any) -> Any:
        value = self.decode(node["value"])
        if node["dtype"] == "str":
            return np.str_(value)
        if node["dtype"] not in TENSOR_KINDS:
            raise InvalidInputError(f"numbers of type {node['dtype']!r:.40} are unknown")
        return np.dtype(node["dtype"]).type(value)

    def _array(self, node: Any) -> NDArray[Any]:
        name, turned = node["tensor"], node["turned"]
        if not isinstance(turned, bool):
            raise InvalidInputError(f"{name!r:.40} is turned neither way")
        if (name, turned) not in self._made:
            tensor = self._tensors[name]
            self._made[name, turned] = tensor.T if turned else tensor
        return self._made[name, turned]

    def _texts(self, node: Any) -> NDArray[Any]:
        """Make an array of text, in which every item takes the room of the longest."""
        items = node["items"]
        if set(map(type, items)) - {str}:
            raise InvalidInputError("an array of text holds something else")
        lengths = list(map(len, items))
        room = max(lengths, default=0) * len(lengths)
        if room > max(_TEXT_ROOM, _TEXT_RATIO * sum(lengths)):
            raise InvalidInputError(
                f"one text of {max(lengths)} letters among {len(items)} would take {4 * room} bytes"
            )
        return np.array(items, dtype=np.str_).reshape(node["shape"])

    def _dtype(self, node: Any) -> np.dtype[Any]:
        if node["name"] not in TENSOR_KINDS:
            raise InvalidInputError(f"numbers of type {node['name']!r:.40} are unknown")
        return np.dtype(node["name"])

    def _objects(self, node: Any) -> NDArray[Any]:
        values = np.empty(len(node["items"]), dtype=object)
        values[:] = self._items(node)
        return values.reshape(node["shape"])

    def _signatures(self, node: Any) -> Signatures:
        blocks = {name: slice(start, stop) for name, start, stop in node["blocks"]}
        names, vectors = self.decode(node["names"]), self.decode(node["vectors"])
        table = Signatures(names, vectors, node["dimensions"], blocks=blocks)
        if table.vectors.dtype != vectors.dtype or table.names.dtype != names.dtype:
            raise InvalidInputError("the signatures are stored in another type than save writes")
        self._tables.append(table)
        return table

    def _same_signatures(self, node: Any) -> Signatures:
        return self._tables[node["number"]]

    def _sparse(self, node: Any) -> Any:
        parts = [self.decode(node["parts"][part]) for part in ("data", "indices", "indptr")]
        matrix = SPARSE[node["class"]](tuple(parts), shape=tuple(node["shape"]))
        matrix.check_format(full_check=True)
        return matrix

    def _record(self, node: Any) -> Any:
        return _allowed(record_class, node)(**self._attributes(node["fields"]))

    def _estimator(self, node: Any) -> Any:
        kind = _allowed(estimator_class, node)
        parameters = self._attributes(node["parameters"])
        _check_version(kind, node, parameters)
        model = kind(**parameters)
        wanted = _parameter_names(kind)
        state = self._attributes(node["state"])
        for name in state:
            if name in wanted or hasattr(kind, name):
                raise InvalidInputError(f"{name!r} may not be set by a file")
        if parameters.keys() != wanted:
            raise InvalidInputError(f"parameters of {kind.__name__} are missing")
        if node["class"] in REMADE and "_fit_X" in state:
            model.fit(state["_fit_X"], state["_y"])
        vars(model).update(state)
        check_estimator(model)
        return model

    def _attributes(self, nodes: dict[str, Any]) -> dict[str, Any]:
        return {name: self.decode(node) for name, node in nodes.items()}


# Not in the object: one that refers to itself would keep every tensor until garbage is collected.
_DECODERS: dict[str, Callable[[Decoder, Any], Any]] = {
    "float": Decoder._float,
    "scalar": Decoder._scalar,
    "array": Decoder._array,
    "texts": Decoder._texts,
    "objects": Decoder._objects,
    "list": Decoder._items,
    "tuple": Decoder._tuple,
    "dict": Decoder._dict,
    "slice": Decoder._slice,
    "dtype": Decoder._dtype,
    "function": Decoder._function,
    "signatures": Decoder._signatures,
    "same signatures": Decoder._same_signatures,
    "sparse": Decoder._sparse,
    "record": Decoder._record,
    "estimator": Decoder._estimator,
}


@cache
def _parameter_names(kind: type[BaseEstimator]) -> frozenset[str]:
    """Names of the parameters of an estimator, which scikit-learn reads off its code each time."""
    return frozenset(kind._get_param_names())


def _allowed(find: Callable[[str], Any], node: Any, key: str = "class") -> Any:
    """Return the class or function a node names, if it is allowed."""
    kind = find(str(node[key]))
    if kind is None:
        word = "function" if key == "name" else key
        raise InvalidInputError(
            f"it needs the {word} {node[key]!r:.60}, which is unknown here; if it is a class of "
            "yours, call zslearn.persistence.register on it before loading"
        )
    return kind


def _check_version(kind: type, node: Any, parameters: dict[str, Any]) -> None:
    """Warn of an estimator of another scikit-learn; refuse it if its parameters are others."""
    written = str(node.get("version", sklearn.__version__))
    if written == sklearn.__version__:
        return
    others = sorted(parameters.keys() ^ inspect.signature(kind).parameters.keys())
    if others:
        raise InvalidInputError(
            f"{kind.__name__} of scikit-learn {written:.20} and of {sklearn.__version__}, which is "
            f"here, differ in the parameter {others[0]!r:.40}; install the former"
        )
    warnings.warn(
        InconsistentVersionWarning(
            estimator_name=kind.__name__,
            current_sklearn_version=sklearn.__version__,
            original_sklearn_version=written,
        ),
        stacklevel=2,
    )
