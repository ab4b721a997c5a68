"""Hit@k: the share of samples whose true class is among the k best-scored candidates."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import Constraint, Either, Whole, check_value
from zslearn.exceptions import InvalidInputError
from zslearn.metrics.accuracy import mean_within_classes
from zslearn.metrics.labels import check_labels, check_same_kind, check_unique, describe_missing


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


def check_scores(scores: ArrayLike, shape: tuple[int, int], name: str = "scores") -> NDArray[Any]:
    """Return the scores as an array of the expected shape without NaN."""
    values = np.asarray(scores)
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


def _rank(scores: NDArray[Any], column: NDArray[Any]) -> NDArray[Any]:
    """Count the candidates ranked before the true one: better, or equal and listed earlier."""
    own = np.take_along_axis(scores, column[:, None], axis=1)
    earlier = np.arange(scores.shape[1]) < column[:, None]
    before = (scores > own) | ((scores == own) & earlier)
    return np.asarray(before.sum(axis=1))
