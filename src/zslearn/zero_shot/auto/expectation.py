"""What to expect on classes without samples: an accuracy with an interval, and a learning curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln

from zslearn.zero_shot.auto.fold_ranks import FoldRanks

LEVEL = 0.9
# Held-out classes that are all right do not promise that all others will be.
_LEAST_HALF = 0.03


@dataclass(frozen=True)
class Expectation:
    """The per-class accuracy to expect among unseen classes.

    Attributes
    ----------
    accuracy : float
        The best guess.
    low, high : float
        Bounds of the interval, meant to hold the accuracy in nine of ten draws of unseen classes.
    n_candidates : int
        Number of unseen classes it is for.
    chance : float
        What guessing reaches.
    """

    accuracy: float
    low: float
    high: float
    n_candidates: int
    chance: float

    def __str__(self) -> str:
        return (
            f"{self.accuracy:.2f} ({self.low:.2f} to {self.high:.2f}) among {self.n_candidates} "
            f"unseen classes, chance {self.chance:.2f}"
        )


@dataclass(frozen=True)
class LearningCurve:
    """Accuracy by the number of seen classes, in folds that hold out the same classes.

    Attributes
    ----------
    n_classes : tuple of int
        Classes learned from, ascending.
    accuracy : tuple of float
        Mean accuracy on the held-out classes.
    """

    n_classes: tuple[int, ...]
    accuracy: tuple[float, ...]

    @property
    def slope(self) -> float:
        """Accuracy gained when the number of classes doubles, by the last two points."""
        if len(self.n_classes) < 2:
            return 0.0
        x = np.log2(self.n_classes[-2:])
        return float((self.accuracy[-1] - self.accuracy[-2]) / (x[1] - x[0]))

    def gain(self, now: int, more: int) -> float:
        """Return what more described classes with samples would bring.

        Parameters
        ----------
        now, more : int
            Seen classes now, and additional ones.

        Returns
        -------
        float
            Gain in accuracy by the slope of the curve; 0 where it falls.

        Examples
        --------
        >>> LearningCurve((10, 20), (0.5, 0.6)).gain(20, 20)
        0.1
        """
        return round(max(self.slope, 0.0) * float(np.log2((now + more) / now)), 10)


def accuracy_among(shares: NDArray, n_candidates: int) -> NDArray:
    """Return the accuracy of each class, had there been another number of candidates.

    A sample with r of h − 1 other candidates before its class is right among m candidates if none
    of the r is among the m − 1 others: with probability C(h−1−r, m−1) / C(h−1, m−1). More
    candidates than the fold has are an extrapolation: with q = (h − r − ½)/h, about the share of
    others that are worse, the accuracy is multiplied by Σ q^(m−1) / Σ q^(h−1).

    Parameters
    ----------
    shares : ndarray of shape (n_classes, h)
        Share of samples with 0, 1, ... candidates before the true one.
    n_candidates : int
        m, at least 1.

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> accuracy_among(np.array([[0.5, 0.5, 0.0]]), 2)
    array([0.75])
    """
    h, m = shares.shape[1], n_candidates
    r = np.arange(h)
    if m > h:
        q = (h - r - 0.5) / h
        return np.asarray(shares[:, 0] * (shares @ q ** (m - 1)) / (shares @ q ** (h - 1)))
    weights = np.zeros(h)
    possible = h - 1 - r >= m - 1
    weights[possible] = np.exp(_log_choose(h - 1 - r[possible], m - 1) - _log_choose(h - 1, m - 1))
    return np.asarray(shares @ weights)


def expect(
    folds: Sequence[FoldRanks], n_candidates: int, *, optimism: float = 0.0, growth: float = 0.0
) -> Expectation:
    """Return the accuracy to expect among unseen classes.

    The interval is that of the mean of new classes, as many as there are candidates, whose
    accuracies vary as those of the held-out ones do: mean ± t·s·√(1/m + 1/c) with the standard
    deviation s over c classes, and at least three points to either side.

    Parameters
    ----------
    folds : sequence of FoldRanks
        Folds of the member taken.
    n_candidates : int
        m, how many unseen classes there will be.
    optimism : float, default=0.0
        What is taken off because the member was chosen on these folds.
    growth : float, default=0.0
        What is added because all seen classes will be learned from, not those of a fold alone.

    Returns
    -------
    Expectation
    """
    found = [accuracy_among(fold.shares, n_candidates) for fold in folds]
    spread = max(_class_deviation(found), _fold_deviation(found))
    n_classes = len(np.unique(np.concatenate([fold.classes for fold in folds])))
    middle = min(1.0, float(np.mean([one.mean() for one in found])) - optimism + growth)
    t = float(stats.t.ppf((1 + LEVEL) / 2, max(n_classes - 1, 1)))
    half = max(t * spread * float(np.sqrt(1 / n_candidates + 1 / n_classes)), _LEAST_HALF)
    low, middle, high = np.clip([middle - half, middle, middle + half], 0.0, 1.0).tolist()
    return Expectation(middle, low, high, n_candidates, 1 / n_candidates)


def _class_deviation(found: list[NDArray]) -> float:
    """Deviation of the accuracies of classes, within and between folds."""
    every = np.concatenate(found)
    return float(every.std(ddof=1)) if len(every) > 1 else 0.0


def _fold_deviation(found: list[NDArray]) -> float:
    """Deviation of a class that would give folds as different as they are."""
    if len(found) < 2:
        return 0.0
    size = float(np.mean([len(one) for one in found]))
    return float(np.std([one.mean() for one in found], ddof=1) * np.sqrt(size))


def _log_choose(n: NDArray | int, k: int) -> NDArray:
    return np.asarray(gammaln(np.asarray(n) + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
