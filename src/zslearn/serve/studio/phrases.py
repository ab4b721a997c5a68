"""A class in words of its own table: "like horse, but striped, not domestic"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

MOST_LETTERS = 2000
_LIKE = re.compile(
    r"^\s*(?:(?:is|just|much|looks?)\s+)*(?:like|similar to|as)\s+(?:an?\s+|the\s+)?(.+)$"
)
_FILLERS = "but|and|with|also|it|is|has|are|have|which|that|a|an|the"
_BREAK = re.compile(rf"[,;:!\n]+|\.(?!\d)|\b(?:{_FILLERS})\b")
_NUMBER = re.compile(r"^(.*?)[\s=]+(-?\d+(?:\.\d+)?)$")
_NOT = ("not", "no", "without", "never", "isn't", "hasn't", "non")
_HALF = ("somewhat", "slightly", "half", "partly", "rather", "little", "bit")
_WORDS = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


@dataclass
class Phrase:
    """What was understood of a text.

    Attributes
    ----------
    like : str or None
        The class that the new one resembles.
    changes : dict of int to float
        New values by the number of their dimension.
    understood, unknown : list of str
        The parts of the text that were understood, and those that were not.
    constant : list of str
        Dimensions that were named and do not differ between training classes: words cannot say
        more or less of them, and no model has learned them.
    """

    like: str | None = None
    changes: dict[int, float] = field(default_factory=dict)
    understood: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What a text can speak of.

    Attributes
    ----------
    classes : mapping of str to ndarray
        Signatures by name.
    dimensions : sequence of str
        What the columns are called.
    low, high : ndarray of shape (n_dimensions,)
        The range of each over the training classes.
    groups : sequence of str or None
        Dimensions of a group of which every class has exactly one exclude each other.
    """

    classes: Mapping[str, NDArray[np.float64]]
    dimensions: Sequence[str]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    groups: Sequence[str] | None = None

    def read(self, text: str) -> Phrase:
        """Return what a text says.

        Examples
        --------
        >>> low, high = np.zeros(3), np.ones(3)
        >>> horse = {"horse": np.array([0.0, 1, 1])}
        >>> words = Vocabulary(horse, ["stripes", "domestic", "tail"], low, high)
        >>> said = words.read("like a horse, but striped, not domestic")
        >>> said.like, said.changes, said.unknown
        ('horse', {0: 1.0, 1: 0.0}, [])
        """
        said = Phrase()
        rest = text[:MOST_LETTERS].lower().replace("’", "'")
        found = _LIKE.match(rest)
        if found:
            rest = self._take_class(found[1], said)
        for part in filter(None, (one.strip() for one in _BREAK.split(rest))):
            self._take(part, said)
        return said

    def row(self, said: Phrase) -> NDArray[np.float64]:
        """Return the signature that a text describes."""
        known = list(self.classes.values())
        row = self.classes[said.like].copy() if said.like else np.mean(known, axis=0)
        for index, value in said.changes.items():
            row[index] = value
        return row

    def _take_class(self, text: str, said: Phrase) -> str:
        """Note the class that the text begins with, the longest name first; return the rest."""
        plain = _plain(text)
        for name in sorted(self.classes, key=len, reverse=True):
            words = _plain(name)
            if plain[: len(words)] == words and words:
                said.like = name
                said.understood.append(f"like {name}")
                return _after(text, len(words))
        words = _WORDS.findall(text.partition(",")[0])
        near = get_close_matches(" ".join(words[:3]), list(self.classes), 1, 0.8)
        near = near or get_close_matches(words[0] if words else "", list(self.classes), 1, 0.8)
        if not near:
            said.unknown.append(text.partition(",")[0].strip())
            return text.partition(",")[2]
        said.like = near[0]
        said.understood.append(f"like {near[0]}")
        return _after(text, len(_plain(near[0])))

    def _take(self, part: str, said: Phrase) -> None:
        """Read one part: words around the name of a dimension, perhaps with a number."""
        numbered = _NUMBER.match(part)
        words = _WORDS.findall(numbered[1] if numbered else part)
        share = 1.0
        while words and (words[0] in (*_NOT, *_HALF, "very", "more", "less", "quite")):
            word = words.pop(0)
            share = 0.0 if word in (*_NOT, "less") else 0.5 if word in _HALF else share
        if not words:
            said.unknown.append(part)
        while words:
            index, n = self._dimension(words)
            used, words = words[:n], words[n:]
            if index is None:
                said.unknown.append(" ".join(used))
                continue
            if not numbered and self.low[index] == self.high[index]:
                said.constant.append(self.dimensions[index])
                continue
            value = float(self.low[index] + share * (self.high[index] - self.low[index]))
            value = float(numbered[2]) if numbered else value
            for other in self._excluded(index) if share == 1.0 and not numbered else ():
                said.changes[other] = float(self.low[other])
            said.changes[index] = value
            said.understood.append(f"{self.dimensions[index]} {value:g}")

    def _dimension(self, words: list[str]) -> tuple[int | None, int]:
        """Return the dimension that the first words name, in any form, and how many they are."""
        wanted = [_stem(word) for word in words]
        stems = [[_stem(word) for word in _plain(name)] for name in self.dimensions]
        named = {tuple(own): place for place, own in reversed(list(enumerate(stems))) if own}
        for n in range(len(wanted), 0, -1):
            if tuple(wanted[:n]) in named:
                return named[tuple(wanted[:n])], n
        joined = {"".join(own): place for own, place in named.items()}
        for n in (len(wanted), 1):
            near = get_close_matches("".join(wanted[:n]), joined, 1, 0.82)
            if near:
                return joined[near[0]], n
        return None, 1

    def _excluded(self, index: int) -> list[int]:
        """Return the dimensions that cannot be there together with one of them."""
        if self.groups is None:
            return []
        same = [i for i, group in enumerate(self.groups) if group == self.groups[index]]
        table = np.array(list(self.classes.values()))[:, same]
        highest = self.high[same]
        # One of a kind: nearly every class has exactly one of them.
        single = ((table == highest) & (highest > self.low[same])).sum(axis=1) == 1
        return [i for i in same if i != index] if single.mean() > 0.9 else []


def _plain(text: str) -> list[str]:
    """Return the words of a name: those of "giant+panda" are two."""
    return [_stem(word) for word in _WORDS.findall(text.lower())]


def _after(text: str, n_words: int) -> str:
    """Return a text without its first words."""
    found = list(_WORDS.finditer(text))
    return text[found[n_words - 1].end() :] if n_words <= len(found) else ""


def _stem(word: str) -> str:
    """Return a word without its ending: "striped", "stripes" and "stripy" become one."""
    for ending in ("iness", "ness", "ing", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
