"""Nodes and constants of an ONNX graph under names of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line
from zslearn.exceptions import ModelFileError

# Old enough for every runtime of recent years; nothing newer is needed.
OPSET = 18
IR_VERSION = 9
# Names of the standard operators' domain.
_PLAIN = ("", "ai.onnx")


class Value(NamedTuple):
    """An input or output: its name, type of element, and sizes, those that vary by a name."""

    name: str
    kind: str
    shape: tuple[Any, ...]


class Graph:
    """Collects nodes and constants under unique names."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._outputs = [Value("scores", "FLOAT", ("samples", None))]
        self._opset, self._ir_version = OPSET, IR_VERSION
        self._imports: list[Any] = []

    def node(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """Add an operator with one output; return the output's name."""
        name = output or f"n{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """Add a constant; return its name."""
        name = f"c{len(self._constants)}"
        array = np.asarray(value, dtype=dtype, order="C")
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, *values: int) -> str:
        """Add a constant vector of whole numbers."""
        return self.constant(values, np.int64)

    def reduced(self, operator: str, x: str) -> str:
        """Reduce each row of `x` to one number, kept as a column."""
        return self.node(operator, [x, self.integers(1)], keepdims=1)

    def unit_rows(self, x: str) -> str:
        """Scale each row to unit length; rows of zeros stay zero."""
        tiny = self.constant([np.finfo(np.float32).tiny])
        return self.node("Div", [x, self.node("Max", [self.reduced("ReduceL2", x), tiny])])

    def as_float(self, x: str) -> str:
        """Convert to single precision."""
        return self.node("Cast", [x], to=self._onnx.TensorProto.FLOAT)

    def size(self, x: str, axis: int) -> str:
        """Add the length of an axis as a number of single precision."""
        length = self.node("Gather", [self.node("Shape", [x]), self.constant(axis, np.int64)])
        return self.as_float(length)

    def top_k(self, scores: str, k: int) -> None:
        """Add the k best columns of each row as two more outputs."""
        outputs = ["top_scores", "top_indices"]
        inputs = [scores, self.integers(k)]
        self._nodes.append(self._onnx.helper.make_node("TopK", inputs, outputs, axis=1))
        kinds = zip(outputs, ("FLOAT", "INT64"), strict=True)
        self._outputs += [Value(name, kind, ("samples", None)) for name, kind in kinds]

    def labels(self, scores: str, names: NDArray[Any]) -> None:
        """Add the name of the best column of each row, the first of equal ones, as an output."""
        text = names.dtype.kind == "U"
        table = self.constant(names, object if text else np.int64)
        best = self.node("ArgMax", [scores], axis=1, keepdims=0)
        self.node("Gather", [table, best], "labels", axis=0)
        self._outputs.append(Value("labels", "STRING" if text else "INT64", ("samples",)))

    def inlined(self, content: bytes, x: str, name: str) -> str:
        """Add a whole network of one input, `x`; return the name of its first output."""
        model = self._model_of(content, name)
        inner = self._onnx.compose.add_prefix(model, "encoder/").graph
        constants = {tensor.name for tensor in inner.initializer}
        taken = next(value.name for value in inner.input if value.name not in constants)
        self.node("Identity", [x], taken)
        self._nodes += inner.node
        self._constants += inner.initializer
        output: str = inner.output[0].name
        return output

    def serialized(self, given: Value, metadata: dict[str, str]) -> bytes:
        """Return the checked model, of one input, as bytes."""
        helper = self._onnx.helper
        ends = [self._proto(given)], [self._proto(value) for value in self._outputs]
        graph = helper.make_graph(self._nodes, "zslearn", *ends, initializer=self._constants)
        opsets = [helper.make_opsetid("", self._opset), *self._imports]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="zslearn")
        model.ir_version = self._ir_version
        helper.set_model_props(model, metadata)
        self._onnx.checker.check_model(model, full_check=True)
        content: bytes = model.SerializeToString()
        return content

    def _model_of(self, content: bytes, name: str) -> Any:
        """Read a network and bring it and this graph to one version of the operators."""
        onnx = self._onnx
        try:
            model = onnx.load_model_from_string(content)
            version = next(item.version for item in model.opset_import if item.domain in _PLAIN)
            if version < OPSET:
                model = onnx.version_converter.convert_version(model, OPSET)
        except Exception as error:  # of protobuf, onnx and its converter; they share no base
            reason = f"onnx cannot read it or bring it to version {OPSET} ({first_line(error)})"
            raise ModelFileError(name, reason, "network") from error
        self._opset = max(OPSET, version)
        self._ir_version = max(IR_VERSION, model.ir_version)
        self._imports = [item for item in model.opset_import if item.domain not in _PLAIN]
        return model

    def _proto(self, value: Value) -> Any:
        number = getattr(self._onnx.TensorProto, value.kind)
        return self._onnx.helper.make_tensor_value_info(value.name, number, value.shape)
