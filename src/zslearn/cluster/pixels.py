"""The descriptor of a pixel: texture and color of the patch around it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from zslearn._parameters import Whole, check_value
from zslearn.exceptions import InvalidInputError

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


CELLS = 4  # cells along each side of a patch
CELL = 2  # pixels along each side of a cell
BINS = 8  # orientations
CLIP = 0.2
# Below this length of the 128 sums (intensities in 0..1) a patch is flat and has no direction.
FLAT = 1e-4

Array = NDArray[np.float32]


def dense_sift(intensity: ArrayLike, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Compute the SIFT descriptor of the 8 × 8 patch centered at every pixel.

    The patch of pixel (i, j) covers rows i-4 .. i+3 and columns j-4 .. j+3 and has 4 × 4 cells of
    2 × 2 pixels. Each pixel of a cell votes for its two nearest of 8 gradient directions, with its
    gradient's length shared linearly between them. The 128 sums are scaled to unit length, clipped
    at 0.2 and scaled again. Outside the picture the edge is repeated; gradients are central
    differences. There is no Gaussian window and no rotation to a main direction.

    Parameters
    ----------
    intensity : array-like of shape (height, width)
        Gray values in 0..1.
    out : ndarray of shape (height, width, 128), float32, optional
        Where to write the result.

    Returns
    -------
    ndarray of shape (height, width, 128), float32
        Ordered by cell row, cell column, direction (0 points right, 2 down); all zero where the
        patch is flat.

    Examples
    --------
    >>> import numpy as np
    >>> ramp = np.tile(np.linspace(0, 1, 20), (20, 1))
    >>> descriptor = dense_sift(ramp)[10, 10].reshape(4, 4, 8)
    >>> descriptor[0, 0].round(2)
    array([0.25, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ], dtype=float32)
    """
    gray = np.asarray(intensity, dtype=np.float32)
    if gray.ndim != 2 or gray.size == 0:
        raise InvalidInputError(
            f"intensity must be a picture of shape (height, width); got shape {gray.shape}."
        )
    height, width = gray.shape
    cells = _cell_sums(_votes(gray))
    answer = np.empty((height, width, 128), np.float32) if out is None else out
    patches = _patch_view(cells, height, width)
    norm = np.sqrt(_patch_energy(cells, height, width))
    np.multiply(patches, _inverse(norm, FLAT), out=answer.reshape(patches.shape, copy=False))
    np.minimum(answer, CLIP, out=answer)
    length = np.sqrt(np.einsum("ijk,ijk->ij", answer, answer))
    # Clipping leaves at least 0.2 of a length of 1, so only flat patches are below a tenth.
    answer *= _inverse(length, 0.1)[:, :, :, 0, 0]
    return answer


def _votes(gray: Array) -> Array:
    """Length of the gradient shared between 8 directions, on the picture grown by half a patch."""
    side = CELLS * CELL // 2
    padded = np.pad(gray, side + 1, mode="edge")
    dx = (padded[1:-1, 2:] - padded[1:-1, :-2]) / 2
    dy = (padded[2:, 1:-1] - padded[:-2, 1:-1]) / 2
    # The patch ends one pixel earlier below and to the right of its center.
    dx, dy = dx[:-1, :-1], dy[:-1, :-1]
    angle = np.arctan2(dy, dx) * np.float32(BINS / (2 * np.pi))
    low = np.floor(angle)
    share, length = angle - low, np.hypot(dx, dy)
    bins = low.astype(np.intp) % BINS
    votes = np.zeros((*length.shape, BINS), np.float32)
    np.put_along_axis(votes, bins[..., None], (length * (1 - share))[..., None], axis=2)
    np.put_along_axis(votes, (bins[..., None] + 1) % BINS, (length * share)[..., None], axis=2)
    return votes


def _cell_sums(votes: Array) -> Array:
    """Sum of the votes over the 2 × 2 cell that starts at each pixel."""
    rows = votes[:-1] + votes[1:]
    return rows[:, :-1] + rows[:, 1:]


def _patch_view(cells: Array, height: int, width: int) -> Array:
    """View of shape (height, width, 4, 4, 8): the cells of the patch of each pixel."""
    reach = (CELLS - 1) * CELL + 1
    windows = sliding_window_view(cells, (reach, reach), axis=(0, 1))[:, :, :, ::CELL, ::CELL]
    return windows[:height, :width].transpose(0, 1, 3, 4, 2)


def _patch_energy(cells: Array, height: int, width: int) -> Array:
    """Squared length of the 128 sums of each pixel, from sums over cells."""
    energy = np.einsum("ijk,ijk->ij", cells, cells)
    windows = sliding_window_view(energy, ((CELLS - 1) * CELL + 1,) * 2)[:height, :width]
    return windows[:, :, ::CELL, ::CELL].sum(axis=(2, 3))


def _inverse(length: Array, least: float) -> Array:
    """``1 / length``, zero where it is below `least`; shape (height, width, 1, 1, 1)."""
    shown = length >= least
    return np.divide(1, length, out=np.zeros_like(length), where=shown)[:, :, None, None, None]


#: Which columns of `pixel_features` hold what.
PIXEL_FEATURES = {
    "sift": slice(0, 128),
    "lab": slice(128, 131),
    "rgb": slice(131, 134),
    "intensity": slice(134, 135),
}
N_FEATURES = 135


def pixel_features(rgb: ArrayLike) -> NDArray[np.float32]:
    """Describe every pixel by SIFT and the mean color of the 8 × 8 patch around it.

    Parameters
    ----------
    rgb : array-like of shape (height, width, 3), uint8
        Picture.

    Returns
    -------
    ndarray of shape (height * width, 135), float32
        Row by row: 128 of `dense_sift`, then patch means of L*a*b* (L in 0..100), of RGB and of
        intensity (both in 0..1); `PIXEL_FEATURES` names the columns. Intensity is a weighted sum
        of RGB, so the 135 columns have rank 134 at most.

    Examples
    --------
    >>> import numpy as np
    >>> X = pixel_features(np.full((10, 12, 3), 255, dtype=np.uint8))
    >>> X.shape
    (120, 135)
    >>> X[0, PIXEL_FEATURES["rgb"]]
    array([1., 1., 1.], dtype=float32)
    """
    picture = np.asarray(rgb)
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.size == 0:
        raise InvalidInputError(
            f"rgb must be a picture of shape (height, width, 3); got shape {picture.shape}."
        )
    if picture.dtype != np.uint8:
        raise InvalidInputError(f"rgb must hold 8-bit values (uint8); got {picture.dtype}.")
    height, width = picture.shape[:2]
    intensity = rgb_to_intensity(picture)
    colors = (rgb_to_lab(picture), picture / np.float32(255), intensity[:, :, None])
    features = np.empty((height, width, N_FEATURES), np.float32)
    dense_sift(intensity, out=features[:, :, PIXEL_FEATURES["sift"]])
    features[:, :, 128:] = patch_means(np.concatenate(colors, axis=2))
    return features.reshape(height * width, N_FEATURES)
