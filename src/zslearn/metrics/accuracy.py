"""Accuracy of the first or the first k answers, over classes or samples, and its harmonic mean.

Below are the checks of labels and scores that all measures share.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import Constraint, Either, Whole, check_value
from zslearn.core.paths import mean_recall
from zslearn.core.rows import checked_weights, unmasked
from zslearn.exceptions import InvalidInputError, InvalidTypeError, did_you_mean


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


def hit_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    candidates: ArrayLike,
    k: int = 5,
    average: Literal["sample", "class"] = "sample",
) -> float:
    """Share of samples whose true class is among the `k` best-scored candidates.

    The figure depends on the candidates. With only the unseen classes it is the conventional
    zero-shot hit@k; with seen and unseen classes together it is the generalized one, which is
    lower. State which one is reported.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True class of each sample; each must be a candidate.
    scores : array-like of shape (n_samples, n_candidates)
        Score of each candidate for each sample, higher is better. Candidates with equal
        scores rank in the order of `candidates`.
    candidates : array-like of shape (n_candidates,)
        The class of each column of `scores`.
    k : int, default=5
        How many guesses are allowed, at most the number of candidates.
    average : {"sample", "class"}, default="sample"
        Average over all samples, or within each true class and then over classes.

    Returns
    -------
    float
        A share between 0 and 1. At ``k=1`` it is the accuracy of the same averaging.

    Raises
    ------
    InvalidInputError
        If shapes do not match, scores hold NaN, `k` is out of range or a true class is not a
        candidate.

    Examples
    --------
    >>> from zslearn.metrics import hit_at_k
    >>> scores = [[0.9, 0.5, 0.1], [0.2, 0.8, 0.4]]
    >>> unseen = ["otter", "seal", "zebra"]
    >>> hit_at_k(["seal", "zebra"], scores, candidates=unseen, k=1)
    0.0
    >>> hit_at_k(["seal", "zebra"], scores, candidates=unseen, k=2)
    1.0
    """
    true, columns = check_labels(y_true, "y_true"), check_labels(candidates, "candidates")
    check_unique(columns, "candidates")
    values = check_scores(scores, (len(true), len(columns)))
    check_value("average", average, Either("sample", "class"))
    hits = _rank(values, column_of(true, columns)) < checked_k(k, len(columns))
    return float(np.mean(hits)) if average == "sample" else mean_within_classes(true, hits)


def _rank(scores: NDArray[Any], column: NDArray[Any]) -> NDArray[Any]:
    """Count the candidates ranked before the true one: better, or equal and listed earlier."""
    own = np.take_along_axis(scores, column[:, None], axis=1)
    earlier = np.arange(scores.shape[1]) < column[:, None]
    before = (scores > own) | ((scores == own) & earlier)
    return np.asarray(before.sum(axis=1))


def harmonic_mean(seen: float, unseen: float) -> float:
    """Harmonic mean of the accuracies on seen and on unseen classes.

    It is high only if both are: H = 2·seen·unseen / (seen + unseen), and 0 where both are 0.

    Parameters
    ----------
    seen : float
        Accuracy on samples of seen classes, all classes being candidates; between 0 and 1.
    unseen : float
        Accuracy on samples of unseen classes, all classes being candidates; between 0 and 1.

    Returns
    -------
    float
        A share between 0 and 1, never above twice the smaller of the two.

    Raises
    ------
    InvalidInputError
        If a value is not between 0 and 1, for example a percentage.

    Examples
    --------
    >>> from zslearn.metrics import harmonic_mean
    >>> round(harmonic_mean(0.8, 0.2), 3)
    0.32
    >>> harmonic_mean(0.0, 0.0)
    0.0
    """
    for name, value in (("seen", seen), ("unseen", unseen)):
        if not 0 <= value <= 1:
            raise InvalidInputError(
                f"{name} must be an accuracy between 0 and 1; got {value}. "
                "Divide a percentage by 100."
            )
    low, high = sorted((float(seen), float(unseen)))
    # 2·low / (1 + low/high) is the same mean without the underflow of a product of tiny numbers.
    return 2 * low / (1 + low / high) if high > 0 else 0.0


def check_labels(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Return `labels` as a one-dimensional, non-empty array without NaN."""
    array = np.asarray(unmasked(labels, name))
    if array.ndim != 1:
        raise InvalidInputError(
            f"{name} must be one-dimensional, one label per entry; got shape {array.shape}."
        )
    if array.size == 0:
        raise InvalidInputError(f"{name} is empty; at least one label is needed.")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidInputError(f"{name} contains NaN; every entry must be a class label.")
    return array


