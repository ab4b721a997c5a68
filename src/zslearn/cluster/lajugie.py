"""Large-margin metric learning for partitioning, with the partitions relaxed to projectors."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Number, Whole
from zslearn.cluster.base import MomentMapping
from zslearn.cluster.spectrum import metric_factor
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.tags import MappingTags


class LajugieSpectral(MomentMapping):
    """Structured large-margin metric in the spectral relaxation, after Lajugie et al.

    Minimizes over metrics B the regularized structured hinge loss
    ``μ/2 ‖B‖² + max_P [Δ(C, P) + tr((P - C) Z B Zᵀ)]``: no partition P may look better to k-means
    than the true one C by less than its loss. Z are the centered rows divided by √N, and P runs
    over projectors of the rank of C, not over partitions: that is what *spectral* means, and this
    is therefore not a reproduction of the published method. The loss is linear in P, so the worst
    P is an eigenproblem in the span of features and class indicators, whose Gram matrix is in the
    moments: a step costs the same for a hundred rows and for a million.

    Parameters
    ----------
    mu : float, default=0.01
        Weight of the regularizer, for features of variance 1.
    max_iter : int, default=600
        Number of subgradient steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features)
        L with ``LᵀL = B``.
    n_iter_ : int
        Number of steps.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    References
    ----------
    R. Lajugie, F. Bach and S. Arlot, "Large-margin metric learning for constrained partitioning
    problems", ICML 2014.

    Examples
    --------
    >>> from zslearn.cluster import LajugieSpectral
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> LajugieSpectral(max_iter=50).fit(data.X_train, data.y_train).transform([[0, 0, 0]]).shape[0]
    1
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        closed_form=False,
        reference="after R. Lajugie, F. Bach and S. Arlot, Large-margin metric learning for "
        "constrained partitioning problems, ICML 2014",
    )
    parameter_constraints: ClassVar = {
        "mu": Number(above=0),
        "max_iter": Whole(1),
    }

    def __init__(self, mu: float = 0.01, *, max_iter: int = 600) -> None:
        self.mu = mu
        self.max_iter = max_iter

    def _coef(self, statistics: Statistics) -> NDArray:
        mu = self.mu
        steps = self.max_iter
        self.n_iter_ = steps
        # The regularizer is meant for a mean variance of 1.
        d = statistics.total.n_features
        scale = np.sqrt(np.trace(statistics.total.gram) / (d * statistics.total.n_samples)) or 1.0
        R_x, R_j = span(statistics.standardized(statistics.total.mean, np.full(d, scale)))
        B = subgradient_descent(R_x, R_j, mu, steps, len(statistics.classes) - 1)
        return metric_factor(B) / scale


def span(statistics: Statistics) -> tuple[NDArray, NDArray]:
    """Coordinates of ``Z = X / √N`` and of the centered indicators J in an orthonormal basis."""
    moments, N = statistics.total, statistics.total.n_samples
    share = np.sqrt(moments.counts / N)
    cross = moments.sums.T / np.sqrt(N * moments.counts)
    gram = np.block(
        [[moments.gram / N, cross], [cross.T, np.eye(len(share)) - np.outer(share, share)]]
    )
    values, vectors = np.linalg.eigh(gram)
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    R = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    return R[:, : moments.n_features], R[:, moments.n_features :]


def subgradient_descent(R_x: NDArray, R_j: NDArray, mu: float, n_steps: int, rank: int) -> NDArray:
    """Projected subgradient steps for the strongly convex objective; returns the weighted mean."""
    d = R_x.shape[1]
    C = R_j @ R_j.T
    target = R_x.T @ C @ R_x
    B, mean = np.zeros((d, d)), np.zeros((d, d))
    for t in range(n_steps):
        worst = worst_projector(R_x @ B @ R_x.T - 2 * C, rank)
        gradient = mu * B + (R_x.T @ worst) @ (worst.T @ R_x) - target
        # Steps 2 / (μ (t + 2)) and weights t + 1: Lacoste-Julien, Schmidt and Bach, 2012.
        B = _positive_part(B - 2 / (mu * (t + 2)) * gradient)
        mean += 2 * (t + 1) / (n_steps * (n_steps + 1)) * B
    return mean


def worst_projector(M: NDArray, rank: int) -> NDArray:
    """Basis of the projector P of at most that rank with the largest ``tr(P M)``.

    Directions outside the span have the value 0, so negative ones are never taken.
    """
    values, vectors = np.linalg.eigh(M)
    best = vectors[:, -rank:]
    return best[:, values[-rank:] > 0]


def _positive_part(M: NDArray) -> NDArray:
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
