"""Whether samples and a class table fit together, before anything is learned from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.evaluation.leakage import LeakageReport, leakage_report
from zslearn.signatures import Signatures

# Rows whose difference is shorter than this share of the rows are nearly the same.
NEAR = 0.01
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
    """

    n_samples: Mapping[str, int]
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    without_signature: tuple[str, ...]
    near_duplicates: tuple[tuple[str, str, float], ...]
    constant: tuple[str, ...]
    constant_when_seen: tuple[str, ...]
    leakage: LeakageReport


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
    """
    counts = Counter(str(label) for label in labels)
    names = [str(name) for name in signatures]
    unseen = tuple(name for name in names if name not in counts)
    vectors = signatures.vectors
    constant = _constant(vectors)
    when_seen = _constant(vectors[[name in counts for name in names]]) & ~constant
    titles = np.array(signatures.dimensions, dtype=object)
    return ClassReport(
        n_samples={name: counts.get(name, 0) for name in [*names, *counts]},
        seen=tuple(name for name in names if name in counts),
        unseen=unseen,
        without_signature=tuple(name for name in counts if name not in set(names)),
        near_duplicates=tuple(_near_duplicates(vectors, names)),
        constant=tuple(titles[constant]),
        constant_when_seen=tuple(titles[when_seen]),
        leakage=leakage_report(unseen or names),
    )


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
