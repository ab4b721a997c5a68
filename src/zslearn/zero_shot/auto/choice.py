"""Which of the judged members is taken."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from zslearn.zero_shot.auto.fold_ranks import FoldRanks

# Accuracy that simplicity may cost on held-out classes, and that a mean of members must bring.
A_POINT = 0.01
# Standard errors that a gain over the recommended member has to be, at least.
_ERRORS = 2.0
# How often the best of members that are no better than the recommended one may take its place.
_LEVEL = 0.05


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


def guarded(
    table: NDArray,
    n_single: int | None = None,
    recommended: int | None = None,
    rivals: Rivals | None = None,
) -> int:
    """Return the member to take, by its accuracy on classes.

    Standard errors are those of differences over classes: members are compared on the same classes,
    so what makes a class hard for all of them does not count.

    1. The recommended member is taken unless others are clearly better, see `clearly_better`. If
       some are, one of them is taken by 2 and 3.
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
    rivals : Rivals, optional
        What the recommended member was compared with; by default all in the table, and chance 0.

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
    n_single = table.shape[1] if n_single is None else n_single
    if recommended is None:
        return _simplest(table, n_single)
    better = np.flatnonzero(clearly_better(table, recommended, rivals))
    if not len(better):
        return recommended
    return int(better[_simplest(table[:, better], int((better < n_single).sum()))])


class Rivals(NamedTuple):
    """What a recommended member is compared with.

    Attributes
    ----------
    n : int
        How many other members, those that were left on the way too.
    chance : float
        Accuracy of guessing.
    """

    n: int
    chance: float = 0.0


def clearly_better(table: NDArray, recommended: int, rivals: Rivals | None = None) -> NDArray:
    """Say which members are clearly better than the recommended one.

    The gain has to be a point, and as many standard errors as the best of so many members, all as
    good as the recommended one, would show one time in twenty at most: the quantile of Student's t
    at ``1 − 0.05 / n`` with a degree of freedom less than there are classes. Two standard errors
    are enough for a gain as large as what the recommended member has above chance: few classes
    cannot show more, and a member that reaches at most half of what can be had has no claim.

    Parameters
    ----------
    table : ndarray of shape (n_classes, n_members)
        Accuracies.
    recommended : int
        Position of the recommended member.
    rivals : Rivals, optional
        As in `guarded`.

    Returns
    -------
    ndarray of bool of shape (n_members,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = 0.5 + np.array([0.0, 0.05, 0.15]) + 0.1 * rng.standard_normal((20, 3))
    >>> clearly_better(table, 0, Rivals(30, chance=0.2))
    array([False, False,  True])
    """
    gains = table - table[:, [recommended]]
    rivals = rivals or Rivals(table.shape[1] - 1)
    errors = np.nan_to_num(standard_errors(gains))
    means = gains.mean(axis=0)
    claim = table[:, recommended].mean() - rivals.chance
    strict = max(_ERRORS, _quantile(len(table) - 1, max(rivals.n, 1)))
    needed = np.where(means >= claim, _ERRORS, strict) * errors
    return np.asarray(means > np.maximum(needed, A_POINT))


@cache
def _quantile(freedom: int, n_compared: int) -> float:
    """Return what the largest of several t statistics exceeds one time in twenty, at most."""
    return float(stats.t.ppf(1 - _LEVEL / n_compared, max(freedom, 1)))


def _simplest(table: NDArray, n_single: int) -> int:
    """Return the first member near the best, or a mean that is better than every single one."""
    means = table.mean(axis=0)
    best = int(means.argmax())
    if n_single == 0:  # means alone: the first is that of the fewest members
        n_single = table.shape[1]
    best_single = int(means[:n_single].argmax())
    gain = table[:, best] - table[:, best_single]
    error = np.nan_to_num(standard_errors(gain[:, None]))[0]
    if gain.mean() > max(error, A_POINT):
        return best
    lost = table[:, [best_single]] - table[:, :n_single]
    allowed = np.minimum(np.nan_to_num(standard_errors(lost)), A_POINT)
    return int(np.flatnonzero(lost.mean(axis=0) <= allowed)[0])


def standard_errors(table: NDArray) -> NDArray:
    """Return the standard error of every member's mean over classes; NaN of a single class."""
    if len(table) < 2:
        return np.full(table.shape[1], np.nan)
    return np.asarray(table.std(axis=0, ddof=1) / np.sqrt(len(table)))


def mean_after_choice(
    table: NDArray,
    n_single: int | None = None,
    recommended: int | None = None,
    rivals: Rivals | None = None,
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
    n_single, recommended, rivals : optional
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
            taken = guarded(table[drawn], n_single, recommended, rivals)
            found.append(table[left, taken].mean())
    return float(np.mean(found)) if found else float(table.mean(axis=0).max())
