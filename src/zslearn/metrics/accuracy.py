"""Top-1 accuracy, averaged over classes or over samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.core.paths import mean_recall
from zslearn.core.rows import checked_weights
from zslearn.exceptions import InvalidInputError
from zslearn.metrics.labels import (
    check_label_pair,
    check_labels,
    check_same_kind,
    check_unique,
    describe_missing,
)


def per_class_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean over classes of the accuracy within each class.

    Every class weighs the same however many samples it has, which is how zero-shot results are
    usually reported. Compare :func:`per_sample_accuracy`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True class of each sample.
    y_pred : array-like of shape (n_samples,)
        Predicted class of each sample. A prediction that is not a true class counts as a miss.
    classes : array-like of shape (n_classes,), optional
        The classes to average over. They must be exactly the classes in `y_true`:
        a class without samples has no accuracy, and counting it as 0 would hide that.
        By default the classes present in `y_true`.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each sample within its class; samples of weight 0 do not count at all.

    Returns
    -------
    float
        A share between 0 and 1.

    Raises
    ------
    InvalidInputError
        If the arrays do not match, are empty, or `classes` are not the classes of `y_true`.

    Examples
    --------
    >>> from zslearn.metrics import per_class_accuracy
    >>> y_true = ["otter", "otter", "otter", "zebra"]
    >>> y_pred = ["otter", "otter", "zebra", "zebra"]
    >>> round(per_class_accuracy(y_true, y_pred), 3)
    0.833
    """
    true, pred = check_label_pair(y_true, y_pred)
    weights = None
    if sample_weight is not None:
        weights = checked_weights(sample_weight, len(true))
        true, pred, weights = true[weights > 0], pred[weights > 0], weights[weights > 0]
    if classes is not None:
        _check_classes(true, check_labels(classes, "classes"))
    return mean_within_classes(true, true == pred, weights)


def per_sample_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of samples whose class was predicted.

    Large classes weigh more; see :func:`per_class_accuracy` for the measure that does not.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True class of each sample.
    y_pred : array-like of shape (n_samples,)
        Predicted class of each sample.

    Returns
    -------
    float
        A share between 0 and 1.

    Examples
    --------
    >>> from zslearn.metrics import per_sample_accuracy
    >>> y_true = ["otter", "otter", "otter", "zebra"]
    >>> y_pred = ["otter", "otter", "zebra", "zebra"]
    >>> per_sample_accuracy(y_true, y_pred)
    0.75
    """
    true, pred = check_label_pair(y_true, y_pred)
    return float(np.mean(true == pred))


def mean_within_classes(
    y_true: NDArray[Any], correct: NDArray[Any], weights: NDArray[Any] | None = None
) -> float:
    """Average `correct` within each class of `y_true`, then over the classes."""
    _, index = np.unique(y_true, return_inverse=True)
    return mean_recall(correct, index, weights)


def _check_classes(y_true: NDArray[Any], classes: NDArray[Any]) -> None:
    """Refuse a list of classes that is not the set of classes in `y_true`."""
    check_unique(classes, "classes")
    check_same_kind(y_true, classes, "y_true", "classes")
    present = np.unique(y_true)
    absent = classes[~np.isin(classes, present)]
    if absent.size:
        raise InvalidInputError(
            f"classes lists {describe_missing(absent, present)}, which has no sample in y_true "
            "and so has no accuracy. Leave it out of classes."
        )
    unlisted = present[~np.isin(present, classes)]
    if unlisted.size:
        raise InvalidInputError(
            f"y_true contains {describe_missing(unlisted, classes.tolist())}, which is not in "
            "classes. Add it or select the rows of the listed classes first."
        )
