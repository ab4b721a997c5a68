"""The words a set of class names may be found by, looked for in one walk through a vocabulary."""

from __future__ import annotations

import difflib
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Generic, TypeVar

from zslearn.exceptions import InvalidInputError, InvalidTypeError, ZslearnWarning
from zslearn.signatures import Signatures

Words = tuple[str, ...]

# Words that carry no meaning of their own in a name such as "bird of paradise".
_FUNCTION_WORDS = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "the"})
_FUNCTION_WORDS |= {"to", "with"}


def split_words(name: str) -> Words:
    """Split a name into lower-case words, without a number or a letter folder in front.

    Examples
    --------
    >>> split_words("001.Black_footed-Albatross"), split_words("polar+bear")
    (('black', 'footed', 'albatross'), ('polar', 'bear'))
    """
    plain = re.sub(r"^\s*(\d+[._\s-]+|[a-z]/)", "", name.lower().replace("'", ""))
    return tuple(re.findall(r"[^\W_]+", plain))


def singular_forms(words: Words) -> list[Words]:
    """Return the name as it stands and with its last word in the singular.

    Examples
    --------
    >>> singular_forms(("red", "foxes"))
    [('red', 'foxes'), ('red', 'fox'), ('red', 'foxe')]
    """
    if not words:
        return []
    *front, last = words
    singular = [last]
    if last.endswith("ies") and len(last) > 4:
        singular.append(last[:-3] + "y")
    if last.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        singular.append(last[:-2])
    if last.endswith("s") and not last.endswith(("ss", "us", "is")) and len(last) > 3:
        singular.append(last[:-1])
    return [(*front, word) for word in singular]


def plural_form(words: Words) -> Words:
    """Return the name with its last word in the regular plural.

    Examples
    --------
    >>> plural_form(("polar", "bear")), plural_form(("gray", "fox")), plural_form(("pony",))
    (('polar', 'bears'), ('gray', 'foxes'), ('ponies',))
    """
    *front, last = words
    if last.endswith("y") and last[-2:-1] not in set("aeiou"):
        plural = last[:-1] + "ies"
    elif last.endswith(("s", "x", "z", "ch", "sh")):
        plural = last + "es"
    else:
        plural = last + "s"
    return (*front, plural)


def number_forms(words: Words) -> list[Words]:
    """Return the name in the other number: singular forms first, then the plural."""
    return [*singular_forms(words)[1:], plural_form(words)] if words else []


def content_words(words: Words) -> Words:
    """Return the words without articles, prepositions and "and"."""
    return tuple(word for word in words if word not in _FUNCTION_WORDS)


def head_noun(words: Words) -> str:
    """Return the word that says what kind of thing it is: the last before a preposition.

    Examples
    --------
    >>> head_noun(("polar", "bear")), head_noun(("bird", "of", "paradise"))
    ('bear', 'bird')
    """
    inner = next((i for i, word in enumerate(words) if i and word in _FUNCTION_WORDS), len(words))
    return words[inner - 1]


Item = TypeVar("Item")
Found = tuple[str, tuple[str, ...]]

# In the order they are tried.
RULES = ("exact", "case", "separator", "plural", "phrase", "mean of words", "head noun")
_SEPARATORS = str.maketrans({"+": "_", "-": "_", " ": "_"})
_LONGEST_PHRASE = 4
# The ways to cut a name double with every word; a longer text is no name.
_MOST_WORDS = 8
# Words of the vocabulary kept per beginning, to name the closest ones of a class without a hit.
_NEAR_WORDS = 2000
_BEGINNING = 2


def key_of(word: str) -> str:
    """Return a word without its case and with one kind of separator."""
    return word.lower().translate(_SEPARATORS)


