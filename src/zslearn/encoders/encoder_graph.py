"""The network of an image encoder as an ONNX graph, for those who build on it."""

from __future__ import annotations

from pathlib import Path

from zslearn._files import check_is_file
from zslearn.encoders.efficientnet import BUILT_IN, builtin_graph
from zslearn.exceptions import InvalidInputError


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
