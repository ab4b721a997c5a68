"""A class in words of its table: "like a horse, but with stripes and not domestic".

Words that name a trait or a class are taken as they are, plurals too. What is near to one, in its
letters or to the text encoder in its meaning, is suggested and never taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import check_flags
from zslearn.encoders.text_encoder import TextEncoder
from zslearn.exceptions import InvalidInputError, MissingExtraError
from zslearn.signatures import Signatures
from zslearn.signatures.new_classes import spell_out

MOST_LETTERS = 2000
# Words whose vectors lie nearer than this are suggested for each other: "large" for "big" has
# .81, "ocean" for "sea" .87, "swims" for "swimming" .86, words without a match mostly below .5.
ALIKE = 0.55
# Of several suggestions, those that are about as near as the nearest, so many at most.
CLOSE, SHOWN = 0.1, 3
# Words of a name at most, and up to how many each may be a plural.
MOST_WORDS, MOST_FORMS = 12, 3
_PART = re.compile(r"[^\W_]+(?:[.][0-9]+)?(?:['’-][^\W_]+)*|[,;:!?.\n]")
_WORD = re.compile(r"[0-9]+(?:[.][0-9]+)?|[^\W\d_]+|\d+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NOT = frozenset(
    "not no never nor neither without non isn't hasn't doesn't don't can't cannot".split()
)
_HALF = frozenset("somewhat slightly half partly little bit less".split())
_LIKE = frozenset("like similar as resembles".split())
# Behind these a "not" no longer counts.
_ENDS = frozenset("but and with that which , ; : ! ? . \n".split(" "))
_FILLERS = frozenset(
    "a an the is are be it its his her they of to in on at by for from has have having had does do "
    "also or very quite really rather more much most just looks look with and but that which who "
    "some any than too all lives live eats eat animal thing kind sort type one".split()
)


@dataclass
class Phrase:
    """What a text was understood as.

    Attributes
    ----------
    row : ndarray of shape (n_dimensions,)
        The signature: that of the class named, or the mean of the training classes, with the
        traits that were named.
    like : label or None
        The class named.
    changes : dict of int to float
        Values by the number of their dimension.
    understood : list of str
        The class and the traits, in the order of the text.
    unknown : list of str
        Words that name nothing here.
    suggestions : dict of str to tuple of str
        For some of these, names that may be meant; nothing is taken before someone writes it.
    constant : list of str
        Traits that were named and do not differ between the training classes, so that no model can
        have learned them.
    """

    row: NDArray[np.float64]
    like: Any = None
    changes: dict[int, float] = field(default_factory=dict)
    understood: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    suggestions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    constant: list[str] = field(default_factory=list)

    @property
    def is_understood(self) -> bool:
        """Whether the text names a class or a trait."""
        return self.like is not None or bool(self.changes)

    def checked(self) -> Phrase:
        """Return the phrase, or refuse one of which nothing was understood."""
        if self.is_understood:
            return self
        hint = self.hint() or "Write for example: like CLASS, but TRAIT, not TRAIT."
        raise InvalidInputError(f"nothing of this names a trait or a class. {hint}")

    def hint(self) -> str:
        """Say what was not understood, and what may be meant."""
        parts = [
            word + (f" (is that {' or '.join(map(repr, names))}?)" if names else "")
            for word in self.unknown
            for names in [self.suggestions.get(word)]
        ]
        said = [f"Not understood: {', '.join(parts)}."] if parts else []
        if self.constant:
            said.append(f"The same in all training classes: {', '.join(self.constant)}.")
        return " ".join(said)


class _Unit(NamedTuple):
    """A word of the text as it was written, or a mark; and the words inside it, as compared."""

    text: str
    words: tuple[str, ...]


def read_phrase(
    text: str,
    signatures: Signatures,
    *,
    seen: Sequence[Any] | None = None,
    groups: Sequence[str] | None = None,
    suggest: bool = True,
) -> Phrase:
    """Read a description in words of a class table.

    Parameters
    ----------
    text : str
        Traits, each for its largest value in the training classes, with "not" for the smallest,
        "slightly" for the middle, or with a number; and a class that the new one is like.
    signatures : Signatures
        The classes and the traits that can be named.
    seen : sequence of labels, optional
        The training classes, which give the range of each trait; by default all.
    groups : sequence of str, optional
        The group of each dimension. In a group of which nearly every class has exactly one trait,
        naming one takes the others away.
    suggest : bool, default=True
        Whether names are suggested for words that were not understood: by the text encoder where
        it is installed, and by spelling.

    Returns
    -------
    Phrase

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> from zslearn.encoders import read_phrase
    >>> animals = load_animals().signatures
    >>> said = read_phrase("like a horse, but with stripes and not domestic", animals)
    >>> said.understood, said.unknown
    (['like horse', 'stripes', 'not domestic'], [])
    >>> read_phrase("a striped horse", animals).suggestions["striped"]
    ('stripes',)
    """
    check_flags(suggest=suggest)
    reader = _Reader(signatures, seen, groups)
    said = reader.read(text[:MOST_LETTERS])
    if suggest and said.unknown:
        said.suggestions = reader.suggested(said.unknown)
    return said


class _Reader:
    def __init__(
        self, table: Signatures, seen: Sequence[Any] | None, groups: Sequence[str] | None
    ) -> None:
        self._table, self._groups = table, groups
        self._known = table.vectors if seen is None or not len(seen) else table.rows(seen)
        self._low, self._high = self._known.min(axis=0), self._known.max(axis=0)
        self._traits = _index(table.dimensions)
        self._classes = _index(table)

    def read(self, text: str) -> Phrase:
        """Walk over the words: at each, the longest name that begins there is taken."""
        said = Phrase(self._known.mean(axis=0))
        units = [
            _Unit(part, tuple(_WORD.findall(part.lower())) or (part,))
            for part in _PART.findall(text)
        ]
        share, after_like, place = 1.0, False, 0
        while place < len(units):
            word = units[place].text.lower().replace("’", "'")
            trait, n_trait = _longest(self._traits, units, place)
            name, n_name = _longest(self._classes, units, place)
            if name is not None and said.like is None and (after_like or n_name > n_trait):
                self._take_class(name, said)
                place, after_like = place + n_name, False
                continue
            if trait is not None:
                index = list(self._table.dimensions).index(trait)
                place += n_trait
                number = _NUMBER.fullmatch(units[place].text) if place < len(units) else None
                self._take(index, share, None if number is None else float(number[0]), said)
                place += number is not None
                continue
            if word in _NOT:
                share = 0.0
            elif word in _HALF:
                share = 0.5
            elif word in _LIKE:
                after_like = True
            elif word in _ENDS:
                share = 1.0
            elif word not in _FILLERS and word not in said.unknown:
                said.unknown.append(word)
            place += 1
        for index, value in said.changes.items():
            said.row[index] = value
        return said

    def suggested(self, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return names that may be meant by words, those that have any."""
        traits = {_spelled(name): str(name) for name in self._table.dimensions}
        classes = {_spelled(name): spell_out(str(name)) for name in self._table}
        near = {word: get_close_matches(word, [*traits, *classes], SHOWN, 0.75) for word in words}
        # "cat" may be the Persian cat.
        for word in words:
            near[word] += [name for name in classes if word in name.split()]
        alike = _alike(words, list(traits))
        names = {name: f"like {found}" for name, found in classes.items()} | traits
        found = {
            word: tuple(dict.fromkeys(names[name] for name in (*near[word], *alike[word])))
            for word in words
        }
        return {word: given[:SHOWN] for word, given in found.items() if given}

    def _take_class(self, name: Any, said: Phrase) -> None:
        said.like, said.row = name, self._table[name].copy()
        said.understood.append(f"like {spell_out(str(name))}")

    def _take(self, index: int, share: float, number: float | None, said: Phrase) -> None:
        name, low, high = self._table.dimensions[index], self._low[index], self._high[index]
        if number is None and low == high:
            said.constant.append(name)
            return
        if number is None and share == 1.0:
            for other in self._excluded(index):
                said.changes[other] = float(self._low[other])
        said.changes[index] = float(low + share * (high - low)) if number is None else number
        how = f"{name} {number:g}" if number is not None else name
        said.understood.append({0.0: f"not {name}", 0.5: f"somewhat {name}"}.get(share, how))

    def _excluded(self, index: int) -> list[int]:
        """Return the traits that cannot be there together with one of them."""
        if self._groups is None:
            return []
        same = [i for i, group in enumerate(self._groups) if group == self._groups[index]]
        values, highest = self._table.vectors[:, same], self._high[same]
        # One of a kind: nearly every class has exactly one of them.
        single = ((values == highest) & (highest > self._low[same])).sum(axis=1) == 1
        return [i for i in same if i != index] if single.mean() > 0.9 else []


