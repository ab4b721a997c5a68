"""Class signatures from word vectors: a file, gensim's KeyedVectors or a dict."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import PathLike, naming
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.semantics.coverage import Match, MatchedSignatures, warn_of_twins
from zslearn.semantics.name_checks import Overrides, check_names, check_overrides, spell_missing
from zslearn.semantics.vector_files import read_word_vectors
from zslearn.semantics.word_search import WordSearch
from zslearn.signatures import Signatures

FloatArray = NDArray[np.float64]
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
    >>> from zslearn.semantics import match_word_vectors
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
