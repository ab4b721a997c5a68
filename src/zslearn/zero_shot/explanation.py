"""Why a sample got its score for a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Explanation:
    """A score as a sum: what each dimension adds, and what belongs to none of them.

    Attributes
    ----------
    dimensions : tuple of str
        What the score is split by: the semantic dimensions, or the seen classes for methods that
        build a class from them.
    contributions : ndarray of shape (n_dimensions,)
        What each dimension adds to the score.
    offset : float
        What belongs to no dimension.
    score : float
        ``offset + contributions.sum()``, the value of `decision_function`.
    deviations : ndarray of shape (n_dimensions,) or None
        How far the class lies from what the offset stands for, where that is a signature: a
        dimension with a positive contribution and a negative deviation speaks by its absence.

    Examples
    --------
    >>> import numpy as np
    >>> why = Explanation.of(["stripes", "swims"], np.array([0.5, -0.75]), 1.0)
    >>> why.score, why.top(1)
    (0.75, [('swims', -0.75)])
    """

    dimensions: tuple[str, ...]
    contributions: NDArray
    offset: float
    score: float
    deviations: NDArray | None = None

    @classmethod
    def of(
        cls,
        dimensions: Sequence[str],
        contributions: NDArray,
        offset: float = 0.0,
        deviations: NDArray | None = None,
    ) -> Explanation:
        """Add contributions and offset up to the score."""
        total = float(offset) + float(contributions.sum())
        return cls(tuple(dimensions), contributions, float(offset), total, deviations)

    def top(self, n: int = 5) -> list[tuple[str, float]]:
        """Return the n dimensions of largest absolute contribution."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:n]
        return [(self.dimensions[i], float(self.contributions[i])) for i in order]