def _index(names: Any) -> dict[tuple[str, ...], Any]:
    """Return names by their words, and by all of them written as one: "longleg" is "long leg"."""
    found: dict[tuple[str, ...], Any] = {}
    for name in names:
        words = _WORD.findall(str(name).lower())
        for key in (*_ways(words), *_ways(["".join(words)])):
            found.setdefault(key, name)
    return found


def _longest(
    index: Mapping[tuple[str, ...], Any], units: list[_Unit], place: int
) -> tuple[Any, int]:
    """Return the name with most words that begins at a place, and how many units it takes."""
    words: list[str] = []
    best: tuple[Any, int] = None, 0
    for n, unit in enumerate(units[place : place + MOST_WORDS], 1):
        words += unit.words
        for key in (*_ways(words), *_ways(["".join(words)])):
            if key in index:
                best = index[key], n
    return best


def _ways(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return words in the singular and plural that they may be; of many, the last one only."""
    if len(words) > MOST_FORMS:
        return [(*words[:-1], form) for form in _forms(words[-1])]
    return list(product(*map(_forms, words))) if any(words) else []


def _forms(word: str) -> list[str]:
    """Return a word and what it may be the plural of: "hooves", "hoove", "hoov", "hoof"."""
    forms = [word]
    for ending, single in (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe")):
        if word.endswith(ending) and len(word) - len(ending) > 1 and not word.endswith("ss"):
            forms.append(word[: -len(ending)] + single)
    return forms


def _spelled(name: Any) -> str:
    return " ".join(_WORD.findall(str(name).lower()))


def _alike(words: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names nearest in meaning to each word; none without the text encoder."""
    try:
        encoder = TextEncoder()
        known, asked = encoder.transform(list(names)), encoder.transform(list(words))
    except MissingExtraError:
        return {word: [] for word in words}
    found = {}
    for word, near in zip(words, asked @ known.T, strict=True):
        least = max(ALIKE, float(near.max()) - CLOSE)
        order = np.argsort(-near, kind="stable")[:SHOWN]
        found[word] = [names[i] for i in order if near[i] >= least]
    return found
