"""What closed-form mappings need from labeled data: centered moments, of all rows or by class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.learner import Gathered
from zslearn.core.moments import Moments


@dataclass(frozen=True)
class Statistics:
    """Centered moments of labeled rows, and of each class where a mapping asks for them.

    They add up over batches, and a fold can be subtracted. Closed-form mappings
    work with these instead of the rows, and so does standardization, which is an affine change.

    Attributes
    ----------
    total : Moments
        Of all rows, about their mean.
    by_class : tuple of Moments
        Of each class, about the mean of the class, in the order of the classes; empty unless
        asked for, because they hold one Gram matrix per class.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 7.0]])
    >>> statistics = Statistics.of(X, np.array([0, 0, 1]))
    >>> statistics.total.mean
    array([2., 3.])
    >>> statistics.spread
    array([1.63299316, 2.82842712])
    """

    total: Moments
    by_class: tuple[Moments, ...] = ()

    @classmethod
    def of(cls, X: Any, y: NDArray, *, by_class: bool = False) -> Statistics:
        """Compute the statistics of rows X of classes y, in blocks of bounded memory."""
        if not by_class:
            return cls(Moments.of(X, y, centered=True))
        order = np.argsort(y, kind="stable")
        ends = np.flatnonzero(y[order][1:] != y[order][:-1]) + 1
        groups = np.split(order, ends)
        return _of_parts(tuple(Moments.of(X[rows], y[rows], centered=True) for rows in groups))

    @classmethod
    def of_gathered(cls, gathered: Gathered) -> Statistics:
        """Take over what a pass gathered, by class if every part is one class."""
        total = gathered.total
        if not total.centered:
            total = total.about(total.mean, centered=True)
        several = len(total.classes) > 1 and len(gathered.parts) == len(total.classes)
        return cls(total, gathered.parts if several else ())

    @property
    def classes(self) -> NDArray:
        """Sorted class labels."""
        return self.total.classes

    @property
    def counts(self) -> NDArray:
        """Number of rows of each class."""
        return self.total.counts

    @property
    def raw(self) -> Moments:
        """The moments about the origin of the features: plain sums and products."""
        return self.total.about(np.zeros(self.total.n_features))

    @property
    def spread(self) -> NDArray:
        """Standard deviation of each feature; 1 for features that do not vary."""
        variance = np.diag(self.total.gram) / self.total.n_samples
        deviation = np.sqrt(np.maximum(variance, 0.0))
        constant = deviation <= 10 * np.finfo(float).eps * np.abs(self.total.mean)
        return np.where(constant | (deviation == 0), 1.0, deviation)

    @property
    def within(self) -> NDArray:
        """Sum over the rows of ``(x - μ_c)(x - μ_c)ᵀ`` with the mean of their class."""
        scaled = self.total.sums / np.sqrt(self.total.counts)[:, None]
        return self.total.gram - scaled.T @ scaled

    def balanced(self) -> Moments:
        """Moments with every row of class c weighted by ``N / (K n_c)``; needs `by_class`."""
        weights = self.total.n_samples / (len(self.counts) * self.counts)
        parts = [_weighted(part, w) for part, w in zip(self.by_class, weights, strict=True)]
        return sum(parts[1:], parts[0])

    def standardized(self, mean: NDArray, scale: NDArray) -> Statistics:
        """Return the statistics of ``(x - mean) / scale``."""
        return Statistics(
            _affine(self.total, mean, scale),
            tuple(_affine(part, mean, scale) for part in self.by_class),
        )

    def __add__(self, other: Statistics) -> Statistics:
        if not self.by_class:
            return Statistics(self.total + other.total)
        known = {part.classes.item(): part for part in self.by_class}
        for part in other.by_class:
            label = part.classes.item()
            known[label] = known[label] + part if label in known else part
        return _of_parts(tuple(known[label] for label in sorted(known)))

    def __sub__(self, other: Statistics) -> Statistics:
        if not self.by_class:
            return Statistics(self.total - other.total)
        known = {part.classes.item(): part for part in self.by_class}
        for part in other.by_class:
            known[part.classes.item()] -= part
        left = (known[label] for label in sorted(known))
        return _of_parts(tuple(part for part in left if len(part.classes)))


def _of_parts(parts: tuple[Moments, ...]) -> Statistics:
    return Statistics(sum(parts[1:], parts[0]), parts)


def _weighted(moments: Moments, weight: float) -> Moments:
    return replace(
        moments,
        counts=weight * moments.counts,
        sums=weight * moments.sums,
        gram=weight * moments.gram,
    )


def _affine(moments: Moments, mean: NDArray, scale: NDArray) -> Moments:
    return replace(
        moments,
        sums=moments.sums / scale,
        gram=moments.gram / np.outer(scale, scale),
        origin=(moments.origin - mean) / scale,
    )
