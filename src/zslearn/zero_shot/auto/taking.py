"""Which finalist is taken, and by how much the choice flatters it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.zero_shot.auto.choice import Rivals, class_table, guarded, mean_after_choice
from zslearn.zero_shot.auto.judging import Outcome
from zslearn.zero_shot.auto.records import Record


class _Finalists(NamedTuple):
    """Finalists, the simplest first, and what `guarded` takes of them."""

    ordered: list[Record]
    table: NDArray
    n_single: int
    recommended: int | None
    rivals: Rivals

    @classmethod
    def of(cls, outcome: Outcome, n_classes: int) -> _Finalists:
        final = {id(one) for one in outcome.finalists}
        ordered = [one for one in outcome.records if id(one) in final]
        table = class_table([one.folds(outcome.n_rows) for one in ordered], n_classes)
        places = [i for i, one in enumerate(ordered) if one.member.recommended]
        n_single = sum(not one.is_mean for one in ordered)
        n_judged = sum(bool(one.found) for one in outcome.records)
        shares = [1 / fold.shares.shape[1] for fold in ordered[0].folds(outcome.n_rows)]
        rivals = Rivals(n_judged - 1, float(np.mean(shares)))
        return cls(ordered, table, n_single, places[0] if places else None, rivals)

    @property
    def choice(self) -> tuple[NDArray, int, int | None, Rivals]:
        """What `guarded` and `mean_after_choice` take."""
        return self.table, self.n_single, self.recommended, self.rivals


def taken_of(outcome: Outcome, n_classes: int) -> Record | None:
    """Return the finalist to take; None if nothing was judged.

    Parameters
    ----------
    outcome : Outcome
        What was judged.
    n_classes : int
        Number of seen classes.

    Returns
    -------
    Record or None
    """
    if not outcome.finalists:
        return None
    finalists = _Finalists.of(outcome, n_classes)
    return finalists.ordered[guarded(*finalists.choice)]


def optimism_of(outcome: Outcome, taken: Record, n_classes: int) -> float:
    """Return by how much the accuracy of the finalist taken is too high because it was chosen.

    Parameters
    ----------
    outcome : Outcome
        What was judged.
    taken : Record
        The finalist.
    n_classes : int
        Number of seen classes.

    Returns
    -------
    float
        At least 0.
    """
    finalists = _Finalists.of(outcome, n_classes)
    own = class_table([taken.folds(outcome.n_rows)], n_classes).mean()
    return max(0.0, float(own) - mean_after_choice(*finalists.choice))
