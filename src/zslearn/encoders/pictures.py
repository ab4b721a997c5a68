"""Picture files to arrays and back; the only file that uses Pillow."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line, naming, replacing
from zslearn._optional import require
from zslearn._parameters import Whole, check_value
from zslearn.core.threads import ForkSafeLock
from zslearn.exceptions import InvalidInputError, InvalidTypeError, MissingFileError

_lock = ForkSafeLock()
_users = 0
_state: Any = None


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Suppress warnings raised inside Pillow until the last user is done.

    Warning filters apply to the whole process: if each thread restored what it found, the last one
    could restore what another had set.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _users, _state
    with _lock:
        if _users == 0:
            _state = warnings.catch_warnings()
            _state.__enter__()
            warnings.filterwarnings("ignore", module=r"PIL\.")
        _users += 1


def _leave() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            _state.__exit__(None, None, None)


Pixels = NDArray[np.uint8]
IMAGE_SUFFIXES = frozenset(
    {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"}
)
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
_MAX_WIDTH = 32768
_MAX_PIXELS = 2**26  # 200 MB as RGB; cameras have up to 50 million
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


def read_rgb(
    path: str | Path,
    *,
    height: int | None = None,
    nearest: bool = False,
    at_least: int | None = None,
) -> Pixels:
    """Read a picture as RGB, upright, scaled to a height with its proportions kept.

    Parameters
    ----------
    path : str or Path
        A picture in BMP, GIF, JPEG, PNG, PPM, TIFF or WebP, whatever its ending. 16 bits are
        scaled to 8, transparent parts become white, and the first of several frames is taken.
    height : int, optional
        Rows of the result; by default those of the file.
    nearest : bool, default=False
        Take the nearest pixel, as label pictures need, instead of a bicubic average.
    at_least : int, optional
        Decode a JPEG at a half, a quarter or an eighth of its size, as long as it keeps this many
        rows and columns: a thumbnail of a photograph is there several times sooner.

    Returns
    -------
    ndarray of shape (height, width, 3), uint8
    """
    with _opened(path, str(path)) as file:
        if at_least is not None:
            file.draft(None, (at_least, at_least))
        picture = _decoded(file)
    if height is None:
        return picture
    with naming(path):
        size = height, scaled_width((picture.shape[1], picture.shape[0]), height)
    return nearest_scaled(picture, size) if nearest else scaled(picture, size)


def decode_rgb(
    content: bytes,
    name: str,
    *,
    formats: Sequence[str] = _FORMATS,
    max_pixels: int = _MAX_PIXELS,
) -> Pixels:
    """Return the picture in the bytes of a file as `read_rgb` does; errors name it `name`.

    Only some formats, and fewer pixels, may be allowed.
    """
    with _opened(io.BytesIO(content), name, formats) as file:
        _check_size(file, max_pixels)
        return _decoded(file)


def as_rgb(picture: Any) -> Pixels:
    """Return a picture as RGB, upright.

    Parameters
    ----------
    picture : path-like, PIL.Image.Image, or uint8 array
        A file, an open picture, or pixels of shape (height, width), (height, width, 1),
        (height, width, 3) or (height, width, 4): gray, RGB, or RGB with alpha.

    Returns
    -------
    ndarray of shape (height, width, 3), uint8
    """
    if isinstance(picture, (str, Path)):
        return read_rgb(picture)
    Image = require("PIL.Image", extra="images", purpose="Reading pictures")
    if isinstance(picture, np.ndarray):
        pixels = _checked_array(picture)
        if pixels.ndim == 3 and pixels.shape[2] == 3:
            return pixels
        picture = Image.fromarray(pixels)
    if not isinstance(picture, Image.Image):
        raise InvalidTypeError(
            "a picture must be a path, a PIL image or an array of uint8; got "
            f"{type(picture).__name__}."
        )
    with _told("the picture"):
        _check_size(picture)
        return _decoded(picture)


def _checked_array(pixels: NDArray[Any]) -> Pixels:
    """Refuse an array that is not a picture; drop a channel axis of length one."""
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or channels not in (1, 3, 4):
        raise InvalidInputError(
            "a picture as an array must be uint8 of shape (height, width), or (height, width, 3 or "
            f"4); got {pixels.dtype} of shape {pixels.shape}."
        )
    if not pixels.size:
        raise InvalidInputError(f"a picture has no pixels; got shape {pixels.shape}.")
    return pixels[:, :, 0] if pixels.ndim == 3 and channels == 1 else pixels


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
    with _opened(path, str(path)) as file:
        width, height = file.size
        turned = _orientation(file) >= 5
    return (height, width) if turned else (width, height)


@contextmanager
def _opened(
    file: str | Path | io.BytesIO, name: str, formats: Sequence[str] = _FORMATS
) -> Iterator[Any]:
    """Open a picture; whatever is wrong with the file becomes one kind of error."""
    Image = require("PIL.Image", extra="images", purpose="Reading pictures")
    with _told(name, formats):
        # Pillow goes by the content: an EPS file called .png would start Ghostscript.
        with Image.open(file, formats=formats) as picture:
            _check_size(picture)
            yield picture


@contextmanager
def _told(name: str, formats: Sequence[str] = _FORMATS) -> Iterator[None]:
    """Say in one line which picture cannot be read and why."""
    Image = require("PIL.Image", extra="images", purpose="Reading pictures")
    try:
        with quiet_pillow():
            yield
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no picture {name!r}.") from error
    except (*_DAMAGE, Image.DecompressionBombError) as error:
        reason = _reason(error, formats)
        raise InvalidInputError(
            f"{name} cannot be read as a picture ({reason}). Replace or remove the file."
        ) from error


def _check_size(file: Any, most: int = _MAX_PIXELS) -> None:
    """Refuse a picture that would fill the memory, before it is decoded."""
    width, height = file.size
    if width * height > most:
        raise ValueError(f"it has {width} × {height} pixels, more than {most:,}")


def _decoded(file: Any) -> Pixels:
    """Return the pixels of an open picture as RGB, upright."""
    return _upright(np.asarray(_opaque(_eight_bit(file)).convert("RGB")), _orientation(file))


def _opaque(file: Any) -> Any:
    """Put a picture with transparent parts on white."""
    if not file.has_transparency_data:
        return file
    Image = require("PIL.Image", extra="images", purpose="Reading pictures")
    white = Image.new("RGBA", file.size, "white")
    white.alpha_composite(file.convert("RGBA"))
    return white


def _eight_bit(file: Any) -> Any:
    """Scale 16-bit gray levels to 8 bits, which Pillow would clip at 255."""
    if file.mode == "F" or (file.mode == "I" and file.format not in ("PNG", "PPM")):
        raise ValueError(f"its pixels are numbers of kind {file.mode}, not gray levels or colors")
    if not file.mode.startswith("I"):
        return file
    Image = require("PIL.Image", extra="images", purpose="Reading pictures")
    return Image.fromarray((np.asarray(file).astype(np.int32) >> 8).astype(np.uint8))


def _orientation(file: Any) -> int:
    """Return how the camera was held; 1 (upright) unless EXIF gives a number."""
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
    check_value("height", height, Whole(1))
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


def encode_picture(pixels: Pixels, quality: int = 85) -> bytes:
    """Return RGB pixels as the bytes of a JPEG file."""
    Image = require("PIL.Image", extra="images", purpose="Writing pictures")
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, format="JPEG", quality=quality)
    return target.getvalue()


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


def _reason(error: BaseException, formats: Sequence[str]) -> str:
    """Return Pillow's reason without the path it repeats."""
    text = first_line(error)
    if text.startswith("cannot identify image file"):
        return f"it is damaged or none of {', '.join(formats)}"
    return text.partition(": ")[2] if text.startswith("[Errno") else text.partition(" '")[0]
