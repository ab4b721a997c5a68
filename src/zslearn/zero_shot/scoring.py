"""Scores as products with class vectors: the form that other runtimes can compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Constraint
from zslearn.core.nearest import Targets, unit_rows


class Branch(NamedTuple):
    """Samples compared with class vectors, after a map if there is one.

    Attributes
    ----------
    coef : ndarray of shape (n_dimensions, n_features) or None
        Samples are mapped by ``X @ coef.T`` first.
    targets : Targets
        One vector per candidate.
    """

    coef: NDArray | None
    targets: Targets


@dataclass(frozen=True)
class ScoreForm:
    """The scores of a recognizer: the mean of one or two branches, minus a bias.

    Attributes
    ----------
    branches : tuple of Branch
        What is averaged.
    feature_norm : {"l2", None}
        How samples are scaled first.
    power : float
        Exponent p of ``sign(x)|x|^p``, applied to scaled samples, which are then scaled again.
    bias : ndarray of shape (n_candidates,) or None
        What is subtracted from the scores of each candidate.
    steps : tuple of fitted transformers, default=()
        What raw samples go through before anything else.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> recognizer = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y).recognizer()
    >>> np.allclose(recognizer.form().scores(data.X), recognizer.scores(data.X))
    True
    """

    branches: tuple[Branch, ...]
    feature_norm: str | None = "l2"
    power: float = 1.0
    bias: NDArray | None = None
    steps: tuple[Any, ...] = ()

    def scores(self, X: NDArray) -> NDArray:
        """Return the scores of raw samples, of shape (n_samples, n_candidates)."""
        for step in self.steps:
            X = X if step is None or step == "passthrough" else step.transform(X)
        rows = unit_rows(X) if self.feature_norm == "l2" else X
        if self.power != 1.0:
            rows = np.sign(rows) * np.abs(rows) ** self.power
            rows = unit_rows(rows) if self.feature_norm == "l2" else rows
        parts = [
            targets.scores(rows if coef is None else rows @ coef.T)
            for coef, targets in self.branches
        ]
        scores = np.mean(parts, axis=0)
        return scores if self.bias is None else scores - self.bias


# Candidates with seen classes among them, and candidates without.
SETTINGS = ("all", "unseen")


class ForEachSetting(Constraint):
    """A dict with a value for each setting, allowed by `each`."""

    def __init__(self, each: Constraint) -> None:
        def allows(value: Any) -> bool:
            complete = isinstance(value, Mapping) and set(value) == set(SETTINGS)
            return complete and all(map(each.allows, value.values()))

        super().__init__(f"a dict of 'all' and 'unseen' to {each.words}", allows)


def in_each_setting(value: Any) -> dict[str, float]:
    """Return a number, or a dict of numbers, as one number for each setting."""
    if isinstance(value, Mapping):
        return {name: float(value[name]) for name in SETTINGS}
    return dict.fromkeys(SETTINGS, float(value))


def is_auto(value: Any) -> bool:
    """Say whether a parameter is left to folds."""
    return isinstance(value, str) and value == "auto"
