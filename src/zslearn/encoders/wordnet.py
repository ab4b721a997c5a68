"""Class signatures from WordNet: the kinds a class belongs to, or its distance to other classes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from zslearn._files import PathLike, naming
from zslearn._parameters import Either, check_value
from zslearn.encoders.word_search import (
    Match,
    MatchedSignatures,
    WordSearch,
    check_names,
    check_overrides,
    spell_missing,
    split_words,
    warn_of_twins,
)
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures import Signatures

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


FloatArray = NDArray[np.float64]

_RULES = ("exact", "case", "separator", "plural", "head noun")
_NUMBER = re.compile(r"n(\d{8})")
_NAMED_SENSE = re.compile(r"(.+)\.n\.(\d{1,2})")


def match_wordnet(
    names: Iterable[str],
    *,
    kind: str = "ancestors",
    below: str | None = None,
    folder: PathLike | None = None,
    overrides: Mapping[str, str] | None = None,
) -> MatchedSignatures:
    """Make a class table from WordNet's hierarchy of nouns, for classes with nothing else.

    A name is a synset ("n02391049" or "zebra.n.01") or is looked for among WordNet's nouns by the
    rules exact, case, separator, plural and head noun of :func:`match_word_vectors`. Of several
    senses the most frequent one is taken, which need not be the one you mean: look at the
    coverage, use `below`, or name the synset in `overrides`.

    Parameters
    ----------
    names : iterable of str
        Class names or synsets, each once.
    kind : {"ancestors", "distances"}, default="ancestors"
        - "ancestors": a dimension for every synset that is a class or a kind that classes belong
          to, 1 where the class belongs to it; kinds of all classes are left out.
        - "distances": a dimension for every class, with 1 / (1 + number of steps between the two
          through the nearest common kind).
    below : str, default=None
        Take the most frequent sense that is a kind of this noun or synset, such as "animal".
    folder : path-like, default=None
        Folder with index.noun and data.noun. None looks for Debian's package wordnet-base and
        NLTK's folder.
    overrides : mapping of str to str, default=None
        Word or synset to take for a class in place of its name.

    Returns
    -------
    MatchedSignatures
        ``signatures``, and ``coverage`` with the rule and the synset of every class.

    Raises
    ------
    MissingFileError
        If WordNet is not there.
    InvalidInputError
        If a class is not found, naming the closest words; if no sense is below `below`.

    Examples
    --------
    >>> from zslearn.encoders import match_wordnet
    >>> matched = match_wordnet(["zebra", "seal"], below="animal")  # doctest: +SKIP
    >>> matched.coverage[1].words  # doctest: +SKIP
    ('seal n02076196: any of numerous marine mammals that come on shore to breed',)
    """
    check_value("kind", kind, Either("ancestors", "distances"))
    labels = check_names(names)
    replaced = check_overrides(overrides or {}, labels)
    texts = {label: " ".join(replaced.get(label, (label,))) for label in labels}
    place = find_wordnet(folder)
    with open_nouns(place) as nouns:
        chosen = _Chooser.opened(place, nouns, [*texts.values(), *([below] if below else [])])
        root = None if below is None else chosen.synset_below(below, below, None)[1].offset
        missing = {label: text for label, text in texts.items() if not chosen.senses(text)[1]}
        if missing:
            raise InvalidInputError(spell_missing("noun of WordNet", missing, chosen.closest))
        found = {label: chosen.synset_below(label, text, root) for label, text in texts.items()}
        coverage = tuple(
            Match(label, "override" if label in replaced else rule, (_described(synset),))
            for label, (rule, synset) in found.items()
        )
        warn_of_twins(coverage)
        offsets = [synset.offset for _, synset in found.values()]
        measure = _ancestors if kind == "ancestors" else _similarities
        vectors, dimensions = measure(nouns, offsets, labels)
    return MatchedSignatures(Signatures(labels, vectors, dimensions), coverage)


@dataclass(frozen=True)
class _Chooser:
    """Finds the senses of texts, and chooses one."""

    nouns: NounFile
    search: WordSearch[list[int]]
    singular: Mapping[str, str]

    @classmethod
    def opened(cls, folder: Path, nouns: NounFile, texts: Sequence[str]) -> _Chooser:
        """Look for all texts in one pass over the index."""
        singular = read_exceptions(folder)
        wanted = [_lemma(text) for text in texts]
        wanted += [_regular(text, singular) for text in wanted]
        search: WordSearch[list[int]] = WordSearch(wanted, _RULES)
        for lemma, offsets in read_senses(folder, search.wants):
            search.add(lemma, offsets)
        return cls(nouns, search, singular)

    def senses(self, text: str) -> tuple[str, list[int]]:
        """Return the rule that finds a text, and its senses; none without a hit."""
        if number := _NUMBER.fullmatch(text):
            return "synset", [int(number[1])]
        if named := _NAMED_SENSE.fullmatch(text):
            found = self.search.find(named[1])
            every = self.search[found[1][0]] if found else []
            return "synset", every[int(named[2]) - 1 : int(named[2])]
        hit = self.search.find(text)
        if hit is None or hit[0] == "head noun":
            irregular = self.search.find(_regular(text, self.singular))
            if irregular and irregular[0] != "head noun":
                hit = "plural", irregular[1]
        return (hit[0], self.search[hit[1][0]]) if hit else ("", [])

    def synset_below(self, label: str, text: str, root: int | None) -> tuple[str, Synset]:
        """Return the rule and the first sense of a text that is a kind of the root."""
        rule, senses = self.senses(text)
        for offset in senses:
            if root is None or root in self.nouns.steps_up(offset):
                return rule, self.nouns.synset(offset)
        if not senses:
            raise InvalidInputError(spell_missing("noun of WordNet", {label: text}, self.closest))
        known = "; ".join(_described(self.nouns.synset(offset)) for offset in senses[:3])
        raise InvalidInputError(
            f"No sense of {label!r} is a kind of {self.nouns.synset(root or 0).label!r}: {known}. "
            f"Pass overrides={{{label!r}: 'another word'}} or leave out below."
        )

    def closest(self, text: str) -> list[str]:
        """Return nouns that are spelled much like a text."""
        return self.search.closest(_lemma(text))


def _lemma(text: str) -> str:
    """Return the word of a named sense such as "zebra.n.01"; other texts as they are."""
    named = _NAMED_SENSE.fullmatch(text)
    return named[1] if named else text


def _regular(text: str, singular: Mapping[str, str]) -> str:
    """Return a name with an irregular plural at its end in the singular."""
    *front, last = split_words(text) or ("",)
    return "_".join([*front, singular.get(last, last)])


def _described(synset: Synset) -> str:
    """Return a synset with what it means, in short."""
    return f"{synset.label}: {re.split('[;(]', synset.gloss)[0].strip()[:80]}"


def _ancestors(
    nouns: NounFile, offsets: Sequence[int], _: Sequence[str]
) -> tuple[FloatArray, list[str]]:
    """Say of every class and every kind whether the one belongs to the other."""
    kinds = [nouns.steps_up(offset).keys() for offset in offsets]
    every = sorted({kind for group in kinds for kind in group})
    table = np.array([[kind in group for kind in every] for group in kinds], dtype=np.float64)
    telling = np.flatnonzero(table.min(axis=0) == 0)
    if not telling.size:  # one class, or the same synset for all
        telling = np.arange(len(every))
    return table[:, telling], [nouns.synset(every[column]).label for column in telling]


def _similarities(
    nouns: NounFile, offsets: Sequence[int], labels: Sequence[str]
) -> tuple[FloatArray, list[str]]:
    """Measure 1 / (1 + steps) between every two classes; 0 where no kind is common."""
    steps = [nouns.steps_up(offset) for offset in offsets]
    table = np.zeros((len(steps), len(steps)))
    for i, first in enumerate(steps):
        for j, second in enumerate(steps):
            common = first.keys() & second.keys()
            if common:
                table[i, j] = 1.0 / (1 + min(first[kind] + second[kind] for kind in common))
    return table, list(labels)
