"""The convolutional encoder and decoder in numpy, for prediction anywhere.

Weights are named ``encoder_kernel{i}``, ``encoder_bias{i}``, ``encoder_out``, ``encoder_shift`` and
``decoder_in``, ``decoder_start``, ``decoder_kernel{i}``, ``decoder_bias{i}``; normalization layers
are folded into them. Where a given trunk makes feature maps of pictures, the encoder has no kernels
of its own, and ``trunk_mean`` and ``trunk_scale`` center and scale the channels of the maps.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Weights = Mapping[str, NDArray]
# Pictures worked on at once.
_AT_ONCE = 64


def encoded_pictures(weights: Weights, maps: NDArray) -> NDArray:
    """Return the codes of pictures or feature maps, attributes first.

    Parameters
    ----------
    weights : mapping of str to ndarray
        Of the encoder.
    maps : ndarray of shape (n, height, width, channels)
        Pictures between 0 and 1, or what the trunk makes of them.
    """
    parts = [_encoded(weights, maps[i : i + _AT_ONCE]) for i in range(0, len(maps), _AT_ONCE)]
    return np.concatenate(parts)


def decoded_pictures(weights: Weights, codes: NDArray, sides: tuple[int, int]) -> NDArray:
    """Return the pictures of codes, with values between 0 and 1, or the maps of a trunk.

    Parameters
    ----------
    weights : mapping of str to ndarray
        Of the decoder.
    codes : ndarray of shape (n, n_dimensions + n_free)
        Codes.
    sides : tuple of int
        Height and width of what is made.
    """
    n_layers = _layers(weights, "decoder")
    corner, *larger = reversed(halved(sides, n_layers))
    flat = np.maximum(codes @ weights["decoder_in"] + weights["decoder_start"], 0.0)
    maps = flat.reshape(len(codes), -1, *corner).transpose(0, 2, 3, 1)
    for i, (height, width) in enumerate(larger):
        maps = doubled(maps)[:, :height, :width]
        maps = convolved(maps, weights[f"decoder_kernel{i}"], weights[f"decoder_bias{i}"])
        maps = np.maximum(maps, 0.0) if i < n_layers - 1 else maps
    if "trunk_mean" in weights:
        return maps / weights["trunk_scale"] + weights["trunk_mean"]
    return expit(maps)


def halved(sides: tuple[int, int], n_layers: int) -> list[tuple[int, int]]:
    """Return height and width before the first halving layer and after each, rounded up.

    Examples
    --------
    >>> halved((7, 8), 2)
    [(7, 8), (4, 4), (2, 2)]
    """
    return [(-(-sides[0] // 2**i), -(-sides[1] // 2**i)) for i in range(n_layers + 1)]


def _encoded(weights: Weights, maps: NDArray) -> NDArray:
    if "trunk_mean" in weights:
        maps = (maps - weights["trunk_mean"]) * weights["trunk_scale"]
    else:
        maps = maps - 0.5
    for i in range(_layers(weights, "encoder")):
        kernel, bias = weights[f"encoder_kernel{i}"], weights[f"encoder_bias{i}"]
        maps = np.maximum(convolved(maps, kernel, bias, stride=2), 0.0)
    # The mean and the largest value of every channel, wherever the object is.
    pooled = np.concatenate([maps.mean(axis=(1, 2)), maps.max(axis=(1, 2))], axis=1)
    return pooled @ weights["encoder_out"] + weights["encoder_shift"]


def _layers(weights: Weights, side: str) -> int:
    return sum(name.startswith(f"{side}_kernel") for name in weights)


def convolved(pictures: NDArray, kernel: NDArray, bias: NDArray, stride: int = 1) -> NDArray:
    """Return pictures convolved with a kernel of odd side, padded by zeros.

    Parameters
    ----------
    pictures : ndarray of shape (n, height, width, channels)
        Pictures.
    kernel : ndarray of shape (outputs, channels, side, side)
        As PyTorch keeps it.
    bias : ndarray of shape (outputs,)
        Added to every place.
    stride : int, default=1
        Every how many places there is an output.

    Returns
    -------
    ndarray of shape (n, ceil(height / stride), ceil(width / stride), outputs)

    Examples
    --------
    >>> import numpy as np
    >>> picture = np.arange(9.0).reshape(1, 3, 3, 1)
    >>> convolved(picture, np.ones((1, 1, 3, 3)), np.zeros(1))[0, 1, 1]
    array([36.])
    """
    side = kernel.shape[-1]
    edge = side // 2
    padded = np.pad(pictures, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    # (n, height, width, channels, side, side), a view
    windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(1, 2))
    windows = windows[:, ::stride, ::stride]
    made: NDArray = np.tensordot(windows, kernel, axes=((3, 4, 5), (1, 2, 3)))
    return made + bias


def doubled(pictures: NDArray) -> NDArray:
    """Return pictures of twice the height and width, every place repeated."""
    return pictures.repeat(2, axis=1).repeat(2, axis=2)
