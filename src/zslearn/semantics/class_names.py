"""Class names as words: split, singular and plural, head noun."""

from __future__ import annotations

import re

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
