"""From the pixels of a picture to the input of a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import naming
from zslearn._optional import require
from zslearn._parameters import Either, Number, Whole, check_value
from zslearn.encoders.pictures import Pixels
from zslearn.exceptions import InvalidInputError

VIEWS = ("center", "flip", "crops")
# Centers of the crops within the space they can move in: (right, down).
CORNERS = ((0.5, 0.5), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
_CHECKS = {
    "size": Whole(1, 4096),
    "crop": Number(above=0, most=1),
    "interpolation": Either("bicubic", "bilinear"),
    "channels": Either("RGB", "BGR"),
    "layout": Either("NCHW", "NHWC"),
}


@dataclass(frozen=True)
class Preprocessing:
    """How a network wants its pictures.

    A square of `crop` times the short side is cut from the middle, scaled to `size` pixels and
    normalized as (x − mean) / std, x from 0 to 255.

    Parameters
    ----------
    size : int
        Height and width of the network's input.
    crop : float, default=0.875
        Side of the square that is kept, as a fraction of the short side.
    mean, std : tuple of three float
        For each channel, in the order R, G, B, on the scale from 0 to 255.
    interpolation : {"bicubic", "bilinear"}, default="bicubic"
        How to scale; always antialiased.
    channels : {"RGB", "BGR"}, default="RGB"
        Order of the channels.
    layout : {"NCHW", "NHWC"}, default="NCHW"
        Order of the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.encoders import Preprocessing
    >>> prepare = Preprocessing(size=8, mean=(127, 127, 127), std=(128, 128, 128))
    >>> views = prepare(np.full((20, 30, 3), 255, np.uint8))
    >>> views.shape, float(views.max())
    ((1, 3, 8, 8), 1.0)
    """

    size: int
    crop: float = 0.875
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    interpolation: str = "bicubic"
    channels: str = "RGB"
    layout: str = "NCHW"

    def __post_init__(self) -> None:
        for name, constraint in _CHECKS.items():
            check_value(name, getattr(self, name), constraint)
        for name in ("mean", "std"):
            object.__setattr__(self, name, _three_numbers(getattr(self, name), name))
        if min(self.std) <= 0:
            raise InvalidInputError(f"std must be three positive numbers; got {self.std}.")

    def __call__(self, pixels: Pixels, views: str = "center") -> NDArray[np.float32]:
        """Prepare a picture.

        Parameters
        ----------
        pixels : ndarray of shape (height, width, 3), uint8
            The picture.
        views : {"center", "flip", "crops"}, default="center"
            The middle; the middle and its mirror image; or five crops and their mirror images.

        Returns
        -------
        ndarray of shape (n_views, 3, size, size), or (n_views, size, size, 3), float32
        """
        cut = self._cuts(pixels, CORNERS if views == "crops" else CORNERS[:1])
        if views != "center":
            cut = np.concatenate([cut, cut[:, :, ::-1]])
        # A plane per channel: NumPy is slow where the last axis has three values.
        values = cut.transpose(0, 3, 1, 2).astype(np.float32, order="C")
        values -= np.array(self.mean, np.float32)[:, None, None]
        values /= np.array(self.std, np.float32)[:, None, None]
        if self.channels == "BGR":
            values = values[:, ::-1]
        if self.layout == "NHWC":
            values = values.transpose(0, 2, 3, 1)
        return np.ascontiguousarray(values)

    def _cuts(self, pixels: Pixels, corners: tuple[tuple[float, float], ...]) -> NDArray[np.uint8]:
        """Cut squares and scale them, with edges between pixels where they fall there."""
        Image = require("PIL.Image", extra="images", purpose="Scaling pictures")
        picture = Image.fromarray(pixels)
        method = Image.Resampling[self.interpolation.upper()]
        side = self.crop * min(picture.size)
        wide, high = picture.width - side, picture.height - side
        boxes = [
            (right * wide, down * high, right * wide + side, down * high + side)
            for right, down in corners
        ]
        size = self.size, self.size
        return np.stack([np.asarray(picture.resize(size, method, box)) for box in boxes])

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON-ready values."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Preprocessing:
        """Make one from what `as_dict` gave, refusing what it does not know."""
        known = {field.name for field in fields(cls)}
        if "size" not in settings or set(settings) - known:
            raise InvalidInputError(
                f"preprocessing needs 'size' and may have {', '.join(sorted(known - {'size'}))}; "
                f"got {', '.join(map(repr, settings)) or 'nothing'}."
            )
        return cls(**settings)

    @classmethod
    def from_json(cls, path: str | Path) -> Preprocessing:
        """Read the settings from a JSON file."""
        with naming(path):
            try:
                settings = json.loads(Path(path).read_text("utf-8"))
            except ValueError as error:
                raise InvalidInputError(f"not JSON ({error}).") from error
            if not isinstance(settings, dict):
                raise InvalidInputError("preprocessing must be a JSON object.")
            return cls.from_dict(settings)


def _three_numbers(values: Any, name: str) -> tuple[float, float, float]:
    numbers = np.asarray(values, dtype=object).ravel().tolist()
    if len(numbers) != 3 or not all(Number().allows(number) for number in numbers):
        raise InvalidInputError(f"{name} must be three numbers, for R, G and B; got {values!r}.")
    red, green, blue = map(float, numbers)
    return red, green, blue
