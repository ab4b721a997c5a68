"""The descriptor of a pixel: texture and color of the patch around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.exceptions import InvalidInputError
from zslearn.features.color import rgb_to_intensity, rgb_to_lab
from zslearn.features.patches import patch_means
from zslearn.features.sift import dense_sift

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
