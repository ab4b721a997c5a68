"""Which of the judged members is taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zslearn.zero_shot.auto.fold_ranks import FoldRanks

# Accuracy that simplicity may cost on held-out classes, and that a mean of members must bring.
A_POINT = 0.01


def class_table(folds: Sequence[Sequence[FoldRanks]], n_classes: int) -> NDArray:
    """Return the accuracy of every class for every member, its mean over repeats.

    Parameters
    ----------
    folds : sequence of sequences of FoldRanks
        Folds of each member.
    n_classes : int
        Number of seen classes.

    Returns
    -------
    ndarray of shape (n_tested_classes, n_members)
        Classes that every member was tested on.
    """
    columns = []
    for member in folds:
        sums, counts = np.zeros(n_classes), np.zeros(n_classes)
        for fold in member:
            sums[fold.classes] += fold.accuracies
            counts[fold.classes] += 1
        columns.append(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))
    table = np.stack(columns, axis=1)
    return table[~np.isnan(table).any(axis=1)]


def guarded(table: NDArray, n_single: int | None = None, recommended: int | None = None) -> int:
    """Return the member to take, by its accuracy on classes.

    Standard errors are those of differences over classes: members are compared on the same classes,
    so what makes a class hard for all of them does not count.

    1. The recommended member is taken unless another is better by both two standard errors and a
       point: few seen classes cannot show small differences, and the choice among many members
       would follow their noise.
    2. A mean of several members, which costs as much as all of them, is taken if it is better than
       every single one by both one standard error and a point.
    3. Otherwise it is the first whose mean is within one standard error of the best, and a point.

    Parameters
    ----------
    table : ndarray of shape (n_classes, n_members)
        Accuracies; the simplest member first, means of several last.
    n_single : int, optional
        How many members are no means; by default all.
    recommended : int, optional
        Position of the recommended member, if it is there.

    Returns
    -------
    int
        Position of the member.

    Examples
    --------
    >>> clearly_worse = np.array([[0.1, 0.5, 0.5], [0.2, 0.6, 0.7], [0.1, 0.9, 0.8]])
    >>> guarded(clearly_worse), guarded(clearly_worse, recommended=2)
    (1, 2)
    """
    means = table.mean(axis=0)
    best_single, best = int(means[:n_single].argmax()), int(means.argmax())
    if recommended is not None and not _clearly(table[:, best] - table[:, recommended], errors=2):
        return recommended
    if _clearly(table[:, best] - table[:, best_single], errors=1):
        return best
    lost = table[:, [best_single]] - table[:, :n_single]
    allowed = np.minimum(np.nan_to_num(standard_errors(lost)), A_POINT)
    return int(np.flatnonzero(lost.mean(axis=0) <= allowed)[0])


def _clearly(gain: NDArray, errors: int) -> bool:
    """Say whether a gain over classes is more than so many standard errors, and a point."""
    error = np.nan_to_num(standard_errors(gain[:, None]))[0]
    return bool(gain.mean() > max(errors * error, A_POINT))


def standard_errors(table: NDArray) -> NDArray:
    """Return the standard error of every member's mean over classes; NaN of a single class."""
    if len(table) < 2:
        return np.full(table.shape[1], np.nan)
    return np.asarray(table.std(axis=0, ddof=1) / np.sqrt(len(table)))


def mean_after_choice(
    table: NDArray,
    n_single: int | None = None,
    recommended: int | None = None,
    *,
    n_draws: int = 400,
    seed: int = 0,
) -> float:
    """Return the mean accuracy of the choice on classes that had no part in it.

    The best of several means is too high by chance. Classes are drawn with replacement, the member
    is chosen on those drawn and measured on those left out (the bootstrap correction of
    Tsamardinos, Greasidou and Borboudakis, Machine Learning 2018, over classes, not samples).

    Parameters
    ----------
    table : ndarray of shape (n_classes, n_members)
        Accuracies of held-out classes.
    n_single, recommended : int, optional
        As in `guarded`.
    n_draws, seed : int
        Number of draws and their seed.

    Returns
    -------
    float

    Examples
    --------
    >>> noise = np.random.default_rng(0).random((20, 50))
    >>> noise.mean(axis=0).max() > 0.6, abs(mean_after_choice(noise) - 0.5) < 0.05
    (np.True_, True)
    """
    rng, n = np.random.default_rng(seed), len(table)
    found = []
    for _ in range(n_draws):
        drawn = rng.integers(0, n, n)
        left = np.setdiff1d(np.arange(n), drawn)
        if len(left):
            found.append(table[left, guarded(table[drawn], n_single, recommended)].mean())
    return float(np.mean(found)) if found else float(table.mean(axis=0).max())
