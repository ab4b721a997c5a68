"""A fitted classifier as one file."""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import warnings
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from zslearn._files import first_line
from zslearn._pipelines import last_step
from zslearn.exceptions import InvalidInputError, InvalidTypeError, ModelFileError, ZslearnError
from zslearn.persistence import boosting
from zslearn.persistence.checks import check_answers, check_estimator
from zslearn.persistence.container import KINDS, other_version, read, write
from zslearn.persistence.trusted import (
    FUNCTIONS,
    REMADE,
    RETIRED,
    RETIRED_PARAMETERS,
    estimator_class,
    estimator_name,
    function_name,
    function_of,
    record_class,
    record_name,
)
from zslearn.signatures import Signatures
from zslearn.signatures.files import phrases_in
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
            **_wording(value),
            **self._phrases(value, where),
        }

    def _phrases(self, table: Signatures, where: str) -> dict[str, Any]:
        """Encode the phrases of classes, with the vectors of all in one array."""
        if not table.phrases:
            return {}
        vectors = np.concatenate([told.vectors for told in table.phrases.values()])
        return {
            "phrases": [[name, list(told.words)] for name, told in table.phrases.items()],
            "phrase_vectors": self.encode(vectors, f"{where}.phrase_vectors"),
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
        if name == boosting.NAME:
            state = boosting.state_of(model)
        return {
            "parameters": self._attributes(parameters, where),
            "state": self._attributes(state, where),
        }

    def _attributes(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        # In order, so that equal models give equal bytes however they came about.
        return {key: self.encode(values[key], f"{where}.{key}") for key in sorted(values)}


def _wording(table: Signatures) -> dict[str, Any]:
    """Return which encoder made a table, and from which texts, where that is known."""
    encoder = {} if table.encoder is None else {"encoder": dict(table.encoder)}
    texts = [[name, list(given)] for name, given in table.texts.items()]
    return encoder | ({"texts": texts} if texts else {})


def _refused(where: str, value: object) -> InvalidTypeError:
    return InvalidTypeError(
        f"{where} holds a {type(value).__module__}.{type(value).__qualname__}, which cannot be "
        "saved without pickle. Keep numbers, text, arrays, lists, dicts, Signatures, estimators "
        "of zslearn or those of scikit-learn that zslearn.persistence.trusted lists there; an "
        "estimator class of your own is allowed by zslearn.persistence.register."
    )


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
        self._boosted: dict[str, Any] = {}

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
        texts, phrases = dict(node.get("texts", ())), node.get("phrases", ())
        table = Signatures(
            names,
            vectors,
            node["dimensions"],
            blocks=blocks,
            encoder=node.get("encoder"),
            texts=texts,
            phrases=phrases_in(phrases, self.decode(node.get("phrase_vectors"))),
        )
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
        if kind.__module__.startswith("zslearn."):  # an older file knows nothing of newer ones
            parameters = {**getattr(kind, "newer_parameters", {}), **parameters}
            if hasattr(kind, "newest_parameters"):
                parameters = kind.newest_parameters(parameters)
        _check_version(kind, node, parameters)
        if RETIRED_PARAMETERS.get(node["class"]) in parameters:
            raise InvalidInputError(f"its {kind.__name__} is of a form that is gone; fit it again")
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
        if node["class"] == boosting.NAME and state:
            boosting.restore(model, state, self._boosted)
        else:
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
        if node[key] in RETIRED:
            raise InvalidInputError(f"its {node[key]} is of a form that is gone; fit it again")
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


# What decoding a document of a wrong shape may raise; all end as one refusal.
_WRONG_SHAPE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to one file, without pickle.

    The file is in the safetensors format: parameters, class names, signatures and learned state as
    arrays and JSON, with a checksum. It is written beside `path` and then renamed, so that `path`
    is never half a file.

    Parameters
    ----------
    model : estimator
        A fitted estimator of zslearn or of a class given to `register`, or a Pipeline that ends
        in one, with steps before it that scikit-learn brings and that keep numbers and text alone
        (`zslearn.persistence.trusted.SCIKIT_LEARN`).
    path : path-like
        Where to write; an existing file is replaced.

    Raises
    ------
    InvalidTypeError
        If the model holds something that cannot be saved; the message names the attribute.

    Examples
    --------
    >>> import os, tempfile
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.persistence import load, save
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> model = SAEClassifier(data.signatures, lam=0.1).fit(data.X, data.y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.zsl")
    >>> save(model, path)
    >>> bool((load(path).predict(data.X) == model.predict(data.X)).all())
    True
    """
    name = _name_in_files(model)
    check_is_fitted(model)
    encoder = Encoder()
    document = encoder.encode(model, name)
    write(path, document, encoder.tensors)


def check_savable(model: Any) -> None:
    """Refuse an estimator that `save` will refuse after its fit: ask before a long one.

    Parameters
    ----------
    model : estimator
        An estimator, not fitted yet.

    Raises
    ------
    InvalidTypeError
        If its class, or a parameter such as a classifier inside it, cannot be saved.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from zslearn.persistence import check_savable
    >>> from zslearn.zero_shot import DAPClassifier
    >>> check_savable(DAPClassifier())
    >>> check_savable(DAPClassifier(classifier=RandomForestClassifier()))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zslearn.exceptions.InvalidTypeError: DAPClassifier.classifier holds a ... cannot be saved ...
    """
    Encoder().encode(model, _name_in_files(model))


def _name_in_files(model: Any) -> str:
    """Return the name of an estimator that may be the whole of a model file."""
    name = estimator_name(model)
    last = last_step(model)
    if name is None or (estimator_name(last) or "").startswith("sklearn."):
        raise InvalidTypeError(
            "save takes a fitted estimator of zslearn, or a pipeline that ends in one; got a "
            f"{type(last).__qualname__}. "
            "A class of your own is allowed by zslearn.persistence.register."
        )
    return name


def load(path: str | os.PathLike[str]) -> Any:
    """Read a classifier that `save` wrote.

    No code from the file is run: it names classes of a fixed list, which `register` extends, and
    otherwise holds numbers and text.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    estimator
        The fitted classifier, with the same scores as the one saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, cut off, altered, of another program or of a newer format.
    MissingFileError
        If there is no such file.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidTypeError(f"load takes the path of a file; got {type(path).__name__}.")
    document, tensors = read(path)
    try:
        if not isinstance(document, dict) or document.get("kind") != "estimator":
            raise ModelFileError(path, "it describes no estimator")
        model = Decoder(tensors).decode(document)
        check_is_fitted(model)
        check_answers(model)
        return model
    except ModelFileError:
        raise
    except (ZslearnError, *_WRONG_SHAPE) as error:
        reason = str(error) if isinstance(error, ZslearnError) else first_line(error)
        reason = f"its content makes no model: {reason.rstrip('.')}{other_version(path)}"
        raise ModelFileError(path, reason) from error
