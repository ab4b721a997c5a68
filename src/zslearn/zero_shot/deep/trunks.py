"""EfficientNet-Lite as a trunk: the graph of `zslearn.encoders`, run by PyTorch."""

from __future__ import annotations

from typing import Any

from zslearn._optional import require
from zslearn._parameters import Either, check_value
from zslearn.encoders.efficientnet import BUILT_IN, builtin_graph


def efficientnet_trunk(name: str = "efficientnet-lite0") -> Any:
    """Return an EfficientNet-Lite trained on ImageNet, up to its last feature map.

    The weights are those that the extra ``images`` installs; nothing is downloaded. The mean over
    the places of a map is the vector that `zslearn.encoders.ImageEncoder` gives for the same
    network and pixels.

    Parameters
    ----------
    name : {"efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"}
        The network.

    Returns
    -------
    torch.nn.Module
        From pictures (n, 3, height, width), with values between 0 and 1, to maps of 1280 channels
        and a 32nd of the height and width. It cannot be trained.

    Examples
    --------
    >>> from zslearn.zero_shot.deep import efficientnet_trunk
    >>> trunk = efficientnet_trunk()
    >>> import torch
    >>> trunk(torch.rand(2, 3, 64, 64)).shape
    torch.Size([2, 1280, 2, 2])
    """
    check_value("name", name, Either(*BUILT_IN))
    require("torch", extra="deep", purpose="A trunk")
    onnx = require("onnx", extra="images", purpose=f"The network {name!r}")
    from zslearn.zero_shot.deep.graph_trunk import GraphTrunk

    return GraphTrunk(onnx.load_from_string(builtin_graph(name)).graph)
