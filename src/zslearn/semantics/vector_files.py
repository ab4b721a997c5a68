"""Word-vector files, read once from front to back: word2vec, GloVe and fastText, also gzipped.

Only the rows that are asked for are kept, and no number written in the file decides how much
memory is taken, so a file of 3 GB and a hostile one cost the same few megabytes.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from zslearn._files import PathLike, check_is_file, naming
from zslearn.exceptions import InvalidInputError
from zslearn.semantics.binary_records import read_records

FloatArray = NDArray[np.float64]
Wanted = Callable[[bytes], bool]

# No published vectors have more dimensions than a few thousand.
MAX_DIMENSIONS = 100_000
_FIRST_LINE = 1 << 20
_FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"\x80": "a pickle, which is never opened; save the vectors in word2vec's format",
    b"BZh": "compressed by bzip2; unpack it first",
    b"\xfd7zXZ": "compressed by xz; unpack it first",
    b"\xba\x16\x4f\x2f": "a fastText model; take the .vec file that belongs to it",
    b"\x89HDF": "an HDF5 file",
    b"<!doctype": "a web page; download the file again",
    b"<html": "a web page; download the file again",
}


@dataclass(frozen=True)
class Layout:
    """What the first lines of a file say.

    Attributes
    ----------
    binary : bool
        Whether the numbers are 32-bit floats (word2vec's ``.bin``) and not text.
    count : int or None
        Number of words a header declares.
    width : int
        Number of dimensions.
    """

    binary: bool
    count: int | None
    width: int


def read_word_vectors(path: PathLike, wanted: Wanted) -> Iterator[tuple[bytes, FloatArray]]:
    """Yield the wanted words of a file with their vectors.

    Parameters
    ----------
    path : path-like
        word2vec ``.bin`` or ``.txt``, GloVe ``.txt`` or fastText ``.vec``; the content decides,
        not the ending. It may be compressed by gzip.
    wanted : callable
        Gets every word of the file as it is written there, and says whether to yield it.

    Yields
    ------
    word, vector : bytes, ndarray of shape (n_dimensions,)
        In the order of the file.
    """
    place = Path(path)
    check_is_file(place)
    with naming(place):
        layout = _layout(place)
        with _opened(place) as file:
            if layout.count is not None:
                file.readline(_FIRST_LINE)
            if layout.binary:
                yield from read_records(file, int(layout.count or 0), layout.width, wanted)
            else:
                yield from _text_rows(file, layout, wanted)


@contextmanager
def _opened(place: Path) -> Iterator[IO[bytes]]:
    """Open a file, through gzip if it starts like that; damage becomes one line."""
    with open(place, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        try:
            yield gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[misc]
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InvalidInputError(f"the gzip file is damaged or cut short ({error}).") from error


def _layout(place: Path) -> Layout:
    """Look at the first two lines."""
    with _opened(place) as file:
        first = file.readline(_FIRST_LINE)
        second = file.readline(_FIRST_LINE)
    _check_first_line(first)
    cells = first.removeprefix(b"\xef\xbb\xbf").split()
    if len(cells) == 2 and all(cell.isdigit() and len(cell) < 19 for cell in cells):
        count, width = map(int, cells)
        if not count or not 1 <= width <= MAX_DIMENSIONS:
            raise InvalidInputError(
                f"the header declares {count} words of {width} dimensions; at least one word and "
                f"1 to {MAX_DIMENSIONS} dimensions are expected."
            )
        return Layout(not _looks_like_text(second), count, width)
    width = sum(map(_is_number, cells[1:]))
    if not width or width > MAX_DIMENSIONS or not _looks_like_text(first):
        raise InvalidInputError(
            "the first line is neither a header (words and dimensions) nor a word with numbers; "
            "word2vec, GloVe and fastText .vec files can be read."
        )
    return Layout(binary=False, count=None, width=width)


def _check_first_line(first: bytes) -> None:
    """Refuse an empty file and the kinds of file that are often given by mistake."""
    if not first:
        raise InvalidInputError("the file is empty.")
    for magic, kind in _FOREIGN.items():
        if first.lstrip().lower().startswith(magic.lower()):
            raise InvalidInputError(f"this is {kind}.")
    if len(first) >= _FIRST_LINE:
        raise InvalidInputError("there is no line break in the first megabyte; not word vectors.")
    if b"\0" in first:
        raise InvalidInputError("the first line holds NUL bytes; not word vectors in UTF-8.")


def _looks_like_text(line: bytes) -> bool:
    """Say whether a line ends in a number and holds no control characters."""
    cells = line.split()
    return bool(cells) and _is_number(cells[-1]) and min(line) >= ord("\t")


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _text_rows(
    file: IO[bytes], layout: Layout, wanted: Wanted
) -> Iterator[tuple[bytes, FloatArray]]:
    """Read a word and its numbers from every line."""
    limit = 64 * layout.width + 4096
    number = int(layout.count is not None)
    rows = 0
    while line := file.readline(limit):
        number += 1
        if len(line) >= limit:
            raise InvalidInputError(f"line {number} is longer than {layout.width} numbers need.")
        if line.isspace():
            continue
        rows += 1
        word, numbers = _split_row(line, layout.width, number)
        if wanted(word):
            yield word, _parsed(word, numbers, number)
    if layout.count is not None and rows != layout.count:
        raise InvalidInputError(
            f"the header declares {layout.count} words and the file holds {rows}; it is cut short "
            "or damaged."
        )


def _split_row(line: bytes, width: int, number: int) -> tuple[bytes, bytes]:
    """Split a line into its word, which may hold spaces (GloVe), and its numbers."""
    line = line.removeprefix(b"\xef\xbb\xbf").rstrip()
    if line.count(b" ") == width:
        word, _, numbers = line.partition(b" ")
        return word, numbers
    cells = line.split()
    words = cells[:-width]
    if not words or (len(words) > 1 and all(map(_is_number, words[1:]))):
        raise InvalidInputError(
            f"line {number} has {len(cells) - 1} numbers; {width} are expected."
        )
    return b" ".join(words), b" ".join(cells[-width:])


def _parsed(word: bytes, numbers: bytes, line: int) -> FloatArray:
    """Turn the numbers of a line into a vector."""
    try:
        return np.array(numbers.split(), dtype=np.float64)
    except ValueError as error:
        shown = word.decode("utf-8", "replace")
        raise InvalidInputError(
            f"line {line}, word {shown!r}: a number is expected ({error})."
        ) from error
