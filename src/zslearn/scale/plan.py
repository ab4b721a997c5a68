"""What an estimator wants of a pass over the data, and how it learns from the outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.cluster import Statistics
from zslearn.cluster.base import MomentMapping
from zslearn.core.folded_moments import FoldedMoments
from zslearn.core.moment_sum import Group, Grouping
from zslearn.core.moments import Moments
from zslearn.exceptions import InvalidInputError
from zslearn.scale.rows import RowTransform
from zslearn.scale.source import Source
from zslearn.zero_shot.base import ZeroShotClassifier

DEFAULT_VALIDATION_ROWS = 20_000


@dataclass(frozen=True)
class Plan:
    """A pass over the data.

    Attributes
    ----------
    transform : RowTransform
        What happens to the rows.
    centered : bool
        Whether moments are wanted about the mean.
    grouping : Grouping or None
        Which classes share a Gram matrix; None means all.
    per_class : int
        Rows of each class kept for choosing parameters; 0 if nothing is chosen.
    labels : ndarray or None
        Labels to use, as the source has them; None means all.
    """

    transform: RowTransform
    centered: bool = False
    grouping: Grouping | None = None
    per_class: int = 0
    labels: NDArray | None = None

    @property
    def folded(self) -> bool:
        """Whether parameters are chosen by folds of classes."""
        return self.per_class > 0


@dataclass(frozen=True)
class Outcome:
    """What a pass found: moments by group, and the rows kept."""

    moments: dict[Group, Moments]
    X: NDArray | None = None
    y: NDArray | None = None


def plan_for(
    estimator: Any, source: Source, classes: Any = None, validation_rows: int | None = None
) -> Plan:
    """Return the pass an estimator needs, refusing what cannot learn from moments.

    Parameters
    ----------
    estimator : zero-shot classifier or mapping for clustering
        Not fitted.
    source : Source
        The data.
    classes : sequence of labels, optional
        Use rows of these classes only.
    validation_rows : int, optional
        Rows to keep for choosing parameters.
    """
    chosen = np.asarray(classes) if classes is not None else source.seen
    labels = None if chosen is None else _stored_labels(chosen, source)
    if isinstance(estimator, MomentMapping):
        grouping = Grouping() if estimator._needs_class_grams else None
        return Plan(RowTransform(), True, grouping, labels=labels)
    if not isinstance(estimator, ZeroShotClassifier) or not estimator._from_moments:
        raise InvalidInputError(
            f"{type(estimator).__name__} learns from the rows themselves, so it cannot be fitted "
            "block by block. Methods that can have a method fit_moments, such as SAEClassifier, "
            "ESZSLClassifier, RRZSLClassifier and PrototypeRegression, or fit_statistics, such as "
            "LDAProjection. Use fit on a part of the data instead."
        )
    transform = RowTransform(
        estimator.feature_norm, estimator._moment_power(), estimator.signatures is None
    )
    plan = Plan(transform, labels=labels)
    return _with_folds(plan, estimator, source, validation_rows or DEFAULT_VALIDATION_ROWS)


def learn(estimator: Any, plan: Plan, outcome: Outcome, names: NDArray | None) -> Any:
    """Fit the estimator to what the pass found."""
    parts = {group: _renamed(part, names) for group, part in outcome.moments.items()}
    if isinstance(estimator, MomentMapping):
        return estimator.fit_statistics(_statistics(parts, plan))
    if not plan.folded:
        (moments,) = parts.values()
        return estimator.fit_moments(moments)
    assert outcome.X is not None
    assert outcome.y is not None
    y = outcome.y if names is None else names[outcome.y]
    return estimator.fit_folded(FoldedMoments(tuple(parts.values()), outcome.X, y))


def _with_folds(plan: Plan, estimator: Any, source: Source, validation_rows: int) -> Plan:
    if not estimator._chooses():
        return plan
    if estimator.signatures is None:
        raise InvalidInputError(
            f"{type(estimator).__name__} with one-hot signatures chooses its parameters by holding "
            "out samples, which one pass over moments cannot do. Give them as numbers."
        )
    present = plan.labels if plan.labels is not None else _present(source)
    names = np.sort(present if source.names is None else source.names[present])
    folds = estimator._class_folds(names)
    if not folds:
        return plan
    stored = [_stored_labels(fold, source) for fold in folds]
    per_class = max(1, validation_rows // len(names))
    return replace(plan, grouping=Grouping.of_folds(stored), per_class=per_class, labels=present)


def _present(source: Source) -> NDArray:
    labels = source.labels()
    if labels is None:
        raise InvalidInputError(
            "choosing parameters by folds of classes needs to know the classes before the pass, "
            "which an iterator does not tell. Pass classes=, or give the parameters as numbers."
        )
    return np.unique(labels)


def _stored_labels(classes: NDArray, source: Source) -> NDArray:
    """Turn class names into labels as the source has them, sorted."""
    if source.names is None:
        return np.unique(classes)
    order = np.argsort(source.names)
    place = np.searchsorted(source.names, classes, sorter=order)
    found = order[np.minimum(place, len(order) - 1)]
    unknown = np.flatnonzero(source.names[found] != classes)
    if len(unknown):
        raise InvalidInputError(f"the data has no class {classes[unknown[0]]!s}.")
    return np.unique(found)


def _renamed(moments: Moments, names: NDArray | None) -> Moments:
    """Put class names in place of positions, and the classes in the order of their names."""
    if names is None:
        return moments
    labels = names[moments.classes]
    order = np.argsort(labels)
    return replace(
        moments, classes=labels[order], counts=moments.counts[order], sums=moments.sums[order]
    )


def _statistics(parts: dict[Group, Moments], plan: Plan) -> Statistics:
    if plan.grouping is None:
        (total,) = parts.values()
        return Statistics(total)
    by_class = sorted(parts.values(), key=lambda part: part.classes.item())
    return Statistics(sum(by_class[1:], by_class[0]), tuple(by_class))
