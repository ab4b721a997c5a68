"""What choosing parameters by held-out classes needs of a stream: moments by fold, a few rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zslearn.core.moments import Moments


@dataclass(frozen=True)
class FoldedMoments:
    """Moments of each fold of classes, and rows to judge models by.

    Attributes
    ----------
    parts : tuple of Moments
        Raw moments of the classes each fold holds out; every class is in one fold.
    X : ndarray of shape (n_rows, n_features)
        Rows kept, features as in the moments.
    y : ndarray of shape (n_rows,)
        Their classes.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(4), np.array(["a", "b", "c", "d"])
    >>> parts = Moments.of(X[:2], y[:2]), Moments.of(X[2:], y[2:])
    >>> folded = FoldedMoments(parts, X, y)
    >>> folded.total.n_samples, [held_out.tolist() for _, held_out in folded.folds]
    (4.0, [[0, 1], [2, 3]])
    """

    parts: tuple[Moments, ...]
    X: NDArray
    y: NDArray

    @property
    def total(self) -> Moments:
        """Moments of all samples."""
        return sum(self.parts[1:], self.parts[0])

    @property
    def folds(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """The rows kept of each fold, with no training rows: moments take their place."""
        nothing = np.empty(0, dtype=np.intp)
        return [(nothing, np.flatnonzero(np.isin(self.y, part.classes))) for part in self.parts]

    def numbered(self, classes: NDArray) -> FoldedMoments:
        """Return the same with the position in `classes` in place of each label."""
        parts = tuple(
            replace(part, classes=np.searchsorted(classes, part.classes)) for part in self.parts
        )
        return FoldedMoments(parts, self.X, np.searchsorted(classes, self.y))