class WordSearch(Generic[Item]):
    """Looks for the words of class names while a vocabulary goes by.

    For each key, that is a word without its case and its kind of separator, one spelling is kept:
    the first one in lower case, else the first; and every spelling that is a class name.

    Parameters
    ----------
    names : iterable of str
        Class names, or words to look for.
    rules : sequence of str, default=RULES
        The rules that may find a name, tried in the order of `RULES`.
    """

    def __init__(self, names: Iterable[str], rules: Sequence[str] = RULES) -> None:
        self._rules = frozenset(rules)
        self._names = frozenset(names)
        self._keys = frozenset(key for name in self._names for key in _keys(name))
        self._items: dict[str, Item] = {}
        self._spelling: dict[str, str] = {}
        self._near: dict[str, list[str]] = {key[:_BEGINNING]: [] for key in self._keys if key}

    def wants(self, word: str) -> bool:
        """Say whether a word is needed; remember words that are much like one."""
        key = key_of(word)
        near = self._near.get(key[:_BEGINNING])
        if near is not None and len(near) < _NEAR_WORDS:
            near.append(word[:80])
        if key not in self._keys or word in self._items:
            return False
        if word in self._names or key not in self._spelling:
            return True
        return word.islower() and not self._spelling[key].islower()

    def add(self, word: str, item: Item) -> None:
        """Keep what belongs to a wanted word."""
        self._items[word] = item
        key = key_of(word)
        spelling = self._spelling.get(key)
        if spelling is None or (word.islower() and not spelling.islower()):
            if spelling is not None and spelling not in self._names:
                del self._items[spelling]
            self._spelling[key] = word

    def __getitem__(self, word: str) -> Item:
        """Return what belongs to a word that was found."""
        return self._items[word]

    def find(self, name: str) -> Found | None:
        """Return the first rule that finds a name, and the words it found; None without a hit."""
        words = split_words(name)
        tries: dict[str, Callable[[], tuple[str, ...] | None]] = {
            "exact": lambda: (name,) if name in self._items else None,
            "case": lambda: self._in_another_case(name),
            "separator": lambda: self._whole(name, words),
            "plural": lambda: self._other_number(words),
            "phrase": lambda: self._phrases(words),
            "mean of words": lambda: self._each(content_words(words) or words),
            "head noun": lambda: self._each((head_noun(words),)) if words else None,
        }
        results = ((rule, tries[rule]()) for rule in RULES if rule in self._rules)
        return next(((rule, found) for rule, found in results if found), None)

    def closest(self, name: str, n: int = 3) -> list[str]:
        """Return words of the vocabulary that are spelled much like a name."""
        keys = dict.fromkeys([key_of(name), *split_words(name)])
        spelled = {
            key_of(word): word for key in keys for word in self._near.get(key[:_BEGINNING], ())
        }
        near = [found for key in keys for found in difflib.get_close_matches(key, spelled, n, 0.7)]
        return [spelled[key] for key in dict.fromkeys(near)][:n]

    def _in_another_case(self, name: str) -> tuple[str, ...] | None:
        """Find the name with other capitals."""
        spelling = self._spelling.get(key_of(name))
        return (spelling,) if spelling and spelling.lower() == name.lower() else None

    def _whole(self, name: str, words: Words) -> tuple[str, ...] | None:
        """Find the whole name with other separators, or with none."""
        keys = [key_of(name), "_".join(words), "".join(words)]
        return next(((self._spelling[key],) for key in keys if key in self._spelling), None)

    def _other_number(self, words: Words) -> tuple[str, ...] | None:
        """Find the whole name in the singular or the plural."""
        forms = (self._whole("_".join(form), form) for form in number_forms(words))
        return next((found for found in forms if found), None)

    def _part(self, words: Words) -> tuple[str, ...] | None:
        """Find a part of a name in either number."""
        return self._whole("_".join(words), words) or self._other_number(words)

    def _each(self, words: Words) -> tuple[str, ...] | None:
        """Find every word; None if one is missing."""
        found = [self._part((word,)) for word in words]
        return tuple(hit[0] for hit in found if hit) if found and all(found) else None

    def _phrases(self, words: Words) -> tuple[str, ...] | None:
        """Cut a name into the fewest phrases that are all found, one of them of several words."""
        if len(words) > _MOST_WORDS:
            return None
        for n_cuts in range(1, len(words) - 1):
            for cuts in combinations(range(1, len(words)), n_cuts):
                ends = [*cuts, len(words)]
                parts = [words[a:b] for a, b in zip([0, *cuts], ends, strict=True)]
                found = [self._part(part) for part in parts if content_words(part)]
                if all(found) and any(len(part) > 1 for part in parts):
                    return tuple(hit[0] for hit in found if hit)
        return None


