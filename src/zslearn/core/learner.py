"""The public protocol "I learn from moments": what to gather, and learning from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.core.block_sums import Grouping
from zslearn.core.moments import Moments
from zslearn.core.rows import RowTransform

if TYPE_CHECKING:
    from zslearn.core.gathered import Gathered

# Rows kept for choosing parameters, of all classes together.
VALIDATION_ROWS = 20_000


@dataclass(frozen=True)
class MomentPlan:
    """What a learner wants gathered in a pass over labeled rows.

    Attributes
    ----------
    transform : RowTransform
        What happens to the rows before they are summed.
    centered : bool
        Whether to take moments about the mean.
    by_class : bool
        Whether to keep a Gram matrix for each class, not only their sum.
    chooses : bool
        Whether parameters are chosen by folds of classes, so that the classes must be known.
    classes : ndarray or None
        Classes whose rows are used; None means all.
    folds : tuple of ndarray
        Classes of each fold; empty if nothing is chosen or there are too few classes.
    validation_rows : int
        Rows to keep for judging models, over all classes together.

    Examples
    --------
    >>> from zslearn.zero_shot import SAEClassifier
    >>> plan = SAEClassifier({"a": [1], "b": [2], "c": [3], "d": [4]}).moment_plan(list("abcd"))
    >>> plan.transform.norm, plan.chooses, [fold.tolist() for fold in plan.folds]
    ('l2', True, [['c', 'd'], ['a', 'b']])
    """

    transform: RowTransform = field(default_factory=RowTransform)
    centered: bool = False
    by_class: bool = False
    chooses: bool = False
    classes: NDArray | None = None
    folds: tuple[NDArray, ...] = ()
    validation_rows: int = VALIDATION_ROWS

    @property
    def grouping(self) -> Grouping | None:
        """Which classes share a Gram matrix; None means all."""
        if self.folds:
            return Grouping.of_folds(self.folds)
        return Grouping() if self.by_class else None

    @property
    def rows_per_class(self) -> int:
        """Rows of each class to keep for judging models; 0 if nothing is judged."""
        if not self.folds:
            return 0
        return max(1, self.validation_rows // sum(map(len, self.folds)))

    def relabeled(self, relabel: Callable[[NDArray], NDArray]) -> MomentPlan:
        """Return the plan for data that labels its classes differently."""
        classes = None if self.classes is None else relabel(self.classes)
        return replace(self, classes=classes, folds=tuple(map(relabel, self.folds)))

    def facts(self) -> dict[str, Any]:
        """Return everything as JSON-ready values; two plans with the same facts are the same."""
        return {
            **asdict(self),
            "classes": None if self.classes is None else self.classes.tolist(),
            "folds": [fold.tolist() for fold in self.folds],
        }

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> MomentPlan:
        """Return the plan that gave these facts."""
        classes = facts["classes"]
        known = {
            "transform": RowTransform(**facts["transform"]),
            "classes": None if classes is None else np.array(classes),
            "folds": tuple(np.array(fold) for fold in facts["folds"]),
        }
        return cls(**{**facts, **known})


class MomentLearner(ABC):
    """An estimator that learns from moments alone, wherever they were added up.

    `fit`, `zslearn.scale.fit_batches`, a cluster and merged files gather what `moment_plan` asks
    for and hand it to `learn`.
    """

    @abstractmethod
    def moment_plan(self, classes: ArrayLike | None = None) -> MomentPlan:
        """Return what is to be gathered from the data.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), optional
            Training classes; folds cannot be made without them.

        Returns
        -------
        MomentPlan
        """

    @abstractmethod
    def learn(self, gathered: Gathered | Moments) -> Self:
        """Learn from what was gathered.

        Parameters
        ----------
        gathered : Gathered or Moments
            What a pass by `moment_plan` found, or plain moments of rows transformed as the plan
            says.

        Returns
        -------
        self
        """
