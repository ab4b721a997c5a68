"""The semantic autoencoder's scores as an ONNX graph, for programs without Python."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from zslearn import __version__
from zslearn._files import replacing
from zslearn._optional import require
from zslearn.core.nearest import unit_rows
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.zero_shot import SAEClassifier

# Old enough for every runtime of the last years; nothing newer is needed.
OPSET = 18
IR_VERSION = 9


def export_onnx(
    model: SAEClassifier,
    path: str | os.PathLike[str],
    *,
    candidates: Sequence[Any] | None = None,
    top_k: int | None = None,
) -> None:
    """Write the scoring of a fitted semantic autoencoder as an ONNX model.

    The input is ``features`` (float32, samples × n_features), as the classifier takes them; the
    output is ``scores`` (samples × candidates), those of `decision_function`. The names of the
    candidates are a JSON list in the model's metadata under ``class_names``.

    Parameters
    ----------
    model : SAEClassifier
        Fitted, of any direction and metric.
    path : path-like
        Where to write; an existing file is replaced.
    candidates : sequence of class names, optional
        Columns of the scores; by default every class with a signature.
    top_k : int, optional
        Also give the outputs ``top_indices`` and ``top_scores``, the k best candidates.

    Raises
    ------
    MissingExtraError
        If the package onnx is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.persistence import export_onnx
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> model = SAEClassifier(data.signatures, lam=0.1).fit(data.X, data.y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onnx")
    >>> export_onnx(model, path, top_k=3)  # doctest: +SKIP
    """
    if not isinstance(model, SAEClassifier):
        raise InvalidTypeError(
            f"export_onnx takes an SAEClassifier; got a {type(model).__qualname__}. Use "
            "zslearn.persistence.save for other methods."
        )
    check_is_fitted(model)
    graph = _Graph(require("onnx", extra="onnx", purpose="ONNX export"))
    names = model.candidate_names(candidates)
    scores = _scores(graph, model, model._normalized(names))
    graph.node("Identity", [scores], "scores")
    if top_k is not None:
        _check_k(top_k, len(names))
        graph.top_k("scores", top_k)
    content = graph.serialized(
        model.n_features_in_,
        {
            "class_names": json.dumps(names.tolist()),
            "direction": model.direction,
            "metric": model.metric,
            "producer": f"zslearn {__version__}",
        },
    )
    with replacing(path) as file:
        file.write(content)


def _scores(graph: _Graph, model: SAEClassifier, signatures: NDArray[Any]) -> str:
    """Add the nodes of all directions in use; return the name of their mean."""
    x = graph.unit_rows("features") if model.feature_norm == "l2" else "features"
    parts = []
    if model.direction != "decode":
        code = graph.node("MatMul", [x, graph.constant(model.coef_encode_.T)])
        parts.append(_compared(graph, code, signatures, model.metric))
    if model.direction != "encode":
        parts.append(_compared(graph, x, signatures @ model.coef_decode_, model.metric))
    if len(parts) == 1:
        return parts[0]
    return graph.node("Mean", parts)


def _compared(graph: _Graph, x: str, classes: NDArray[Any], metric: str) -> str:
    """Add the scores of samples `x` against one vector a class."""
    if metric == "cosine":
        x, classes = graph.unit_rows(x), unit_rows(classes)
    products = graph.node("MatMul", [x, graph.constant(classes.T)])
    if metric != "euclidean":
        return products
    # -max(‖x‖² + ‖c‖² - 2 x·c, 0)
    squares = graph.constant(np.einsum("ij,ij->i", classes, classes)[None])
    total = graph.node("Add", [graph.reduced("ReduceSumSquare", x), squares])
    twice = graph.node("Mul", [products, graph.constant(np.array([2.0]))])
    return graph.node("Neg", [graph.node("Relu", [graph.node("Sub", [total, twice])])])


class _Graph:
    """Collects nodes and constants under names of their own."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._outputs = [self._value("scores", "FLOAT")]

    def node(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """Add an operator with one output; return the output's name."""
        name = output or f"n{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: NDArray[Any], dtype: Any = np.float32) -> str:
        """Add a constant; return its name."""
        name = f"c{len(self._constants)}"
        array = np.ascontiguousarray(value, dtype=dtype)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def reduced(self, operator: str, x: str) -> str:
        """Reduce each row of `x` to one number, kept as a column."""
        axes = self.constant(np.array([1]), np.int64)
        return self.node(operator, [x, axes], keepdims=1)

    def unit_rows(self, x: str) -> str:
        """Scale each row to unit length; rows of zeros stay zero."""
        tiny = self.constant(np.array([np.finfo(np.float32).tiny]))
        return self.node("Div", [x, self.node("Max", [self.reduced("ReduceL2", x), tiny])])

    def top_k(self, scores: str, k: int) -> None:
        """Add the k best columns of each row as two more outputs."""
        outputs = ["top_scores", "top_indices"]
        inputs = [scores, self.constant(np.array([k]), np.int64)]
        self._nodes.append(self._onnx.helper.make_node("TopK", inputs, outputs, axis=1))
        kinds = zip(outputs, ("FLOAT", "INT64"), strict=True)
        self._outputs += [self._value(name, kind) for name, kind in kinds]

    def serialized(self, n_features: int, metadata: dict[str, str]) -> bytes:
        """Return the checked model as bytes."""
        helper = self._onnx.helper
        features = self._value("features", "FLOAT", n_features)
        graph = helper.make_graph(
            self._nodes, "zslearn", [features], self._outputs, initializer=self._constants
        )
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, producer_name="zslearn")
        model.ir_version = IR_VERSION
        helper.set_model_props(model, metadata)
        self._onnx.checker.check_model(model, full_check=True)
        content: bytes = model.SerializeToString()
        return content

    def _value(self, name: str, kind: str, width: int | None = None) -> Any:
        number = getattr(self._onnx.TensorProto, kind)
        return self._onnx.helper.make_tensor_value_info(name, number, ["samples", width])


def _check_k(top_k: int, n_candidates: int) -> None:
    if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= n_candidates:
        raise InvalidInputError(
            f"top_k must be a whole number between 1 and the number of candidates, "
            f"{n_candidates}; got {top_k!r}."
        )
