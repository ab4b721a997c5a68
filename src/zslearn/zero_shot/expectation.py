"""What held-out classes tell: which member to take, and the accuracy to expect of it.

Arrays in, numbers out. A *table* has the shape (n_classes, n_members): the accuracy of every member
on every held-out class, a mean over the folds that held it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from zslearn._parameters import Either, Whole, check_value
from zslearn.exceptions import InvalidInputError

# Standard errors that the leader may be ahead of a member that stands before it.
ERRORS = 0.5
# How often intervals are meant to hold.
LEVEL = 0.9
# The least that classes vary by, as a share of g·(1 − g), g the accuracy to expect: held-out
# classes that are all right do not promise that all others will be. The median of 89 made and real
# problems.
LEAST = 0.15
# Share of the errors that many more rows may avoid: .27 and .23 on training classes of CUB and AWA1
# that were held out, where folds learned from 7 and 6 % of the rows (means of four draws).
MORE_ROWS = 0.25
# What folds of one class cannot show: classes that compete with each other are mistaken for each
# other, so that several are hard or easy together. As a share of g·(1 − g), g the mean accuracy; a
# fifth was taken on draws of 7 to 15 of the classes of five sets of pictures and texts.
SHARED = 0.2
# Below this a confidence hardly tells strangers from unseen classes.
LEAST_AUROC = 0.6


@dataclass(frozen=True)
class FoldRanks:
    """Where the true classes were ranked in one fold.

    Attributes
    ----------
    classes : ndarray of int of shape (n_tested,)
        The classes tested.
    shares : ndarray of shape (n_tested, n_candidates)
        Share of the samples of each class whose true class had 0, 1, 2, ... candidates before it.
        The rest, if there is one, went to a seen class.
    """

    classes: NDArray[np.intp]
    shares: NDArray

    def among(self, n_candidates: int | None = None) -> NDArray:
        """Share of each class that is right among a number of candidates, by default all."""
        if n_candidates is None:
            return self.shares[:, 0]
        return accuracy_among(self.shares, n_candidates)

    @classmethod
    def of(
        cls,
        scores: NDArray,
        column: NDArray[np.intp],
        candidates: NDArray[np.intp],
        lost: NDArray[np.bool_] | None = None,
    ) -> FoldRanks:
        """Rank samples by their scores.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_candidates)
            Larger is better; the first of equal candidates is the answer.
        column : ndarray of int of shape (n_samples,)
            Column of each true class.
        candidates : ndarray of int of shape (n_candidates,)
            Classes of the columns.
        lost : ndarray of bool of shape (n_samples,), optional
            Samples that went to a class without a column.
        """
        own = scores[np.arange(len(column)), column][:, None]
        before = np.arange(scores.shape[1]) < column[:, None]
        ranks = ((scores > own) | ((scores == own) & before)).sum(axis=1)
        tested, row, sizes = np.unique(column, return_inverse=True, return_counts=True)
        counts = np.zeros((len(tested), scores.shape[1]))
        np.add.at(counts, (row, ranks), 1.0 if lost is None else 1.0 - lost)
        return cls(candidates[tested], counts / sizes[:, None])


def class_table(
    members: Sequence[Sequence[FoldRanks]], n_classes: int, n_candidates: int | None = None
) -> NDArray:
    """Return the table of members given by their folds, for the classes that all were tested on."""
    sums, counts = np.zeros((2, n_classes, len(members)))
    for j, folds in enumerate(members):
        for fold in folds:
            sums[fold.classes, j] += fold.among(n_candidates)
            counts[fold.classes, j] += 1
    tested = counts.all(axis=1)
    return np.asarray(sums[tested] / counts[tested])


def standard_errors(table: NDArray) -> NDArray:
    """Return the standard error of every member's mean over classes; 0 of a single class."""
    if len(table) < 2:
        return np.zeros(table.shape[1])
    return np.asarray(table.std(axis=0, ddof=1) / np.sqrt(len(table)))


