"""Color spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# sRGB primaries to CIE XYZ and the D65 white point of the 2° observer (IEC 61966-2-1).
_XYZ = np.array(
    [
        [0.412453, 0.357580, 0.180423],
        [0.212671, 0.715160, 0.072169],
        [0.019334, 0.119193, 0.950227],
    ]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)  # ITU-R BT.601

# f(t) is the cube root above (6/29)³ and a straight line below it.
_KNEE = (6 / 29) ** 3


def rgb_to_lab(rgb: ArrayLike) -> NDArray[np.float32]:
    """Convert 8-bit sRGB to CIE L*a*b* under D65.

    Parameters
    ----------
    rgb : array-like of shape (..., 3), uint8
        Pixels.

    Returns
    -------
    ndarray of shape (..., 3), float32
        L in 0..100, a and b about -110..110.

    Examples
    --------
    >>> import numpy as np
    >>> rgb_to_lab(np.array([[255, 0, 0]], dtype=np.uint8)).round(1)
    array([[53.2, 80.1, 67.2]], dtype=float32)
    """
    pixels = np.asarray(rgb, dtype=np.uint8)
    f = _cube_root_or_line(_LINEAR[pixels] @ _TO_RELATIVE_XYZ)
    lab = np.empty_like(f)
    lab[..., 0] = 116 * f[..., 1] - 16
    lab[..., 1] = 500 * (f[..., 0] - f[..., 1])
    lab[..., 2] = 200 * (f[..., 1] - f[..., 2])
    return lab


def rgb_to_intensity(rgb: ArrayLike) -> NDArray[np.float32]:
    """Return luma in 0..1 of 8-bit sRGB pixels."""
    return np.asarray(rgb, dtype=np.uint8) @ (_LUMA / np.float32(255))


def _cube_root_or_line(t: NDArray[Any]) -> NDArray[Any]:
    return np.where(t > _KNEE, np.cbrt(t), t * np.float32(841 / 108) + np.float32(4 / 29))


def _linear_table() -> NDArray[np.float32]:
    """Linear light of each of the 256 values of a channel."""
    value = np.arange(256) / 255
    return np.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92).astype("f4")


_LINEAR = _linear_table()
_TO_RELATIVE_XYZ = (_XYZ / _WHITE[:, None]).T.astype(np.float32)
