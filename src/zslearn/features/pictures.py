"""Picture files to arrays and back; the one place that touches Pillow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.exceptions import InvalidInputError, MissingFileError

Pixels = NDArray[np.uint8]
IMAGE_SUFFIXES = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
_ORIENTATION = 0x0112  # EXIF tag; 5 to 8 are turned by a quarter


def read_rgb(path: str | Path, *, height: int | None = None, nearest: bool = False) -> Pixels:
    """Read a picture as RGB, upright, scaled to a height with its proportions kept.

    Parameters
    ----------
    path : str or Path
        Any format Pillow reads.
    height : int, optional
        Rows of the answer; by default those of the file.
    nearest : bool, default=False
        Take the nearest pixel, as label pictures need, instead of a bicubic average.

    Returns
    -------
    ndarray of shape (height, width, 3), uint8
    """
    ImageOps = require("PIL.ImageOps", extra="images", purpose="Reading pictures")
    with _opened(path) as file:
        picture = np.asarray(ImageOps.exif_transpose(file).convert("RGB"))
    if height is None:
        return picture
    size = height, scaled_width((picture.shape[1], picture.shape[0]), height)
    return nearest_scaled(picture, size) if nearest else scaled(picture, size)


def scaled(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Scale RGB pixels to (height, width) by bicubic averages."""
    if pixels.shape[:2] == size:
        return pixels
    Image = require("PIL.Image", extra="images", purpose="Scaling pictures")
    return np.asarray(Image.fromarray(pixels).resize(size[::-1], Image.Resampling.BICUBIC))


def nearest_scaled(pixels: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Scale an array of any kind to (height, width), taking the pixel nearest to each center."""
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(np.intp)
        for new, old in zip(size, pixels.shape[:2], strict=True)
    )
    return pixels[rows[:, None], columns]


def picture_size(path: str | Path) -> tuple[int, int]:
    """Return (width, height) of a picture file as `read_rgb` gives it, without decoding it."""
    with _opened(path) as file:
        width, height = file.size
        turned = file.getexif().get(_ORIENTATION, 1) >= 5
    return (height, width) if turned else (width, height)


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """Open a picture; whatever is wrong with the file becomes one kind of error."""
    Image = require("PIL.Image", extra="images", purpose="Reading pictures")
    try:
        with Image.open(path) as file:
            yield file
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no picture {path}.") from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InvalidInputError(
            f"{path} cannot be read as a picture ({_reason(error)}). Replace or remove the file."
        ) from error


def scaled_width(size: tuple[int, int], height: int) -> int:
    """Width that keeps the proportions of (width, height) at another height."""
    if height < 1:
        raise InvalidInputError(f"height must be at least 1 pixel; got {height}.")
    return max(1, round(size[0] * height / size[1]))


def write_png(path: str | Path, pixels: NDArray[Any]) -> None:
    """Write uint8 pixels as PNG: whole or not at all."""
    Image = require("PIL.Image", extra="images", purpose="Writing pictures")
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        Image.fromarray(pixels).save(part, format="PNG")
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def picture_files(folder: str | Path) -> list[Path]:
    """Return the picture files of a folder in the order of their names."""
    root = Path(folder)
    if not root.is_dir():
        raise MissingFileError(f"there is no folder {root}.")
    return sorted(
        path
        for path in root.iterdir()
        if path.suffix.lower() in IMAGE_SUFFIXES and not path.name.startswith(".")
    )


def _reason(error: BaseException) -> str:
    """Return Pillow's reason without the path it repeats."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text.partition(": ")[2] if text.startswith("[Errno") else text.partition(" '")[0]