def check_label_pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both label arrays after checking that they can be compared entry by entry."""
    true, pred = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
    if len(true) != len(pred):
        raise InvalidInputError(
            f"y_true has {len(true)} labels and y_pred has {len(pred)}; they must have the same "
            "number, one prediction for each sample."
        )
    check_same_kind(true, pred, "y_true", "y_pred")
    return true, pred


def check_same_kind(
    first: NDArray[Any], second: NDArray[Any], first_name: str, second_name: str
) -> None:
    """Refuse to compare text with numbers, which would count every comparison as a miss."""
    spelled = {_kind(first), _kind(second)}
    if spelled == {"text", "numbers"}:
        raise InvalidTypeError(
            f"{first_name} holds {_kind(first)} and {second_name} holds {_kind(second)}; use the "
            "same kind of class label in both."
        )


def _kind(labels: NDArray[Any]) -> str:
    """Say whether labels are text or numbers; objects may be either."""
    return {"U": "text", "S": "text", "O": "objects"}.get(labels.dtype.kind, "numbers")


def check_unique(labels: NDArray[Any], name: str) -> None:
    """Refuse a list of classes that names one twice."""
    values, counts = np.unique(labels, return_counts=True)
    if (counts > 1).any():
        raise InvalidInputError(f"{name} lists class {values[counts > 1].tolist()[0]!r} twice.")


def describe_missing(missing: NDArray[Any], known: Iterable[object]) -> str:
    """Name the first missing class, how many more there are, and the closest known one."""
    first = missing.tolist()[0]
    more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    return f"class {first!r}{more}{did_you_mean(first, known, ', closest {!r}')}"


def check_scores(scores: ArrayLike, shape: tuple[int, int], name: str = "scores") -> NDArray[Any]:
    """Return the scores as an array of the expected shape without NaN."""
    values = np.asarray(unmasked(scores, name))
    if values.shape != shape:
        raise InvalidInputError(
            f"{name} must have shape (n_samples, n_candidates) = {shape}; got {values.shape}."
        )
    rows = np.isnan(values).any(axis=1)
    if rows.any():
        raise InvalidInputError(
            f"{name} contain NaN in {rows.sum()} of {len(rows)} rows, first in row "
            f"{np.argmax(rows)}; a NaN cannot be ranked."
        )
    return values


def checked_k(k: Any, n_candidates: int, name: str = "k") -> int:
    """Return how many candidates are asked for, or refuse more than there are."""
    if type(k) is int and 1 <= k <= n_candidates:
        return k
    among = Whole(1, n_candidates)
    check_value(name, k, Constraint(f"{among.words}, the number of candidates", among.allows))
    return int(k)


def column_of(y_true: NDArray[Any], candidates: NDArray[Any]) -> NDArray[Any]:
    """Return the column of each true class."""
    check_same_kind(y_true, candidates, "y_true", "candidates")
    missing = np.setdiff1d(y_true, candidates)
    if missing.size:
        raise InvalidInputError(
            f"y_true contains {describe_missing(missing, candidates.tolist())}, which is not among "
            f"the {len(candidates)} candidates and can never be hit. Add its column or leave out "
            "the rows."
        )
    order = np.argsort(candidates)
    return order[np.searchsorted(candidates, y_true, sorter=order)]
