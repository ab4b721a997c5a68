"""Where the true classes were ranked in a fold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FoldRanks:
    """Where the true classes were ranked in one fold.

    Attributes
    ----------
    classes : ndarray of int of shape (n_held_out,)
        The classes tested.
    shares : ndarray of shape (n_held_out, n_candidates)
        Share of the samples of each class whose true class had 0, 1, 2, ... candidates before it.
    """

    classes: NDArray[np.intp]
    shares: NDArray

    @property
    def accuracies(self) -> NDArray:
        """Share of each class that is right."""
        return self.shares[:, 0]

    @classmethod
    def of(
        cls, scores: NDArray, truth: NDArray[np.intp], candidates: NDArray[np.intp]
    ) -> FoldRanks:
        """Rank samples by their scores, of shape (n_samples, n_candidates).

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_candidates)
            Larger is better; the first of equal candidates is the answer.
        truth : ndarray of shape (n_samples,)
            Classes.
        candidates : ndarray of shape (n_candidates,)
            Classes of the columns, ascending.
        """
        column = np.searchsorted(candidates, truth)
        own = scores[np.arange(len(truth)), column][:, None]
        before = np.arange(scores.shape[1]) < column[:, None]
        ranks = ((scores > own) | ((scores == own) & before)).sum(axis=1)
        tested, row = np.unique(truth, return_inverse=True)
        counts = np.zeros((len(tested), scores.shape[1]))
        np.add.at(counts, (row, ranks), 1.0)
        return cls(tested, counts / counts.sum(axis=1, keepdims=True))