def choose_member(table: NDArray) -> int:
    """Return the first member whose mean is within half a standard error of the leader's.

    The error is that of the difference over classes: members are compared on the same classes, so
    what makes a class hard for all of them does not count.

    Examples
    --------
    >>> close, behind = np.array([[0.5, 0.6], [0.6, 0.5]]), np.array([[0.1, 0.8], [0.2, 0.9]])
    >>> choose_member(close), choose_member(behind)
    (0, 1)
    """
    leader = int(table.mean(axis=0).argmax())
    lost = table[:, [leader]] - table
    return int(np.flatnonzero(lost.mean(axis=0) <= ERRORS * standard_errors(lost))[0])


def optimism(table: NDArray, taken: int, n_draws: int = 400) -> float:
    """Return by how much the mean of the member taken is too high because it was chosen.

    Classes are drawn with replacement, a member is chosen on those drawn and measured on those left
    out (the bootstrap correction of Tsamardinos, Greasidou and Borboudakis, Machine Learning 2018,
    over classes, not samples).

    Examples
    --------
    >>> noise = np.random.default_rng(0).random((20, 50))
    >>> best = int(noise.mean(axis=0).argmax())
    >>> mean = noise[:, best].mean()
    >>> mean > 0.6, abs(mean - optimism(noise, best) - 0.5) < 0.05
    (np.True_, np.True_)
    """
    rng, n = np.random.default_rng(0), len(table)
    found = []
    for _ in range(n_draws if table.shape[1] > 1 else 0):
        drawn = rng.integers(0, n, n)
        left = np.setdiff1d(np.arange(n), drawn)
        if len(left):
            found.append(table[left, choose_member(table[drawn])].mean())
    return max(0.0, float(table[:, taken].mean() - np.mean(found))) if found else 0.0


@dataclass(frozen=True)
class Expectation:
    """The per-class accuracy to expect on samples of unseen classes.

    Attributes
    ----------
    accuracy : float
        The best guess.
    low, high : float
        Bounds of the interval, meant to hold the accuracy in nine of ten draws of unseen classes.
    n_candidates : int
        Number of unseen classes it is for.
    chance : float
        What guessing among all candidates reaches.
    n_seen : int, default=0
        Number of seen classes that are candidates as well.
    """

    accuracy: float
    low: float
    high: float
    n_candidates: int
    chance: float
    n_seen: int = 0

    def __str__(self) -> str:
        seen = f" and {self.n_seen} seen" if self.n_seen else ""
        return (
            f"{self.accuracy:.2f} ({self.low:.2f} to {self.high:.2f}) among {self.n_candidates} "
            f"unseen{seen} classes, chance {self.chance:.2f}"
        )


@dataclass(frozen=True)
class ExpectedRejection:
    """The shares of samples to expect that ``predict(X, reject=True)`` rejects.

    Every class counts the same. They were found on folds, by a confidence learned on other folds.

    Attributes
    ----------
    seen, unseen, strangers : float or None
        Of seen classes, of unseen classes among the candidates, and of classes that nobody
        described. None if no sample of them was held out.
    auroc : float or None
        The chance that a sample of an unseen class among the candidates is surer than one of a
        stranger: .5 is guessing.
    promised : float or None
        What is rejected at most of an unseen class like the held-out ones, on average; None where
        the threshold was not learned by classes.
    """

    seen: float | None
    unseen: float | None
    strangers: float | None
    auroc: float | None
    promised: float | None = None

    @classmethod
    def of(
        cls,
        confidence: NDArray,
        threshold: float,
        side: NDArray[np.intp],
        y: NDArray,
        promised: float | None = None,
    ) -> ExpectedRejection:
        """Find the shares below a threshold.

        Parameters
        ----------
        confidence : ndarray of shape (n_samples,)
            How sure answers are.
        threshold : float
            What is below it is rejected.
        side : ndarray of int of shape (n_samples,)
            0 for samples of seen classes, 1 for unseen ones and 2 for strangers.
        y : ndarray of shape (n_samples,)
            Their classes.
        promised : float, optional
            As the attribute.
        """
        _, column, counts = np.unique(
            np.searchsorted(np.unique(y), y) * 3 + side, return_inverse=True, return_counts=True
        )
        weights, below = 1.0 / counts[column], confidence < threshold

        def share(number: int) -> float | None:
            rows = side == number
            return float(np.average(below[rows], weights=weights[rows])) if rows.any() else None

        seen, unseen, strangers = map(share, range(3))
        auroc, told = None, side > 0
        if unseen is not None and strangers is not None:
            known = side[told] == 1
            auroc = float(roc_auc_score(known, confidence[told], sample_weight=weights[told]))
        return cls(seen, unseen, strangers, auroc, promised)

    @property
    def tells_apart(self) -> bool:
        """Whether strangers are told from unseen classes clearly better than by guessing."""
        return self.auroc is not None and self.auroc >= LEAST_AUROC

    def doubt(self, share: float) -> str:
        """Say in one line what cannot be expected of the threshold; nothing if all is well.

        Parameters
        ----------
        share : float
            What was to be rejected at most of an unseen class.
        """
        if self.auroc is not None and not self.tells_apart:
            return (
                "samples of classes that nobody described can hardly be told from those of unseen "
                f"classes (AUROC {self.auroc:.2f} on held-out classes, .5 is guessing): expect "
                f"{self.strangers:.0%} of them to be rejected, and {self.unseen:.0%} of the others."
            )
        if self.promised is not None and self.promised > share * (1 + 1e-12):
            return (
                f"seen classes are too few to promise that at most {share:.0%} of an unseen class "
                f"is rejected; the threshold promises {self.promised:.0%}."
            )
        return ""

    def __str__(self) -> str:
        parts = {"seen": self.seen, "unseen": self.unseen, "undescribed": self.strangers}
        shares = [f"{share:.0%} of {name}" for name, share in parts.items() if share is not None]
        told = (
            "" if self.auroc is None else f"; tells the last two apart with AUROC {self.auroc:.2f}"
        )
        return f"{', '.join(shares)} samples{told}"


