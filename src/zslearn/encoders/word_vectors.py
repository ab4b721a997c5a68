"""Class signatures from word vectors: a file, gensim's KeyedVectors or a dict."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import FOREIGN, PathLike, check_is_file, check_not_foreign, naming
from zslearn.encoders.word_search import (
    Match,
    MatchedSignatures,
    Overrides,
    WordSearch,
    check_names,
    check_overrides,
    spell_missing,
    warn_of_twins,
)
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.signatures import Signatures

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


Wanted = Callable[[bytes], bool]

# No published vectors have more dimensions than a few thousand.
MAX_DIMENSIONS = 100_000
_FIRST_LINE = 1 << 20
_FOREIGN = {
    **FOREIGN,
    b"\x80": "a pickle, which is never opened; save the vectors in word2vec's format",
    b"bzh": "compressed by bzip2; unpack it first",
    b"\xba\x16\x4f\x2f": "a fastText model; take the .vec file that belongs to it",
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
    check_not_foreign(first[:16], _FOREIGN)
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
            yield word, _parsed(word, numbers, number, layout.width)
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


def _parsed(word: bytes, numbers: bytes, line: int, width: int) -> FloatArray:
    """Turn the numbers of a line into a vector."""
    shown = word.decode("utf-8", "replace")
    try:
        vector = np.array(numbers.split(), dtype=np.float64)
    except ValueError as error:
        raise InvalidInputError(
            f"line {line}, word {shown!r}: a number is expected ({error})."
        ) from error
    if len(vector) != width:
        raise InvalidInputError(
            f"line {line}, word {shown!r}: {len(vector)} numbers; {width} are expected."
        )
    return vector


Search = WordSearch[FloatArray]


def match_word_vectors(
    names: Iterable[Any], source: PathLike | Any, *, overrides: Overrides | None = None
) -> MatchedSignatures:
    """Make a class table from word vectors, looking for the class names in a stated way.

    A name is looked for by these rules, and the first that finds it counts:

    ============== ======================================================================
    rule           finds
    ============== ======================================================================
    exact          the name as it is written
    case           the same in another case: "Zebra"
    separator      with other separators between the words: "polar_bear" for "polar+bear"
    plural         in the singular or the plural: "foxes"
    phrase         in the fewest pieces, one of them a phrase: "New_York" + "taxi"
    mean of words  all its words: "blue" + "whale"; "of", "the" and the like do not count
    head noun      the word that says what it is, where others are missing: "whale"
    ============== ======================================================================

    Where the source has a word in several spellings, the one in lower case is taken, else the
    first. The vector of every word is scaled to unit length, several are averaged, and the mean is
    scaled to unit length again.

    Parameters
    ----------
    names : iterable of str
        Class names, each once.
    source : path-like, KeyedVectors or mapping of str to array-like of shape (n_dimensions,)
        A file of word2vec (``.bin`` or ``.txt``), GloVe (``.txt``) or fastText (``.vec``), which
        may be gzipped; its content decides, not its ending. It is read once, and only the needed
        rows are kept. Or an object with gensim's ``key_to_index`` and ``source[word]``, or a dict.
    overrides : mapping of label to str or sequence of str, default=None
        Words to take for a class in place of its name; several are averaged.

    Returns
    -------
    MatchedSignatures
        ``signatures``, and ``coverage`` with the rule and the words of every class.

    Raises
    ------
    InvalidInputError
        If a class is not found, naming the closest words; if the file cannot be used.

    Warns
    -----
    ZslearnWarning
        If two classes are found by the same words.

    Examples
    --------
    >>> from zslearn.encoders import match_word_vectors
    >>> vectors = {"Zebra": [3.0, 4.0], "polar": [1.0, 0.0], "bears": [0.0, 1.0]}
    >>> matched = match_word_vectors(["zebra", "polar+bear"], vectors)
    >>> matched.signatures["zebra"]
    array([0.6, 0.8])
    >>> [(match.rule, match.words) for match in matched.coverage]
    [('case', ('Zebra',)), ('mean of words', ('polar', 'bears'))]
    """
    labels = check_names(names)
    replaced = check_overrides(overrides or {}, labels)
    texts = {label: replaced.get(label, (label,)) for label in labels}
    search: Search = WordSearch(text for group in texts.values() for text in group)
    skipped = _search(source, search)
    matches = [_match(label, texts[label], search, label in replaced) for label in labels]
    coverage = tuple(match for match in matches if match is not None)
    if len(coverage) < len(labels):
        missing = {
            label: next(text for text in texts[label] if search.find(text) is None)
            for label, match in zip(labels, matches, strict=True)
            if match is None
        }
        damaged = f" {skipped} words of the file are not UTF-8 and were skipped." if skipped else ""
        raise InvalidInputError(spell_missing("word vector", missing, search.closest) + damaged)
    warn_of_twins(coverage)
    vectors = np.stack([_mean(match.words, search) for match in coverage])
    return MatchedSignatures(Signatures(labels, vectors), coverage)


def _search(source: Any, search: Search) -> int:
    """Let a vocabulary go by; return how many of its words are no UTF-8."""
    if isinstance(source, str | os.PathLike):
        return _search_file(source, search)
    words = getattr(source, "key_to_index", source)
    if not hasattr(words, "keys") or not hasattr(source, "__getitem__"):
        raise InvalidTypeError(
            "Word vectors are a file, gensim's KeyedVectors or {word: vector}; got "
            f"{type(source).__name__}."
        )
    for word in words:
        if isinstance(word, str) and search.wants(word):
            search.add(word, _unit(word, np.asarray(source[word], dtype=np.float64)))
    return 0


def _search_file(path: PathLike, search: Search) -> int:
    skipped = 0

    def wanted(word: bytes) -> bool:
        nonlocal skipped
        try:
            return search.wants(word.decode())
        except UnicodeDecodeError:
            skipped += 1
            return False

    for word, vector in read_word_vectors(path, wanted):
        with naming(path):
            search.add(word.decode(), _unit(word.decode(), vector))
    return skipped


def _unit(word: str, vector: FloatArray) -> FloatArray:
    """Scale the vector of a word to unit length."""
    length = np.linalg.norm(vector)
    if not np.isfinite(length) or not length:
        kind = "only zeros" if length == 0 else "a value that is not finite"
        raise InvalidInputError(f"the vector of the word {word!r} has {kind}.")
    return vector / length


def _mean(words: tuple[str, ...], search: Search) -> FloatArray:
    """Return the mean of the unit vectors of words, at unit length."""
    mean: FloatArray = np.mean([search[word] for word in words], axis=0)
    length = np.linalg.norm(mean)
    if length < 1e-12:
        raise InvalidInputError(f"the vectors of {' + '.join(words)!r} cancel each other.")
    return mean / length


def _match(label: str, texts: tuple[str, ...], search: Search, replaced: bool) -> Match | None:
    """Find one class; every word of an override must be found."""
    found = [search.find(text) for text in texts]
    if not all(found):
        return None
    words = tuple(word for hit in found if hit for word in hit[1])
    return Match(label, "override" if replaced or not found[0] else found[0][0], words)
