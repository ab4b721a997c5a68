"""Hubs: candidates that are near everything and swallow the predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.core.nearest import best_columns
from zslearn.exceptions import InvalidInputError


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
