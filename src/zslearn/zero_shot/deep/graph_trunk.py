"""A network of `zslearn.encoders.efficientnet` in PyTorch, without the mean at its end."""

from __future__ import annotations

from typing import Any

import onnx
import torch
from torch import nn
from torch.nn import functional


class GraphTrunk(nn.Module):
    """Runs the convolutions, cuts and sums of an ONNX graph, in their order.

    Parameters
    ----------
    graph : onnx.GraphProto
        From ``pictures`` on; "same" padding. Nodes after the last sum, cut or convolution are left
        out.
    """

    def __init__(self, graph: Any) -> None:
        super().__init__()
        for one in graph.initializer:
            self.register_buffer(one.name, torch.tensor(onnx.numpy_helper.to_array(one)))
        self.nodes = [_plain(node) for node in graph.node if node.op_type in _OPERATORS]

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return the last map of pictures of shape (n, 3, height, width), between 0 and 1."""
        values = dict(self.named_buffers()) | {"pictures": (255.0 * pictures - 127.0) / 128.0}
        last = pictures
        for operator, inputs, output, settings in self.nodes:
            last = _OPERATORS[operator](*(values[name] for name in inputs), **settings)
            values[output] = last
        return last


def _plain(node: Any) -> tuple[str, tuple[str, ...], str, dict[str, int]]:
    """Return operator, inputs, output and settings of a node."""
    found = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    settings = {"stride": found["strides"][0], "groups": found["group"]} if found else {}
    return node.op_type, tuple(node.input), node.output[0], settings


def _convolved(
    maps: torch.Tensor, kernel: torch.Tensor, bias: torch.Tensor, stride: int, groups: int
) -> torch.Tensor:
    """Convolve with padding "same": what is odd of it goes to the right and below."""
    edges: list[int] = []
    for size, side in zip(reversed(maps.shape[2:]), reversed(kernel.shape[2:]), strict=True):
        whole = max((-(-size // stride) - 1) * stride + side - size, 0)
        edges += [whole // 2, whole - whole // 2]
    return functional.conv2d(functional.pad(maps, edges), kernel, bias, stride, groups=groups)


_OPERATORS: dict[str, Any] = {"Conv": _convolved, "Clip": torch.clamp, "Add": torch.add}
