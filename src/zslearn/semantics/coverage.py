"""Which rule found a class, and by which words."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

from zslearn.exceptions import ZslearnWarning
from zslearn.signatures import Signatures


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
