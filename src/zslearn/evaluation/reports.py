"""What is wrong with data and answers, told before a figure is believed.

`report_classes`: whether samples and a class table fit together. `leakage_report`: whether unseen
classes are among those that an encoder was trained on. `hubness_report`: whether a few candidates
take most of the answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.core.nearest import best_columns
from zslearn.encoders.word_search import Words, singular_forms, split_words
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures

# Rows whose difference is shorter than this share of the rows are nearly the same.
NEAR = 0.01
# A value that is so many times the next of its column was probably mistyped.
FAR = 100
# How far outside the range of seen classes a value may lie, in widths of that range.
OUTSIDE = 1.0
# Classes of which some can be held out.
LEAST_SEEN = 4
_BLOCK = 512


@dataclass(frozen=True)
class ClassReport:
    """What samples and a class table have in common.

    Attributes
    ----------
    n_samples : dict of str to int
        Samples of every class that has samples or a signature; first those of the table, in its
        order.
    seen, unseen, without_signature : tuple of str
        Classes with both, with a signature only and with samples only.
    near_duplicates : tuple of (str, str, float)
        Pairs of classes whose signatures differ by less than 1 % of their length, with that share:
        no method tells them apart.
    constant : tuple of str
        Dimensions with the same value for every class.
    constant_when_seen : tuple of str
        Other dimensions with the same value for every seen class, of which nothing can be learned.
    leakage : LeakageReport
        Unseen classes (all classes if none is unseen) that are among ImageNet's 1,000: an encoder
        pretrained on ImageNet has seen them.
    warnings : tuple of str
        What is likely to be wrong with the table, and what follows from it: a line each, what
        matters most first.
    """

    n_samples: Mapping[str, int]
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    without_signature: tuple[str, ...]
    near_duplicates: tuple[tuple[str, str, float], ...]
    constant: tuple[str, ...]
    constant_when_seen: tuple[str, ...]
    leakage: LeakageReport
    warnings: tuple[str, ...] = ()


def report_classes(labels: Iterable[Any], signatures: Signatures) -> ClassReport:
    """Compare the labels of samples with a class table.

    Parameters
    ----------
    labels : iterable of labels
        The class of every sample.
    signatures : Signatures
        One row per class. Numbers and their texts count as the same class.

    Returns
    -------
    ClassReport

    Examples
    --------
    >>> from zslearn.evaluation import report_classes
    >>> from zslearn.signatures import Signatures
    >>> table = Signatures(["cat", "dog", "zebra"], [[1, 0, 1], [1, 0, 1], [0, 1, 1]])
    >>> report = report_classes(["cat", "cat", "dog", "wug"], table)
    >>> report.seen, report.unseen, report.without_signature
    (('cat', 'dog'), ('zebra',), ('wug',))
    >>> report.near_duplicates, report.constant, report.leakage.exact
    ((('cat', 'dog', 0.0),), ('d2',), {'zebra': 'zebra'})
    >>> print(report.warnings[0].partition(";")[0])
    'cat' and 'dog' have the same row: which is answered is chance
    """
    counts = Counter(str(label) for label in labels)
    names = [str(name) for name in signatures]
    unseen = tuple(name for name in names if name not in counts)
    vectors = signatures.vectors
    constant = _constant(vectors)
    when_seen = _constant(vectors[[name in counts for name in names]]) & ~constant
    titles = np.array(signatures.dimensions, dtype=object)
    seen = tuple(name for name in names if name in counts)
    near = tuple(_near_duplicates(vectors, names))
    found = [*_twins(seen, unseen), *_told_apart(near), *_far_values(signatures), *_few(seen)]
    # The numbers of a text encoder lie anywhere, and none of them means something by itself.
    if signatures.encoder is None:
        found += [*_outside(signatures, seen, unseen), *_never_varies(titles[when_seen])]
    return ClassReport(
        n_samples={name: counts.get(name, 0) for name in [*names, *counts]},
        seen=seen,
        unseen=unseen,
        without_signature=tuple(name for name in counts if name not in set(names)),
        near_duplicates=near,
        constant=tuple(titles[constant]),
        constant_when_seen=tuple(titles[when_seen]),
        leakage=leakage_report(unseen or names),
        warnings=tuple(found),
    )


def _twins(seen: Sequence[str], unseen: Sequence[str]) -> Iterator[str]:
    """Find a class without samples that may be another spelling of one that has some."""
    spelled = {_letters(name): name for name in seen}
    for name in unseen:
        if (twin := spelled.get(_letters(name))) is not None:
            yield (
                f"{name!r} has no samples and {twin!r} has: if they are one class, answers are "
                "divided between them; remove one row"
            )


def _letters(name: str) -> str:
    """Return what is left of a name without capitals, blanks and signs; all of it if nothing is."""
    return "".join(filter(str.isalnum, name.casefold())) or name


def _told_apart(near: Sequence[tuple[str, str, float]]) -> Iterator[str]:
    if near:
        first, second, share = near[0]
        same, more = "nearly the same" if share else "the same", _and_more(len(near), "pair")
        yield (
            f"{first!r} and {second!r} have {same} row{more}: which is answered is "
            "chance; add a trait in which they differ"
        )


def _far_values(signatures: Signatures) -> Iterator[str]:
    """Find columns whose largest value is a hundred times the next."""
    sizes = np.abs(signatures.vectors)
    far = np.flatnonzero(_is_far(sizes)).tolist()
    if far:
        row = int(sizes[:, far[0]].argmax())
        yield (
            f"{str(signatures.names[row])!r} has {signatures.vectors[row, far[0]]:g} in "
            f"{signatures.dimensions[far[0]]!r}, over {FAR} times the next largest"
            f"{_and_more(len(far), 'column')}: beside it the others count as equal; check the "
            "point and the unit"
        )


def _is_far(sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say of which columns the largest value stands alone."""
    if len(sizes) < 3:
        return np.zeros(sizes.shape[1], dtype=bool)
    second, largest = np.partition(sizes, -2, axis=0)[-2:]
    return np.asarray((second > 0) & (largest > FAR * second))


