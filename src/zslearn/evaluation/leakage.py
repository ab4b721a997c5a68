"""Unseen classes that the feature extractor was trained on are not unseen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from zslearn.exceptions import InvalidInputError
from zslearn.semantics.class_names import Words, singular_forms, split_words


@dataclass(frozen=True)
class LeakageReport:
    """Which classes a network may have been trained on.

    Attributes
    ----------
    exact : dict of class to str
        Classes that are a pretraining class by one of its names, with that class.
    partial : dict of class to tuple of str
        Other classes that are a kind of a pretraining class, or the other way round, or a sister
        by their last word ("humpback whale" and "gray whale"). Look at them.
    clean : tuple
        Classes with neither.
    """

    exact: Mapping[Any, str]
    partial: Mapping[Any, tuple[str, ...]]
    clean: tuple[Any, ...]

    def __str__(self) -> str:
        total = len(self.exact) + len(self.partial) + len(self.clean)
        lines = [
            f"{len(self.exact)} of {total} classes are pretraining classes, "
            f"{len(self.partial)} more are related to one by name."
        ]
        lines += [f"  exact    {name}: {match}" for name, match in self.exact.items()]
        lines += [f"  related  {name}: {'; '.join(found)}" for name, found in self.partial.items()]
        return "\n".join(lines)


def leakage_report(
    class_names: Iterable[Any], pretraining_classes: Iterable[str] | None = None
) -> LeakageReport:
    """Compare unseen classes with those a feature extractor was trained on.

    Names are compared as words: case, ``+ _ - . /``, a number in front and the plural of the last
    word do not matter. It is a comparison of names: a class under a name of another language, or a
    picture of it under another label, is not found.

    Parameters
    ----------
    class_names : iterable of str
        Classes that should be unseen, for example ``split.unseen``.
    pretraining_classes : iterable of str, optional
        Classes of the pretraining, synonyms separated by commas; by default the 1,000 classes of
        ImageNet (ILSVRC 2012), on which most image networks were trained.

    Returns
    -------
    LeakageReport
        Its text is a summary.

    Examples
    --------
    >>> from zslearn.evaluation import leakage_report
    >>> report = leakage_report(["polar+bear", "humpback+whale", "bat"])
    >>> report.exact["polar+bear"]
    'ice bear, polar bear, Ursus Maritimus, Thalarctos maritimus'
    >>> list(report.partial), report.clean
    (['humpback+whale'], ('bat',))
    """
    known = imagenet_classes() if pretraining_classes is None else tuple(pretraining_classes)
    names = list(dict.fromkeys(class_names))
    if not names or not known:
        raise InvalidInputError("leakage_report needs at least one class name on each side.")
    whole, by_last_word = _index(known)
    exact: dict[Any, str] = {}
    partial: dict[Any, tuple[str, ...]] = {}
    clean: list[Any] = []
    for name in names:
        words = split_words(str(name))
        found = [whole[form] for form in singular_forms(words) if form in whole]
        if found:
            exact[name] = found[0]
            continue
        related = _related(words, by_last_word)
        if related:
            partial[name] = related
        else:
            clean.append(name)
    return LeakageReport(exact, partial, tuple(clean))


@lru_cache(maxsize=1)
def imagenet_classes() -> tuple[str, ...]:
    """Return the 1,000 class names of ImageNet (ILSVRC 2012) in label order.

    Returns
    -------
    tuple of str
        Synonyms of a class are separated by commas.

    Examples
    --------
    >>> from zslearn.evaluation import imagenet_classes
    >>> imagenet_classes()[340]
    'zebra'
    """
    source = files("zslearn.evaluation") / "data" / "imagenet1k_classes.txt"
    return tuple(source.read_text(encoding="utf-8").splitlines())


def _index(known: Iterable[str]) -> tuple[dict[Words, str], dict[str, list[tuple[Words, str]]]]:
    """Index the pretraining classes by every form of every synonym, and by its last word."""
    whole: dict[Words, str] = {}
    by_last_word: dict[str, list[tuple[Words, str]]] = defaultdict(list)
    for entry in known:
        for synonym in str(entry).split(","):
            for form in singular_forms(split_words(synonym)):
                whole.setdefault(form, entry)
                by_last_word[form[-1]].append((form, entry))
    return whole, by_last_word


def _related(words: Words, by_last_word: Mapping[str, list[tuple[Words, str]]]) -> tuple[str, ...]:
    """Return the pretraining classes with the same last word, which is the kind in English."""
    entries = [
        entry for form in singular_forms(words) for _, entry in by_last_word.get(form[-1], ())
    ]
    return tuple(dict.fromkeys(entries))
