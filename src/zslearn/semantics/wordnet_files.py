"""The noun files of WordNet, in the format of wndb(5WN): index.noun, data.noun, noun.exc."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from zslearn._files import PathLike, naming
from zslearn.exceptions import InvalidInputError, MissingFileError

# The longest line of WordNet 3.0 has 13,000 characters.
_LONGEST_LINE = 1 << 18
_HYPERNYMS = frozenset({"@", "@i"})


@dataclass(frozen=True)
class Synset:
    """A set of synonyms.

    Attributes
    ----------
    offset : int
        Its place in data.noun, which is its number.
    words : tuple of str
        The synonyms, with ``_`` between words.
    hypernyms : tuple of int
        Offsets of the kinds it belongs to.
    gloss : str
        What it means.
    """

    offset: int
    words: tuple[str, ...]
    hypernyms: tuple[int, ...]
    gloss: str

    @property
    def label(self) -> str:
        """Its first word and its number, such as "zebra n02391049"."""
        return f"{self.words[0]} n{self.offset:08d}"


def find_wordnet(folder: PathLike | None = None) -> Path:
    """Return the folder of the noun files: the one given, Debian's or NLTK's."""
    places = [Path(folder)] if folder is not None else _usual_places()
    for place in places:
        if (place / "index.noun").is_file() and (place / "data.noun").is_file():
            return place
    if folder is not None:
        raise MissingFileError(f"There are no index.noun and data.noun in {str(folder)!r}.")
    raise MissingFileError(
        "WordNet is not installed: no index.noun in /usr/share/wordnet or NLTK's folders. Install "
        "it with: apt-get install wordnet-base, or pass folder=."
    )


def read_senses(folder: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, list[int]]]:
    """Yield the wanted lemmas with the offsets of their senses, the most frequent one first."""
    path = folder / "index.noun"
    with naming(path), open(path, encoding="utf-8") as file:
        while line := file.readline(_LONGEST_LINE):
            lemma = line.partition(" ")[0]
            if lemma and wanted(lemma):
                yield lemma, _offsets(line)


def read_exceptions(folder: Path) -> dict[str, str]:
    """Return irregular plurals with their singular; none where the file is missing."""
    path = folder / "noun.exc"
    if not path.is_file():
        return {}
    with naming(path):
        rows = [line.split() for line in path.read_text("utf-8").splitlines()]
    return {row[0]: row[1] for row in rows if len(row) > 1}


class NounFile:
    """data.noun, read synset by synset.

    Parameters
    ----------
    path : Path
        The file, named in errors.
    file : binary file
        The open file.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self._known: dict[int, Synset] = {}

    def synset(self, offset: int) -> Synset:
        """Return the synset of that number."""
        if offset not in self._known:
            self._file.seek(offset)
            line = self._file.readline(_LONGEST_LINE).decode("utf-8", "replace")
            self._known[offset] = _parsed(line, offset, self._path)
        return self._known[offset]

    def steps_up(self, offset: int) -> dict[int, int]:
        """Return a synset and all kinds it belongs to, each with its distance."""
        steps = {offset: 0}
        level = [offset]
        while level:
            above = [kind for lower in level for kind in self.synset(lower).hypernyms]
            level = [kind for kind in dict.fromkeys(above) if kind not in steps]
            steps |= dict.fromkeys(level, max(steps.values()) + 1)
        return steps


@contextmanager
def open_nouns(folder: Path) -> Iterator[NounFile]:
    """Open data.noun for as long as the block runs."""
    path = folder / "data.noun"
    with open(path, "rb") as file:
        yield NounFile(path, file)


def _usual_places() -> list[Path]:
    """Return where Debian and NLTK put WordNet."""
    given = [part for part in os.environ.get("NLTK_DATA", "").split(os.pathsep) if part]
    homes = [*given, str(Path.home() / "nltk_data"), "/usr/share/nltk_data", "/usr/lib/nltk_data"]
    return [Path("/usr/share/wordnet"), *(Path(home) / "corpora" / "wordnet" for home in homes)]


def _offsets(line: str) -> list[int]:
    """Return the offsets at the end of a line of index.noun."""
    cells = line.split()
    count = int(cells[2]) if len(cells) > 2 and cells[2].isdecimal() else 0
    found = cells[-count:] if 0 < count < len(cells) else []
    if not found or not all(re.fullmatch(r"\d{8}", cell) for cell in found):
        raise InvalidInputError(f"the line of {cells[0][:40]!r} is not as wndb(5WN) says.")
    return [int(cell) for cell in found]


def _parsed(line: str, offset: int, path: Path) -> Synset:
    """Read a line of data.noun."""
    facts, _, gloss = line.partition(" | ")
    cells = facts.split()
    try:
        if cells[0] != f"{offset:08d}":
            raise ValueError("another number")
        first_pointer = 4 + 2 * int(cells[3], 16) + 1
        words = tuple(cells[4 : first_pointer - 1 : 2])
        n_pointers = int(cells[first_pointer - 1])
        pointers = [cells[first_pointer + 4 * i :][:4] for i in range(min(n_pointers, len(cells)))]
        hypernyms = tuple(
            int(target) for symbol, target, kind, _ in pointers if symbol in _HYPERNYMS
        )
        return Synset(offset, (words[0], *words[1:]), hypernyms, gloss.strip())
    except (ValueError, IndexError) as error:
        raise InvalidInputError(
            f"{path}: there is no synset n{offset:08d}; the files do not belong together or are "
            "damaged."
        ) from error
