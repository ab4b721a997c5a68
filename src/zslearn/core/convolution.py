"""Convolutions of pictures in plain numpy, enough to run a small trained network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def convolved(pictures: Array, kernel: Array, bias: Array, stride: int = 1) -> Array:
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
    made: Array = np.tensordot(windows, kernel, axes=((3, 4, 5), (1, 2, 3)))
    return made + bias


def doubled(pictures: Array) -> Array:
    """Return pictures of twice the height and width, every place repeated."""
    return pictures.repeat(2, axis=1).repeat(2, axis=2)