def _keys(name: str) -> set[str]:
    """Return every key that a name, or a part of it, may be found by."""
    words = split_words(name)
    spans = [
        words[start:end]
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + _LONGEST_PHRASE) + 1)
    ]
    forms = [form for span in [words, *spans] if span for form in (span, *number_forms(span))]
    keys = {joint.join(form) for form in forms for joint in ("_", "")}
    return keys | {key_of(name)}


Overrides = Mapping[Any, str | Sequence[str]]


def check_names(names: Iterable[Any]) -> list[str]:
    """Return class names as a list; each must be text."""
    if isinstance(names, str):
        raise InvalidTypeError(f"names must be several class names; got the text {names!r}.")
    labels = list(names)
    if not labels:
        raise InvalidInputError("There are no class names to look for.")
    for name in labels:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(
                "Class names must be text that is not empty, to be looked for as words; got "
                f"{name!r}."
            )
    return [str(label) for label in labels]


def check_overrides(overrides: Overrides, labels: Sequence[str]) -> dict[Any, tuple[str, ...]]:
    """Return the words of each override as a tuple."""
    unknown = [name for name in overrides if name not in labels]
    if unknown:
        raise InvalidInputError(f"overrides names {unknown[0]!r}, which is none of the classes.")
    words = {
        name: (given,) if isinstance(given, str) else tuple(given)
        for name, given in overrides.items()
    }
    for name, given in words.items():
        if not given or not all(isinstance(word, str) and word.strip() for word in given):
            raise InvalidInputError(f"overrides[{name!r}] must be a word or several; got {given}.")
    return words


def spell_missing(
    what: str, missing: Mapping[str, str], closest: Callable[[str], list[str]]
) -> str:
    """Say which classes were not found, and which words are spelled alike.

    Parameters
    ----------
    what : str
        What was looked for, such as "word vector".
    missing : mapping of str to str
        Classes and the text each was looked for by.
    closest : callable
        Returns words that are spelled much like a text.
    """
    shown = []
    for label, text in list(missing.items())[:5]:
        near = ", ".join(map(repr, closest(text)))
        of = "" if text == label else f" (looked for {text!r})"
        shown.append(f"{label!r}{of}" + (f" (the closest words are {near})" if near else ""))
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    return (
        f"No {what} was found for {', '.join(shown)}{more}. Leave them out, or pass "
        f"overrides={{{next(iter(missing))!r}: 'another word'}}."
    )


@dataclass(frozen=True)
class Match:
    """How one class was found.

    Attributes
    ----------
    name : label
        The class.
    rule : str
        The rule that found it.
    words : tuple of str
        What was found, as it is spelled there.
    """

    name: Any
    rule: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class MatchedSignatures:
    """A class table made from names, and how each name was found.

    Attributes
    ----------
    signatures : Signatures
        One row per class.
    coverage : tuple of Match
        One item per class, in the same order.
    """

    signatures: Signatures
    coverage: tuple[Match, ...]

    def __str__(self) -> str:
        rules = Counter(match.rule for match in self.coverage)
        counts = ", ".join(f"{count} by {rule}" for rule, count in rules.items())
        return f"{len(self.coverage)} classes: {counts}."


def warn_of_twins(coverage: tuple[Match, ...]) -> None:
    """Warn of classes found by the same words: no method can tell them apart."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for match in coverage:
        groups.setdefault(match.words, []).append(str(match.name))
    twins = {words: names for words, names in groups.items() if len(names) > 1}
    if twins:
        words, names = next(iter(twins.items()))
        more = f" ({len(twins) - 1} more such groups)" if len(twins) > 1 else ""
        warnings.warn(
            f"The classes {', '.join(names)} all got the vector of {' + '.join(words)!r}{more}; "
            "no method can tell them apart. Pass overrides= to give them words of their own.",
            ZslearnWarning,
            stacklevel=3,
        )
