"""The best classes of samples."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray


class Ranking(NamedTuple):
    """The best classes of each sample, best first, ties in candidate order.

    Attributes
    ----------
    names : ndarray of shape (n_samples, k)
        Class names.
    scores : ndarray of shape (n_samples, k)
        Their scores.
    """

    names: NDArray
    scores: NDArray
