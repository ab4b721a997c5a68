"""Class signatures from word vectors: a file, gensim's KeyedVectors or a dict."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from zslearn._files import PathLike
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.semantics.coverage import Match, MatchedSignatures, warn_of_twins
from zslearn.semantics.vector_files import read_word_vectors
from zslearn.semantics.word_search import WordSearch
from zslearn.signatures import Signatures

Overrides = Mapping[Any, str | Sequence[str]]


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
    >>> from zslearn.semantics import match_word_vectors
    >>> vectors = {"Zebra": [3.0, 4.0], "polar": [1.0, 0.0], "bears": [0.0, 1.0]}
    >>> matched = match_word_vectors(["zebra", "polar+bear"], vectors)
    >>> matched.signatures["zebra"]
    array([0.6, 0.8])
    >>> [(match.rule, match.words) for match in matched.coverage]
    [('case', ('Zebra',)), ('mean of words', ('polar', 'bears'))]
    """
    labels = _checked_names(names)
    replaced = _checked_overrides(overrides or {}, labels)
    texts = {label: replaced.get(label, (label,)) for label in labels}
    search = WordSearch(text for group in texts.values() for text in group)
    skipped = _search(source, search)
    matches = [_match(label, texts[label], search, label in replaced) for label in labels]
    coverage = tuple(match for match in matches if match is not None)
    if len(coverage) < len(labels):
        missing = [label for label, match in zip(labels, matches, strict=True) if match is None]
        raise InvalidInputError(_missing_line(missing, texts, search, skipped))
    warn_of_twins(coverage)
    vectors = np.stack([search.vector_of(match.words) for match in coverage])
    return MatchedSignatures(Signatures(labels, vectors), coverage)


def _checked_names(names: Iterable[Any]) -> list[str]:
    if isinstance(names, str):
        raise InvalidTypeError(f"names must be several class names; got the text {names!r}.")
    labels = list(names)
    wrong = next((name for name in labels if not isinstance(name, str) or not name.strip()), None)
    if wrong is not None or not labels:
        raise InvalidInputError(
            f"Class names must be text that is not empty, to be looked for as words; got {wrong!r}."
            if labels
            else "There are no class names to look for."
        )
    return [str(label) for label in labels]


def _checked_overrides(overrides: Overrides, labels: Sequence[str]) -> dict[Any, tuple[str, ...]]:
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


def _search(source: Any, search: WordSearch) -> int:
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
            search.add(word, np.asarray(source[word], dtype=np.float64))
    return 0


def _search_file(path: PathLike, search: WordSearch) -> int:
    skipped = 0

    def wanted(word: bytes) -> bool:
        nonlocal skipped
        try:
            return search.wants(word.decode())
        except UnicodeDecodeError:
            skipped += 1
            return False

    for word, vector in read_word_vectors(path, wanted):
        try:
            search.add(word.decode(), vector)
        except InvalidInputError as error:
            raise InvalidInputError(f"{os.fspath(path)}: {error}") from error
    return skipped


def _match(label: str, texts: tuple[str, ...], search: WordSearch, replaced: bool) -> Match | None:
    """Find one class; every word of an override must be found."""
    found = [search.find(text) for text in texts]
    if not all(found):
        return None
    words = tuple(word for hit in found if hit for word in hit[1])
    return Match(label, "override" if replaced or not found[0] else found[0][0], words)


def _missing_line(
    missing: Sequence[str],
    texts: Mapping[str, tuple[str, ...]],
    search: WordSearch,
    skipped: int,
) -> str:
    """Say which classes were not found, and which words are spelled alike."""
    shown = []
    for label in missing[:5]:
        text = next(text for text in texts[label] if search.find(text) is None)
        near = ", ".join(map(repr, search.closest(text)))
        of = "" if text == label else f" (looked for {text!r})"
        shown.append(f"{label!r}{of}" + (f" (the closest words are {near})" if near else ""))
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    damaged = f" {skipped} words of the file are not UTF-8 and were skipped." if skipped else ""
    return (
        f"No word vector was found for {', '.join(shown)}{more}. Leave them out, or pass "
        f"overrides={{{missing[0]!r}: 'another word'}}.{damaged}"
    )