def _few(seen: Sequence[str]) -> Iterator[str]:
    if 0 < len(seen) < LEAST_SEEN:
        yield (
            f"only {len(seen)} classes have samples: little can be learned of what traits look "
            "like; sensible answers begin at about ten"
        )


def _outside(signatures: Signatures, seen: Sequence[str], unseen: Sequence[str]) -> Iterator[str]:
    """Find the class without samples that lies furthest from what the others vary by."""
    if len(seen) < 2 or not unseen:
        return
    names = [str(name) for name in signatures]
    known = signatures.vectors[[name in set(seen) for name in names]]
    low, high = known.min(axis=0), known.max(axis=0)
    varied = (high > low) & ~_is_far(np.abs(signatures.vectors))  # of these it was said above
    far = {}
    for name in unseen:
        row = signatures.vectors[names.index(name)]
        beyond = np.maximum(row - high, low - row)[varied] / (high - low)[varied]
        if beyond.size and beyond.max() > OUTSIDE:
            far[name] = float(beyond.max()), int(np.flatnonzero(varied)[beyond.argmax()])
    if far:
        name = max(far, key=lambda one: far[one][0])
        column = far[name][1]
        value = signatures.vectors[names.index(name), column]
        yield (
            f"{name!r} has {value:g} in {signatures.dimensions[column]!r}, seen classes have "
            f"{low[column]:g} to {high[column]:g}{_and_more(len(far), 'class', 'classes')}: so "
            "much of it was never learned, expect less there"
        )


def _never_varies(titles: NDArray[Any]) -> Iterator[str]:
    if len(titles):
        yield (
            f"{titles[0]!r} is the same for every class with samples"
            f"{_and_more(len(titles), 'trait')}: nothing is learned of it; add samples of a class "
            "that differs in it"
        )


def _and_more(n: int, one: str, many: str | None = None) -> str:
    """Say how many there are besides the first; nothing where there are none."""
    return "" if n == 1 else f" (and {n - 1} more {one if n == 2 else many or one + 's'})"


