"""Means over the patch around every pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from zslearn._parameters import Whole, check_value
from zslearn.exceptions import InvalidInputError


def patch_means(channels: ArrayLike, size: int = 8) -> NDArray[np.float32]:
    """Average every channel over the patch centered at each pixel.

    The patch of pixel i covers i - size // 2 .. i + (size - 1) // 2 along each axis; outside the
    picture the edge is repeated.

    Parameters
    ----------
    channels : array-like of shape (height, width, n_channels)
        The picture.
    size : int, default=8
        Pixels along each side of the patch.

    Returns
    -------
    ndarray of shape (height, width, n_channels), float32

    Examples
    --------
    >>> import numpy as np
    >>> patch_means(np.arange(4.0).reshape(1, 4, 1), size=2)[0, :, 0]
    array([0. , 0.5, 1.5, 2.5], dtype=float32)
    """
    picture = np.asarray(channels, dtype=np.float32)
    if picture.ndim != 3 or picture.size == 0:
        raise InvalidInputError(
            f"channels must have shape (height, width, n_channels); got shape {picture.shape}."
        )
    check_value("size", size, Whole(1))
    # Summing in float64 keeps the running sums of the filter exact enough for float32.
    means = ndimage.uniform_filter1d(picture, size, axis=0, mode="nearest", output=np.float64)
    return ndimage.uniform_filter1d(means, size, axis=1, mode="nearest", output=np.float32)
