"""Names to look for, words to take in their place, and the line that says what was not found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from zslearn.exceptions import InvalidInputError, InvalidTypeError

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