def _constant(vectors: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which dimensions have one value only; of a single row none."""
    if len(vectors) < 2:
        return np.zeros(vectors.shape[1], dtype=bool)
    return np.asarray(vectors.max(axis=0) == vectors.min(axis=0))


def _near_duplicates(
    vectors: NDArray[np.float64], names: list[str]
) -> list[tuple[str, str, float]]:
    """Find pairs of rows whose difference is short beside them."""
    lengths = np.linalg.norm(vectors, axis=1)
    pairs = []
    for start in range(0, len(vectors), _BLOCK):
        rows = slice(start, start + _BLOCK)
        squares = lengths[rows, None] ** 2 + lengths**2 - 2 * vectors[rows] @ vectors.T
        # Rounding of the squares is far below NEAR², so the pairs are only candidates.
        limit = (2 * NEAR * np.maximum(lengths[rows, None], lengths)) ** 2
        for i, j in np.argwhere(squares <= limit):
            first, second = int(start + i), int(j)
            if first < second:
                longest = max(lengths[first], lengths[second]) or 1.0
                share = float(np.linalg.norm(vectors[first] - vectors[second]) / longest)
                if share < NEAR:
                    pairs.append((names[first], names[second], share))
    return pairs


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


@dataclass(frozen=True, eq=False)
class HubnessReport:
    """How evenly candidates are answered.

    Attributes
    ----------
    k : int
        How many answers of each sample were counted.
    counts : ndarray of shape (n_candidates,)
        N_k: for how many samples each candidate is among the k best.
    skewness : float
        Skewness of N_k; 0 where all candidates are answered equally often, large with hubs.
    largest : object
        The candidate answered most often, the first of equals.
    largest_share : float
        Share of samples that have it among their k best.
    never : int
        Number of candidates that are never answered.
    """

    k: int
    counts: NDArray[np.intp]
    skewness: float
    largest: Any
    largest_share: float
    never: int


def hubness_report(
    predictions_or_scores: ArrayLike, candidates: ArrayLike, *, k: int = 1
) -> HubnessReport:
    """Count how often each candidate is among the k best of a sample.

    Parameters
    ----------
    predictions_or_scores : array-like of shape (n_samples,) or (n_samples, n_candidates)
        Predicted classes, or scores, the higher the better.
    candidates : array-like of shape (n_candidates,)
        Classes allowed as answers; the columns of scores.
    k : int, default=1
        How many answers of each sample to count; above 1 scores are needed.

    Returns
    -------
    HubnessReport

    Raises
    ------
    InvalidInputError
        If shapes do not match, a prediction is no candidate or k is out of range.

    Examples
    --------
    >>> from zslearn.evaluation import hubness_report
    >>> report = hubness_report(["seal", "seal", "seal", "rat"], ["bat", "rat", "seal"])
    >>> report.largest, report.largest_share, report.never
    ('seal', 0.75, 1)
    """
    given, names = np.asarray(predictions_or_scores), np.asarray(candidates)
    if names.ndim != 1 or not names.size or not len(given):
        raise InvalidInputError("hubness needs at least one candidate and one sample.")
    columns = _answers(given, names, k)
    counts = np.bincount(columns.ravel(), minlength=len(names))
    largest = int(counts.argmax())
    return HubnessReport(
        k=k,
        counts=counts,
        skewness=_skewness(counts),
        largest=names.tolist()[largest],
        largest_share=float(counts[largest] / len(given)),
        never=int((counts == 0).sum()),
    )


def _answers(given: NDArray[Any], names: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Return the columns of the k answers of each sample, of shape (n_samples, k)."""
    if given.ndim == 2 and given.shape[1] == len(names):
        if not 1 <= k <= len(names):
            raise InvalidInputError(f"k must lie between 1 and {len(names)}; got {k}.")
        return best_columns(given, k)[0]
    if given.ndim != 1:
        raise InvalidInputError(
            f"give predictions (n_samples,) or scores (n_samples, {len(names)}); got shape "
            f"{given.shape}."
        )
    if k != 1:
        raise InvalidInputError(f"predictions hold one answer each; k={k} needs scores.")
    order = np.argsort(names)
    place = np.searchsorted(names, given, sorter=order).clip(max=len(names) - 1)
    columns = order[place]
    if (names[columns] != given).any():
        wrong = given[names[columns] != given].tolist()[0]
        raise InvalidInputError(f"prediction {wrong!r} is not among the candidates.")
    return columns[:, None]


def _skewness(counts: NDArray[Any]) -> float:
    """Third standardized moment; 0 for equal counts."""
    centered = counts - counts.mean()
    spread = centered.std()
    return float(np.mean((centered / spread) ** 3)) if spread > 0 else 0.0
