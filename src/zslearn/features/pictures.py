"""Picture files to arrays and back; the one place that touches Pillow."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line, naming, replacing
from zslearn._optional import require
from zslearn.exceptions import InvalidInputError, MissingFileError

Pixels = NDArray[np.uint8]
IMAGE_SUFFIXES = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
_FORMATS = ("BMP", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
_MAX_WIDTH = 32768
# What Pillow raises, depending on the format and on where a file is cut or damaged.
_DAMAGE = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RuntimeError,
    EOFError,
    MemoryError,
    struct.error,
    zlib.error,
)
_ORIENTATION = 0x0112  # EXIF tag; 5 to 8 are turned by a quarter


def read_rgb(path: str | Path, *, height: int | None = None, nearest: bool = False) -> Pixels:
    """Read a picture as RGB, upright, scaled to a height with its proportions kept.

    Parameters
    ----------
    path : str or Path
        A picture in BMP, JPEG, PNG, PPM, TIFF or WebP, whatever its ending; 16 bits are scaled
        to 8.
    height : int, optional
        Rows of the answer; by default those of the file.
    nearest : bool, default=False
        Take the nearest pixel, as label pictures need, instead of a bicubic average.

    Returns
    -------
    ndarray of shape (height, width, 3), uint8
    """
    with _opened(path) as file:
        picture = _upright(np.asarray(_eight_bit(file).convert("RGB")), _orientation(file))
    if height is None:
        return picture
    with naming(path):
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
        turned = _orientation(file) >= 5
    return (height, width) if turned else (width, height)


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """Open a picture; whatever is wrong with the file becomes one kind of error."""
    Image = require("PIL.Image", extra="images", purpose="Reading pictures")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd EXIF data, which is then left out
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            # Pillow goes by the content: an EPS file called .png would start Ghostscript.
            with Image.open(path, formats=_FORMATS) as file:
                yield file
        except FileNotFoundError as error:
            raise MissingFileError(f"there is no picture {path}.") from error
        except (*_DAMAGE, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise InvalidInputError(
                f"{path} cannot be read as a picture ({_reason(error)}). Replace or remove the "
                "file."
            ) from error


def _eight_bit(file: Any) -> Any:
    """Scale 16-bit gray levels to 8 bits, which Pillow would clip at 255."""
    if file.mode == "F" or (file.mode == "I" and file.format not in ("PNG", "PPM")):
        raise ValueError(f"its pixels are numbers of kind {file.mode}, not gray levels or colors")
    if not file.mode.startswith("I"):
        return file
    Image = require("PIL.Image", extra="images", purpose="Reading pictures")
    return Image.fromarray((np.asarray(file).astype(np.int32) >> 8).astype(np.uint8))


def _orientation(file: Any) -> int:
    """Return how the camera was held, 1 (upright) where EXIF does not say it in a number."""
    held = file.getexif().get(_ORIENTATION, 1)
    return held if isinstance(held, int) and 1 <= held <= 8 else 1


def _upright(pixels: Pixels, orientation: int) -> Pixels:
    """Undo an EXIF orientation: 2, 4, 5 and 7 are mirrored, 5 to 8 turned by a quarter."""
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)


def scaled_width(size: tuple[int, int], height: int) -> int:
    """Width that keeps the proportions of (width, height) at another height."""
    if height < 1:
        raise InvalidInputError(f"height must be at least 1 pixel; got {height}.")
    width = max(1, round(size[0] * height / size[1]))
    if width > _MAX_WIDTH:
        raise InvalidInputError(
            f"a picture of {size[0]} × {size[1]} pixels would be {width} pixels wide at the height "
            f"{height}; at most {_MAX_WIDTH} are allowed. Cut it or remove it."
        )
    return width


def write_png(path: str | Path, pixels: NDArray[Any]) -> None:
    """Write uint8 pixels as PNG: whole or not at all."""
    Image = require("PIL.Image", extra="images", purpose="Writing pictures")
    with replacing(path) as file:
        Image.fromarray(pixels).save(file, format="PNG")


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
    text = first_line(error)
    return text.partition(": ")[2] if text.startswith("[Errno") else text.partition(" '")[0]
