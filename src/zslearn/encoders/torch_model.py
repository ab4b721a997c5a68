"""What the adapters for PyTorch models share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.encoders.hub import hash_weights
from zslearn.encoders.image_models import ImageModel
from zslearn.encoders.preprocessing import Preprocessing


def model_of_torch(
    module: Any, forward: Callable[[Any], Any], preprocessing: Preprocessing
) -> ImageModel:
    """Return the model whose vectors `forward` computes with the weights of `module`."""
    torch = require("torch", extra="hub", purpose="A model of PyTorch")

    def run(pictures: NDArray[np.float32]) -> NDArray[np.float32]:
        with torch.inference_mode():
            vectors: NDArray[np.float32] = forward(torch.from_numpy(pictures)).float().numpy()
        return vectors

    width = run(preprocessing(np.zeros((8, 8, 3), np.uint8))).shape[1]
    return ImageModel(hash_weights(module), preprocessing, width, run)


def preprocessing_of(
    size: int, crop: float, mean: Sequence[float], std: Sequence[float], interpolation: object
) -> Preprocessing:
    """Return the preprocessing of a model whose mean and deviation are on the scale 0 to 1."""
    return Preprocessing(
        size,
        crop,
        tuple(255 * value for value in mean),  # type: ignore[arg-type]
        tuple(255 * value for value in std),  # type: ignore[arg-type]
        "bilinear" if interpolation in ("bilinear", 2) else "bicubic",
    )
