"""What every image model offers, and the names by which one is opened."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zslearn.encoders.preprocessing import Preprocessing
from zslearn.exceptions import InvalidInputError, did_you_mean

# Each has its own file, the only one that may import its package.
_KINDS = ("onnx", "timm", "open_clip", "hf")


@dataclass(frozen=True)
class ImageModel:
    """A network from prepared pictures to vectors.

    Attributes
    ----------
    sha256 : str
        SHA-256 of its weights.
    preprocessing : Preprocessing
        How it wants its pictures.
    n_features : int
        Length of a vector.
    run : callable
        From an array (n, 3, size, size), float32, to one of shape (n, n_features), float32; safe in
        several threads.
    """

    sha256: str
    preprocessing: Preprocessing
    n_features: int
    run: Callable[[NDArray[np.float32]], NDArray[np.float32]]


def open_image_model(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Open a model by its name.

    Parameters
    ----------
    name : str
        A built-in name, "onnx:FILE", "timm:NAME", "open_clip:NAME/TAG" or "hf:NAME".
    preprocessing : Preprocessing, optional
        Replaces the model's own settings.

    Returns
    -------
    ImageModel
    """
    from zslearn.encoders.efficientnet import BUILT_IN, open_builtin

    kind, _, rest = name.partition(":")
    if name in BUILT_IN:
        return open_builtin(name, preprocessing)
    if kind in _KINDS and rest:
        module = importlib.import_module(f"zslearn.encoders.{kind}_model")
        model: ImageModel = module.open_model(rest, preprocessing)
        return model
    hint = did_you_mean(name, BUILT_IN)
    raise InvalidInputError(
        f"model must be {', '.join(map(repr, BUILT_IN))}, 'onnx:FILE', 'timm:NAME', "
        f"'open_clip:NAME/TAG' or 'hf:NAME'; got {name!r}.{hint}"
    )