def expect(
    folds: Sequence[FoldRanks],
    n_candidates: int,
    *,
    too_high: float = 0.0,
    learned: float = 1.0,
) -> Expectation:
    """Return the accuracy to expect among unseen classes.

    The interval is that of the mean of m new classes whose accuracies vary as those of the c
    held-out ones do: half of it is √(t_c²·s²·(1/m + 1/c) + t_f²·τ²·(1 + 1/f)), with the variance s²
    between the classes of a fold and τ² between f folds, from an analysis of variance, and
    Student's t of c − 1 and f − 1 degrees of freedom. The least s² is 0.15·g·(1 − g), where g is
    the accuracy with one class more that is right and one that is wrong. Where a fold held out
    one class, τ is unknown and a fifth of g·(1 − g) is added to s². Where folds learned from a part
    of the rows, the upper end is raised by what the others may bring, which is not added to the
    guess.

    Parameters
    ----------
    folds : sequence of FoldRanks
        Folds of the member taken.
    n_candidates : int
        m, how many unseen classes there will be.
    too_high : float, default=0.0
        What is taken off because the member was chosen on these folds.
    learned : float, default=1.0
        Share of the rows that folds learned from.

    Returns
    -------
    Expectation
    """
    known = min(fold.shares.shape[1] for fold in folds)
    middle, half = _mean_of_classes(folds, n_candidates)
    # More candidates than were compared: the upper end is that of as many as were.
    most, wide = _mean_of_classes(folds, min(n_candidates, known))
    middle, most = middle - too_high, most - too_high
    high = most + max(half, wide) + MORE_ROWS * (1 - most) * (1 - np.sqrt(learned))
    low, middle, high = np.clip([middle - half, middle, high], 0.0, 1.0).tolist()
    return Expectation(middle, low, high, n_candidates, 1 / n_candidates)


