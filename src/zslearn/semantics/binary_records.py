"""The records of word2vec's binary format: a word, a space, 32-bit floats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError

FloatArray = NDArray[np.float64]

_CHUNK = 1 << 20
_LONGEST_WORD = 10_000


class _Bytes:
    """A file read in chunks, up to a mark or by length."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._chunk = b""
        self._position = 0

    def until_space(self) -> bytes | None:
        """Return the bytes before the next space and step over it; None without one in reach."""
        end = self._chunk.find(b" ", self._position, self._position + _LONGEST_WORD)
        if end < 0:
            self._refill(_LONGEST_WORD)
            end = self._chunk.find(b" ", 0, _LONGEST_WORD)
            if end < 0:
                return None
        found = self._chunk[self._position : end]
        self._position = end + 1
        return found

    def exactly(self, length: int) -> bytes:
        """Return so many bytes, fewer at the end of the file."""
        if self._position + length > len(self._chunk):
            self._refill(length)
        found = self._chunk[self._position : self._position + length]
        self._position += len(found)
        return found

    def rest_is_blank(self) -> bool:
        """Say whether nothing but line breaks follows."""
        self._refill(_LONGEST_WORD)
        return not self._chunk.strip()

    def _refill(self, length: int) -> None:
        """Drop what was read and make at least `length` bytes ready, if there are as many."""
        parts = [self._chunk[self._position :]]
        ready = len(parts[0])
        while ready < length and (more := self._file.read(_CHUNK)):
            parts.append(more)
            ready += len(more)
        self._chunk, self._position = b"".join(parts), 0


def read_records(
    file: IO[bytes], count: int, width: int, wanted: Callable[[bytes], bool]
) -> Iterator[tuple[bytes, FloatArray]]:
    """Yield the wanted words of a binary file, which stands behind its header.

    Parameters
    ----------
    file : binary file
        Positioned at the first record.
    count, width : int
        Number of words and of dimensions, from the header.
    wanted : callable
        Says of a word whether to yield it.

    Yields
    ------
    word, vector : bytes, ndarray of shape (width,)
    """
    data = _Bytes(file)
    for row in range(count):
        word = data.until_space()
        numbers = data.exactly(4 * width) if word is not None else b""
        if word is None or len(numbers) < 4 * width:
            raise InvalidInputError(
                f"the header declares {count} words and the file ends or is damaged after {row}."
            )
        word = word.lstrip(b"\r\n")
        if wanted(word):
            yield word, np.frombuffer(numbers, dtype="<f4").astype(np.float64)
    if not data.rest_is_blank():
        raise InvalidInputError(f"more follows behind the {count} words that the header declares.")
