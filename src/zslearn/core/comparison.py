"""How samples are compared with class vectors: the cosine, the dot product, the distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, check_value

Metric = Literal["cosine", "dot", "euclidean"]
METRICS: tuple[str, ...] = get_args(Metric)
Direction = Literal["encode", "decode"]
_ANY_METRIC = Either(*METRICS)


@dataclass(frozen=True)
class Comparison:
    """Everything the name of a metric stands for.

    The score of a sample q and a class vector p is ``q·p`` (dot), the same for unit vectors
    (cosine, 0 with a vector of zeros) or ``−‖q − p‖² = 2 q·p − ‖p‖² − ‖q‖²`` (euclidean).

    Attributes
    ----------
    unit : bool
        Whether samples and class vectors are scaled to unit length.
    distance : bool
        Whether the score is the negative squared distance.

    Examples
    --------
    >>> from zslearn.core.comparison import Comparison
    >>> Comparison.of("cosine")
    Comparison(unit=True, distance=False)
    """

    unit: bool = False
    distance: bool = False

    @classmethod
    def of(cls, metric: str) -> Comparison:
        """Return the comparison of that name."""
        check_value("metric", metric, _ANY_METRIC)
        return _COMPARISONS[metric]

    def rule(self, norms: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return (scale, offset) such that ``scale · q·p + offset`` ranks classes as the score.

        Parameters
        ----------
        norms : ndarray
            Lengths of class vectors.

        Returns
        -------
        scale, offset : ndarrays like `norms`
        """
        if self.unit:
            scale = np.divide(1.0, norms, out=np.zeros(norms.shape), where=norms > 0)
            return scale, np.zeros(norms.shape)
        if self.distance:
            return np.full(norms.shape, 2.0), -(norms**2)
        return np.ones(norms.shape), np.zeros(norms.shape)

    def split(
        self, x: NDArray[Any], s: NDArray[Any], W: NDArray[Any], direction: Direction
    ) -> tuple[NDArray[Any], float]:
        """Split the score of a sample and a class by the dimensions of the semantic space.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
            A sample.
        s : ndarray of shape (n_dimensions,)
            A signature.
        W : ndarray of shape (n_dimensions, n_features)
            The map.
        direction : {"encode", "decode"}
            Compare W x with s, or x with Wᵀ s.

        Returns
        -------
        contributions : ndarray of shape (n_dimensions,)
        offset : float
            The part that belongs to no dimension; the score is this plus the sum of the
            contributions.
        """
        code, encode = W @ x, direction == "encode"
        if self.distance and encode:
            return -((code - s) ** 2), 0.0
        if self.distance:
            # −‖x − Wᵀs‖² = −‖x‖² + Σ_j s_j (2 (W x)_j − (W Wᵀ s)_j)
            return s * (2.0 * code - W @ (s @ W)), -float(x @ x)
        if not self.unit:
            return s * code, 0.0
        q, p = (code, s) if encode else (x, s @ W)
        length = float(np.linalg.norm(q) * np.linalg.norm(p))
        return (s * code / length if length > 0 else np.zeros(len(s))), 0.0


_COMPARISONS = {
    name: Comparison(unit=name == "cosine", distance=name == "euclidean") for name in METRICS
}
