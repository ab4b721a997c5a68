"""The convolutional encoder and decoder in numpy, for prediction anywhere.

Weights are named ``encoder_kernel{i}``, ``encoder_bias{i}``, ``encoder_out``, ``encoder_shift`` and
``decoder_in``, ``decoder_start``, ``decoder_kernel{i}``, ``decoder_bias{i}``; normalization layers
are folded into them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from zslearn.core.convolution import convolved, doubled

Weights = Mapping[str, NDArray]
# Pictures worked on at once.
_AT_ONCE = 64


def encoded_pictures(weights: Weights, pictures: NDArray) -> NDArray:
    """Return the codes of pictures of shape (n, height, width, 3), attributes first."""
    parts = [
        _encoded(weights, pictures[i : i + _AT_ONCE]) for i in range(0, len(pictures), _AT_ONCE)
    ]
    return np.concatenate(parts)


def decoded_pictures(weights: Weights, codes: NDArray, corner: tuple[int, int]) -> NDArray:
    """Return the pictures of codes, with values between 0 and 1.

    Parameters
    ----------
    weights : mapping of str to ndarray
        Of the decoder.
    codes : ndarray of shape (n, n_dimensions + n_free)
        Codes.
    corner : tuple of int
        Height and width of the smallest map.
    """
    flat = np.maximum(codes @ weights["decoder_in"] + weights["decoder_start"], 0.0)
    maps = flat.reshape(len(codes), -1, *corner).transpose(0, 2, 3, 1)
    last = _layers(weights, "decoder") - 1
    for i in range(last + 1):
        maps = doubled(maps)
        maps = convolved(maps, weights[f"decoder_kernel{i}"], weights[f"decoder_bias{i}"])
        maps = np.maximum(maps, 0.0) if i < last else expit(maps)
    return maps


def _encoded(weights: Weights, pictures: NDArray) -> NDArray:
    maps = pictures - 0.5
    for i in range(_layers(weights, "encoder")):
        kernel, bias = weights[f"encoder_kernel{i}"], weights[f"encoder_bias{i}"]
        maps = np.maximum(convolved(maps, kernel, bias, stride=2), 0.0)
    # The mean and the largest value of every channel, wherever the object is.
    pooled = np.concatenate([maps.mean(axis=(1, 2)), maps.max(axis=(1, 2))], axis=1)
    return pooled @ weights["encoder_out"] + weights["encoder_shift"]


def _layers(weights: Weights, side: str) -> int:
    return sum(name.startswith(f"{side}_kernel") for name in weights)
