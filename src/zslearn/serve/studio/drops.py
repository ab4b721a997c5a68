"""Photographs and texts that a visitor brings: encoded, named like the others, kept for a while."""

from __future__ import annotations

import base64
from collections import OrderedDict
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.encoders import Encoder, encoder_of
from zslearn.encoders.pictures import Pixels, decode_rgb, encode_picture, scaled
from zslearn.encoders.samples import text_problem
from zslearn.serve.responses import RequestError, refuse
from zslearn.serve.samples import FORMATS, MOST_LETTERS
from zslearn.serve.settings import Limits
from zslearn.serve.studio.collection import THUMBNAIL, Collection
from zslearn.serve.studio.state import Example

# How many are remembered; an example is kept in the project.
MOST = 200
MOST_TITLE = 100


class Drop(NamedTuple):
    """A sample that was brought; the face is a small picture as a data URI, or the text."""

    number: int
    title: str
    face: str
    vector: NDArray[np.float32]


class Drops:
    """What was brought lately.

    Parameters
    ----------
    collection : Collection
        Its encoder made the samples of the studio.
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._kept: OrderedDict[int, Drop] = OrderedDict()
        self._numbers = count(1)  # several requests may bring something at a time

    @property
    def kind(self) -> str | None:
        """What can be brought, "image" or "text"; None where nobody knows the encoder."""
        identity = self._collection.encoder
        return None if identity is None else identity.kind

    def add_picture(self, content: bytes, title: str, limits: Limits) -> Drop:
        """Take a photograph, the bytes of a JPEG or PNG file."""
        self._check("image", "a picture")
        name = title.strip()[:MOST_TITLE] or "picture"
        pixels = decode_rgb(content, repr(name), formats=FORMATS, max_pixels=limits.pixels)
        return self._keep(name, _small(pixels), self._encoder.encode_batch([pixels])[0])

    def add_text(self, text: str) -> Drop:
        """Take a text."""
        self._check("text", "a text")
        problem = text_problem(text)
        if problem is not None:
            raise refuse(f"the text: {problem}.")
        if len(text) > MOST_LETTERS:
            raise RequestError(413, f"the text has {len(text)} letters, more than {MOST_LETTERS}.")
        title = text if len(text) <= MOST_TITLE else f"{text[:MOST_TITLE]} …"
        return self._keep(title, text, self._encoder.transform([text])[0])

    def get(self, number: int) -> Drop:
        """Return what was brought under a number."""
        if number not in self._kept:
            raise RequestError(404, "this was brought too long ago; bring it once more.")
        return self._kept[number]

    def example(self, number: int) -> Example:
        """Return it as an example of a class."""
        drop, identity = self.get(number), self._collection.encoder
        sha = None if identity is None else identity.sha256
        return Example(drop.vector, drop.title, None, drop.face, sha)

    @cached_property
    def _encoder(self) -> Encoder:
        if self._collection.encoder is None:
            raise refuse("nobody knows what encoded these samples.")
        return encoder_of(self._collection.encoder, n_jobs=1)

    def _check(self, kind: str, what: str) -> None:
        if self.kind == kind:
            return
        if self.kind is None:
            raise RequestError(
                409,
                f"{self._collection.name} does not say what encoded its samples, so {what} cannot "
                "be compared with them. Open a folder of pictures, a table of texts, or a store.",
            )
        takes = "pictures" if self.kind == "image" else "texts"
        raise RequestError(409, f"these samples are {takes}; {what} cannot be compared with them.")

    def _keep(self, title: str, face: str, vector: NDArray[np.float32]) -> Drop:
        row = vector[None].astype(np.float32)
        for step in self._collection.steps:
            row = step.transform(row)
        drop = Drop(next(self._numbers), title, face, np.asarray(row[0], np.float32))
        self._kept[drop.number] = drop
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return drop


def _small(pixels: Pixels) -> str:
    """Return a small picture as a data URI."""
    height, width = pixels.shape[:2]
    factor = min(1.0, THUMBNAIL / max(height, width))
    size = max(1, round(height * factor)), max(1, round(width * factor))
    content = base64.b64encode(encode_picture(scaled(pixels, size))).decode()
    return f"data:image/jpeg;base64,{content}"
