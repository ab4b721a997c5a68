"""Information-theoretic metric learning on sampled pairs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from zslearn._parameters import Constraint, Either, Number, Numbers, RandomSource, Whole
from zslearn._progress import report
from zslearn.cluster.base import RowMapping
from zslearn.cluster.pairs import dissimilar_differences, similar_differences
from zslearn.cluster.spectrum import metric_factor
from zslearn.cluster.tags import MappingTags
from zslearn.exceptions import InvalidInputError


def _are_percentiles(value: Any) -> bool:
    """Say whether a value is a pair of percentiles, the lower first."""
    each = Number(least=0, most=100)
    return Numbers(each).allows(value) and np.shape(value) == (2,) and value[0] < value[1]


class ITML(RowMapping):
    """Metric nearest to Euclidean, in LogDet divergence, that satisfies bounds on pairs.

    Squared distances should be below an upper bound for similar pairs and above a lower bound for
    dissimilar ones, up to slack weighted by `gamma`; solved by cyclic Bregman projections, one
    rank-one update per pair. Pairs are sampled, and the bounds are percentiles of the squared
    Euclidean distances of sampled pairs, so memory does not grow with the square of the samples.

    Parameters
    ----------
    n_pairs : int, optional
        Number of similar and of dissimilar pairs; by default 20 K (K - 1) each for K classes.
        Results depend strongly on it, and more pairs converge more slowly.
    gamma : float, default=1.0
        Weight of the slack: large values insist on the bounds.
    percentiles : tuple of 2 floats, default=(5, 95)
        Which percentiles of the distances are the upper and the lower bound.
    max_iter : int, default=500
        Maximum number of sweeps over the pairs.
    tol : float, default=1e-3
        Stop when the multipliers change by less than this share in a sweep.
    random_state : int, RandomState instance or None, default=0
        Source of the pairs.
    verbose : int, default=0
        Above 0, each sweep is reported on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_features)
        L with ``LᵀL`` the metric.
    bounds_ : tuple of 2 floats
        Upper bound for similar and lower bound for dissimilar pairs.
    n_iter_ : int
        Number of sweeps.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    References
    ----------
    J. V. Davis, B. Kulis, P. Jain, S. Sra and I. S. Dhillon, "Information-theoretic metric
    learning", ICML 2007.

    Examples
    --------
    >>> from zslearn.cluster import ITML
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> ITML(50, max_iter=5).fit(data.X_train, data.y_train).coef_.shape
    (3, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        closed_form=False,
        incremental=False,
        reference="J. V. Davis et al., Information-theoretic metric learning, ICML 2007",
    )
    parameter_constraints: ClassVar = {
        "n_pairs": Either(None, Whole(1)),
        "gamma": Number(above=0),
        "percentiles": Constraint("two rising numbers from 0 to 100", _are_percentiles),
        "max_iter": Whole(1),
        "tol": Number(least=0),
        "random_state": RandomSource(),
        "verbose": Whole(0),
    }

    def __init__(
        self,
        n_pairs: int | None = None,
        *,
        gamma: float = 1.0,
        percentiles: tuple[float, float] = (5, 95),
        max_iter: int = 500,
        tol: float = 1e-3,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_pairs = n_pairs
        self.gamma = gamma
        self.percentiles = percentiles
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, X: NDArray, y: NDArray[np.intp]) -> NDArray:
        gamma = self.gamma
        n_classes = len(self.classes_)
        pairs = 20 * n_classes * (n_classes - 1) if self.n_pairs is None else self.n_pairs
        n_pairs = pairs
        rng = check_random_state(self.random_state)
        V = np.concatenate(
            [similar_differences(X, y, n_pairs, rng), dissimilar_differences(X, y, n_pairs, rng)]
        )
        self.bounds_ = self._bounds(np.einsum("ij,ij->i", V, V))
        sign = np.repeat([1.0, -1.0], n_pairs)
        # Equal points cannot be brought closer or pushed apart.
        distinct = rng.permutation(np.flatnonzero(np.einsum("ij,ij->i", V, V) > 0))
        bound = np.repeat(self.bounds_, n_pairs)
        return metric_factor(self._projected(V[distinct], sign[distinct], bound[distinct], gamma))

    def _bounds(self, squares: NDArray) -> tuple[float, float]:
        upper, lower = np.percentile(squares, self.percentiles)
        if lower <= 0:
            raise InvalidInputError("all sampled pairs have equal points: nothing to learn from.")
        return max(float(upper), 1e-9 * float(lower)), float(lower)

    def _projected(self, V: NDArray, sign: NDArray, bound: NDArray, gamma: float) -> NDArray:
        """Cycle through the pairs until the multipliers settle; returns the metric."""
        M, multiplier, slack = np.eye(V.shape[1]), np.zeros(len(V)), bound.copy()
        for sweep in range(self.max_iter):
            before = multiplier.copy()
            for i, v in enumerate(V):
                M = _project(M, v, i, (sign[i], gamma), multiplier, slack)
            self.n_iter_ = sweep + 1
            change = np.abs(multiplier - before).sum() / max(np.abs(before).sum(), 1e-300)
            report(self.verbose > 0, f"ITML sweep {sweep + 1}: multipliers changed by {change:.2g}")
            if change < self.tol:
                break
        return (M + M.T) / 2


def _project(
    M: NDArray,
    v: NDArray,
    i: int,
    weights: tuple[float, float],
    multiplier: NDArray,
    slack: NDArray,
) -> NDArray:
    """Bregman projection on the bound of pair i, multiplier and slack in place.

    The step makes the new distance equal the new slack, ``1/p - δα = 1/ξ + δα/γ``; algorithm 1 of
    Davis et al. as printed is the case γ = 1.
    """
    sign, gamma = weights
    Mv = M @ v
    p = float(v @ Mv)
    alpha = min(multiplier[i], sign * gamma / (gamma + 1) * (1 / p - 1 / slack[i]))
    beta = sign * alpha / (1 - sign * alpha * p)
    slack[i] = gamma * slack[i] / (gamma + sign * alpha * slack[i])
    multiplier[i] -= alpha
    return M + beta * np.outer(Mv, Mv)
