"""What is known of a member: where it ranked the classes of folds, and how long it took."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.zero_shot.auto.fold_ranks import FoldRanks
from zslearn.zero_shot.auto.portfolio import Member

# How the time of a fit grows with the rows, as far as it is not known better: while there are fewer
# rows than features, matrices grow with the rows.
_GROWTH, _GROWTH_BELOW_FEATURES = 0.8, 2.0
_SLOWEST_GROWTH, _FASTEST_GROWTH = 0.2, 1.5


class Judged(NamedTuple):
    """One fold of a member.

    Attributes
    ----------
    ranks : FoldRanks
        Where the true classes were ranked.
    standard : ndarray of shape (n_samples, n_candidates)
        Scores of the held-out samples, divided by the scale of the member.
    seconds : float
        Time of the fit and of the scores.
    """

    ranks: FoldRanks
    standard: NDArray
    seconds: float


@dataclass
class Record:
    """What is known of a member.

    Attributes
    ----------
    member : Member
        The member.
    found : dict of (rows, repeat) to list of Judged
        What was found, by stage and repeat.
    seconds : float
        Time of its fits and predictions.
    times : dict of int to float
        Seconds of a fold by the rows of its stage.
    reason : str
        Why it was not judged further; empty if it got to the end.
    is_mean : bool
        Whether it is the mean of other records.
    n_features : int
        Length of samples.
    """

    member: Member
    found: dict[tuple[int, int], list[Judged]] = field(default_factory=dict)
    seconds: float = 0.0
    times: dict[int, float] = field(default_factory=dict)
    reason: str = ""
    is_mean: bool = False
    n_features: int = 1

    @property
    def most_rows(self) -> int:
        """Rows of the largest stage it was judged in; 0 if there is none."""
        return max((rows for rows, _ in self.found), default=0)

    def folds(self, n_rows: int) -> list[FoldRanks]:
        """Return every fold of a stage."""
        return [
            one.ranks for (rows, _), some in self.found.items() if rows == n_rows for one in some
        ]

    def score(self, n_rows: int) -> float:
        """Mean accuracy over the folds of a stage; NaN if there are none."""
        found = [float(fold.accuracies.mean()) for fold in self.folds(n_rows)]
        return float(np.mean(found)) if found else math.nan

    def seconds_for(self, n_rows: int) -> float:
        """Guess the time of a fit on other rows by those of its folds; 0 if there are none."""
        if not self.times:
            return 0.0
        *earlier, last = sorted(self.times)
        guess = _work(n_rows, self.n_features) / _work(last, self.n_features)
        if earlier and self.times[last] > self.times[earlier[-1]] > 0:
            ratio = math.log(self.times[last] / self.times[earlier[-1]])
            growth = ratio / math.log(last / earlier[-1])
            guess = (n_rows / last) ** min(max(growth, _SLOWEST_GROWTH), _FASTEST_GROWTH)
        return self.times[last] * float(guess)


def _work(n_rows: int, n_features: int) -> float:
    """Return what a fit takes, up to a factor."""
    below = min(n_rows, n_features)
    return float(below**_GROWTH_BELOW_FEATURES * (n_rows / below) ** _GROWTH)
