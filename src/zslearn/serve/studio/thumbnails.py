"""Pictures of samples as the browser shows them, by the number of the sample."""

from __future__ import annotations

from functools import lru_cache

from zslearn.features.pictures import encode_picture, scaled
from zslearn.serve.errors import RequestError
from zslearn.serve.studio.collection import Collection

THUMBNAIL, PICTURE = 96, 512  # pixels high and wide at most
KEPT = 4096  # thumbnails in memory


class Thumbnails:
    """Makes small pictures, and keeps the last of them.

    Parameters
    ----------
    collection : Collection
        The samples.
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.small = lru_cache(KEPT)(self._small)

    def picture(self, number: int, side: int) -> bytes:
        """Return the picture of a sample as a JPEG file, at most `side` high and wide."""
        if not 0 <= number < self._collection.n:
            raise RequestError(404, f"there is no sample {number}.")
        if self._collection.picture is None:
            raise RequestError(404, f"{self._collection.name} has no pictures.")
        pixels = self._collection.picture(number, side)
        height, width = pixels.shape[:2]
        factor = min(1.0, side / max(height, width))
        size = max(1, round(height * factor)), max(1, round(width * factor))
        return encode_picture(scaled(pixels, size))

    def _small(self, number: int) -> bytes:
        return self.picture(number, THUMBNAIL)
