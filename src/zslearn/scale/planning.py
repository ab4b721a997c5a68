"""What an estimator needs from a pass over a source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Whole, check_value
from zslearn.core.learner import MomentLearner, MomentPlan
from zslearn.exceptions import InvalidInputError
from zslearn.scale.source import Source


def plan_for(
    estimator: Any, source: Source, classes: Any = None, validation_rows: int | None = None
) -> MomentPlan:
    """Return the pass an estimator needs, refusing what cannot learn from moments.

    Parameters
    ----------
    estimator : MomentLearner
        Not fitted.
    source : Source
        The data.
    classes : sequence of class names, optional
        Use rows of these classes only.
    validation_rows : int, optional
        Rows to keep for choosing parameters.
    """
    if not isinstance(estimator, MomentLearner):
        raise InvalidInputError(
            f"{type(estimator).__name__} learns from the rows themselves, so it cannot be fitted "
            "block by block. Estimators with a method learn can be, such as SAEClassifier, "
            "ESZSLClassifier, RRZSLClassifier, PrototypeRegression and LDAProjection. Use fit on a "
            "part of the data instead."
        )
    wanted = source.seen if classes is None else np.asarray(classes)
    plan = estimator.moment_plan(wanted)
    if plan.chooses and wanted is None:
        plan = estimator.moment_plan(_present(source))
    if validation_rows is None:
        return plan
    check_value("validation_rows", validation_rows, Whole(1))
    return replace(plan, validation_rows=int(validation_rows))


def stored_plan(plan: MomentPlan, source: Source) -> MomentPlan:
    """Return the plan with classes labeled as the source has them."""
    return plan.relabeled(lambda classes: _stored_labels(classes, source))


def _present(source: Source) -> NDArray:
    """Return the classes of all rows."""
    labels = source.labels()
    if labels is None:
        raise InvalidInputError(
            "choosing parameters by folds of classes needs to know the classes before the pass, "
            "which an iterator does not give. Pass classes=, or give the parameters as numbers."
        )
    present = np.unique(labels)
    return present if source.names is None else source.names[present]


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