class Expecting:
    """The part of a classifier that says what to expect of it, from folds over seen classes.

    Attributes
    ----------
    ranks_ : dict of str to list of FoldRanks
        Ranks of held-out classes among unseen classes alone ("unseen") and among all of them less
        the bias ("all"); empty if nothing was held out.
    optimism_ : float
        What is taken off because the classifier was chosen on the same folds.
    rows_learned_ : float
        Share of the rows that folds learned from.
    expected_rejection_ : dict of str to ExpectedRejection
        What the threshold is expected to reject, for "all" and "unseen".
    """

    ranks_: dict[str, list[FoldRanks]]
    optimism_: float
    rows_learned_: float
    seen_classes_: NDArray
    expected_rejection_: dict[str, ExpectedRejection]
    max_rejected: float

    def _doubts(self) -> dict[str, str]:
        """Return what cannot be expected of the threshold, by setting; older files do not say."""
        learned: dict[str, ExpectedRejection] = getattr(self, "expected_rejection_", {})
        return {setting: one.doubt(2 * self.max_rejected) for setting, one in learned.items()}

    def expected_accuracy(self, n_unseen: int, *, among: str = "unseen") -> Expectation:
        """Return the accuracy to expect on samples of another number of unseen classes.

        Parameters
        ----------
        n_unseen : int
            At least 2. Beyond the candidates of a fold, the interval ends where it does for
            as many as these, since more candidates never help.
        among : {"unseen", "all"}, default="unseen"
            Whether the unseen classes alone are candidates, or the seen ones as well.

        Returns
        -------
        Expectation
        """
        check_is_fitted(self)
        if not getattr(self, "ranks_", None):
            raise InvalidInputError(
                "nothing was judged on held-out classes, so there is nothing to expect. Fit at "
                "least four seen classes, and leave cv, gamma and time_budget as they are."
            )
        check_value("n_unseen", n_unseen, Whole(2))
        check_value("among", among, Either("unseen", "all"))
        found = expect(
            self.ranks_[among], n_unseen, too_high=self.optimism_, learned=self.rows_learned_
        )
        n_seen = len(self.seen_classes_) if among == "all" else 0
        return replace(found, n_seen=n_seen, chance=1 / (n_unseen + n_seen))


def _mean_of_classes(folds: Sequence[FoldRanks], n_candidates: int) -> tuple[float, float]:
    """Return the mean accuracy and half the width of its interval."""
    found = [fold.among(n_candidates) for fold in folds]
    every, means = np.concatenate(found), np.array([one.mean() for one in found])
    n_folds, n_classes = len(found), len(np.unique(np.concatenate([f.classes for f in folds])))
    mean, size = float(means.mean()), len(every) / n_folds
    # s² between classes and τ² between folds, by an analysis of variance.
    between, shared = float(every.var(ddof=1)) if len(every) > 1 else 0.0, 0.0
    if size == 1:
        between += SHARED * mean * (1 - mean)
    elif n_folds > 1:
        within = sum(float(((one - one.mean()) ** 2).sum()) for one in found)
        within /= len(every) - n_folds
        shared = max(0.0, float(means.var(ddof=1)) - within / size)
        between = within if shared else between
    # One class more that is right and one that is wrong: the rule of succession.
    likely = (n_classes * mean + 1) / (n_classes + 2)
    between = max(between, LEAST * likely * (1 - likely))
    half = _t(n_classes) ** 2 * between * (1 / n_candidates + 1 / n_classes)
    half += _t(n_folds) ** 2 * shared * (1 + 1 / n_folds)
    return mean, float(np.sqrt(half))


def _t(n: int) -> float:
    """Return Student's t of half an interval for the mean of a number of values."""
    return float(stats.t.ppf((1 + LEVEL) / 2, max(n - 1, 1)))


def accuracy_among(shares: NDArray, n_candidates: int) -> NDArray:
    """Return the accuracy of each class, had there been another number of candidates.

    A sample with r of h − 1 other candidates before its class is right among m candidates if none
    of the r is among the m − 1 others: with probability C(h−1−r, m−1) / C(h−1, m−1). More
    candidates than the fold has are an extrapolation: with q = (h − r − ½)/h, about the share of
    others that are worse, the accuracy is multiplied by Σ q^(m−1) / Σ q^(h−1).

    Parameters
    ----------
    shares : ndarray of shape (n_classes, h)
        As in `FoldRanks`.
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
        before, after = shares @ q ** (h - 1), shares @ q ** (m - 1)
        return np.asarray(shares[:, 0] * after / np.where(before > 0, before, 1.0))
    weights = np.zeros(h)
    possible = h - 1 - r >= m - 1
    weights[possible] = np.exp(_log_choose(h - 1 - r[possible], m - 1) - _log_choose(h - 1, m - 1))
    return np.asarray(shares @ weights)


def _log_choose(n: NDArray | int, k: int) -> NDArray:
    return np.asarray(gammaln(np.asarray(n) + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
