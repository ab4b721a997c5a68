"""Phrases of the texts of a class, and what the class would be without each of them.

A vector that a text encoder made has no dimension that a person can read. What a phrase means for
it is told by leaving the phrase out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Content words of a phrase, phrases of a class, and classes of a table that is given them unasked.
MOST_WORDS, MOST_PHRASES, MOST_CLASSES = 4, 12, 500
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Phrases(NamedTuple):
    """What can be left out of the texts of a class.

    Attributes
    ----------
    words : tuple of str
        The phrases.
    vectors : ndarray of shape (n_phrases, n_dimensions), float32
        The vector that the class would have without each of them.
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32]


class Version(NamedTuple):
    """A class without one phrase: the phrase, the texts left, and the name if it counts."""

    phrase: str
    texts: tuple[str, ...]
    name: str | None

    @property
    def every(self) -> tuple[str, ...]:
        """All that is said of the class."""
        return self.texts if self.name is None else (*self.texts, self.name)


def cut_phrases(text: str, most: int = MOST_WORDS) -> list[tuple[str, str]]:
    """Return the phrases of a text, and the text without each of them.

    A phrase is a run of words between stop words and punctuation; a long one is cut evenly.

    Parameters
    ----------
    text : str
        A sentence or a name.
    most : int, default=4
        Words of a phrase.

    Returns
    -------
    list of (str, str)
        What is left holds no word if the phrase was all of the text.

    Examples
    --------
    >>> cut_phrases("It has a striped coat, and eats grass.")
    [('striped coat', 'It has a , and eats grass.'), ('eats grass', 'It has a striped coat, and .')]
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    runs: list[list[re.Match[str]]] = [[]]
    end = 0
    for word in _WORD.finditer(text):
        stop = re.split("['’]", word[0].casefold())[0] in ENGLISH_STOP_WORDS
        if stop or text[end : word.start()].strip():
            runs.append([])
        if not stop:
            runs[-1].append(word)
        end = word.end()
    found = []
    for run in filter(None, runs):
        n_parts = math.ceil(len(run) / most)
        bounds = [len(run) * i // n_parts for i in range(n_parts + 1)]
        for first, last in pairwise(bounds):
            start, stop_at = run[first].start(), run[last - 1].end()
            left = f"{text[:start]} {text[stop_at:]}"
            found.append((text[start:stop_at], " ".join(left.split())))
    return found


def versions_without(texts: Sequence[str], name: str | None) -> list[Version]:
    """Return a class without each phrase of its texts, and without its name if that counts.

    Where a phrase is left out, the name loses its words too. A class of a single phrase is cut into
    its words.

    Examples
    --------
    >>> [version.phrase for version in versions_without(["a striped horse of the plains"], "zebra")]
    ['zebra', 'striped horse', 'plains']
    >>> [version.phrase for version in versions_without(["card payment"], None)]
    ['card', 'payment']
    """
    found = [] if name is None else [Version(name, tuple(texts), None)]
    for most in (MOST_WORDS, 1):
        for place, text in enumerate(texts):
            for phrase, left in cut_phrases(text, most):
                kept = (left,) if _WORD.search(left) else ()
                rest = (*texts[:place], *kept, *texts[place + 1 :])
                spoken = _without_words(name, phrase)
                if rest or spoken is not None:
                    found.append(Version(phrase, rest, spoken))
        if found:
            break
    return found[:MOST_PHRASES]


def _without_words(name: str | None, phrase: str) -> str | None:
    """Return a name without the words of a phrase; None if nothing is left."""
    said = {word.casefold() for word in _WORD.findall(phrase)}
    left = [word for word in _WORD.findall(name or "") if word.casefold() not in said]
    return " ".join(left) or None
