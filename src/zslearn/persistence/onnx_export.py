"""Scores as an ONNX graph, for programs without Python."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn import __version__
from zslearn._files import replacing
from zslearn._optional import require
from zslearn.core.nearest import Targets
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.zero_shot import Recogniser, ZeroShotClassifier
from zslearn.zero_shot.inputs import checked_k
from zslearn.zero_shot.score_form import ScoreForm

# Old enough for every runtime of recent years; nothing newer is needed.
OPSET = 18
IR_VERSION = 9


def export_onnx(
    model: ZeroShotClassifier | Recogniser,
    path: str | os.PathLike[str],
    *,
    candidates: Sequence[Any] | None = None,
    top_k: int | None = None,
) -> None:
    """Write the scoring of a fitted classifier or of a recogniser as an ONNX model.

    The input is ``features`` (float32, samples × n_features), as the classifier takes them; the
    output is ``scores`` (samples × candidates), those of `decision_function`. The names of the
    candidates are a JSON list in the model's metadata under ``class_names``.

    Parameters
    ----------
    model : ZeroShotClassifier or Recogniser
        Fitted, with a method whose scores are products of the features with class vectors: the
        semantic autoencoder, ridge regression, ESZSL, prototype regression, ALE, SJE, DS-SJE,
        DeViSE, SynC, and these calibrated.
    path : path-like
        Where to write; an existing file is replaced.
    candidates : sequence of class names, optional
        Columns of the scores; by default every class with a signature. A recogniser has its own.
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
    recogniser = _recogniser(model, candidates)
    form, names = recogniser.form(), recogniser.names
    graph = _Graph(require("onnx", extra="onnx", purpose="ONNX export"))
    graph.node("Identity", [_scores(graph, form)], "scores")
    if top_k is not None:
        graph.top_k("scores", checked_k(top_k, len(names), "top_k"))
    metadata = {"class_names": json.dumps(names.tolist()), "producer": f"zslearn {__version__}"}
    content = graph.serialized(recogniser.n_features, metadata)
    with replacing(path) as file:
        file.write(content)


def _recogniser(model: Any, candidates: Sequence[Any] | None) -> Recogniser:
    if isinstance(model, ZeroShotClassifier):
        return model.recogniser(candidates)
    if not isinstance(model, Recogniser):
        raise InvalidTypeError(
            "export_onnx takes a zero-shot classifier or a recogniser; got a "
            f"{type(model).__qualname__}."
        )
    if candidates is not None:
        raise InvalidInputError(
            "a recogniser already has its candidates; leave out candidates=, or make another by "
            "classifier.recogniser(candidates)."
        )
    return model


def _scores(graph: _Graph, form: ScoreForm) -> str:
    """Add the nodes of all branches; return the name of their mean, less the bias."""
    x = _prepared_rows(graph, form)
    parts = []
    for coef, targets in form.branches:
        code = x if coef is None else graph.node("MatMul", [x, graph.constant(coef.T)])
        parts.append(_compared(graph, code, targets))
    scores = parts[0] if len(parts) == 1 else graph.node("Mean", parts)
    if form.bias is None:
        return scores
    return graph.node("Sub", [scores, graph.constant(form.bias[None])])


def _prepared_rows(graph: _Graph, form: ScoreForm) -> str:
    """Add the scaling of samples, and their power if there is one."""
    unit = form.feature_norm == "l2"
    x = graph.unit_rows("features") if unit else "features"
    if form.power == 1.0:
        return x
    size = graph.node("Pow", [graph.node("Abs", [x]), graph.constant(np.array([form.power]))])
    powered = graph.node("Mul", [graph.node("Sign", [x]), size])
    return graph.unit_rows(powered) if unit else powered


def _compared(graph: _Graph, x: str, targets: Targets) -> str:
    """Add the scores of samples `x` against one vector per class."""
    if targets.comparison.unit:
        x = graph.unit_rows(x)
    products = graph.node("MatMul", [x, graph.constant(targets.vectors.T)])
    if targets.offsets is None:
        return products
    offsets = graph.constant(targets.offsets[None])
    if not targets.comparison.distance:
        return graph.node("Add", [products, offsets])
    # −max(‖x‖² + ‖c‖² − 2 x·c, 0)
    total = graph.node("Sub", [graph.reduced("ReduceSumSquare", x), offsets])
    twice = graph.node("Mul", [products, graph.constant(np.array([2.0]))])
    return graph.node("Neg", [graph.node("Relu", [graph.node("Sub", [total, twice])])])


class _Graph:
    """Collects nodes and constants under unique names."""

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
