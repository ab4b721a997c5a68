"""SIFT of the patch around every pixel, upright and at one scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from zslearn.exceptions import InvalidInputError

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
