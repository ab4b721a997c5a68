"""Nodes and constants of an ONNX graph under names of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Old enough for every runtime of recent years; nothing newer is needed.
OPSET = 18
IR_VERSION = 9


class Graph:
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
