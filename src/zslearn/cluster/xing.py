"""The metric of Xing et al.: dissimilar pairs far apart, similar pairs close together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from zslearn._parameters import Number, RandomSource, Whole
from zslearn._progress import report
from zslearn.cluster.base import RowMapping
from zslearn.cluster.kissme import pair_covariances
from zslearn.cluster.pairs import dissimilar_differences
from zslearn.cluster.spectrum import metric_factor, ridged, symmetric_power
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.tags import MappingTags


class XingMMC(RowMapping):
    """Mahalanobis metric for clustering with side information (MMC).

    Maximizes the mean distance ``√(dᵀA d)`` of dissimilar pairs such that the mean squared distance
    of similar pairs, ``tr(A Σ_S)``, is at most 1 and A is positive semi-definite. Σ_S runs over all
    similar pairs in closed form; dissimilar pairs, whose distances are not squared, are sampled.
    In coordinates in which Σ_S is the identity the constraint is a simplex on eigenvalues, so each
    step of gradient ascent is projected exactly in place of the original's inner iterations.

    Parameters
    ----------
    n_pairs : int, default=10000
        Number of dissimilar pairs drawn.
    max_iter : int, default=200
        Maximum number of gradient steps.
    tol : float, default=1e-6
        Stop when a step raises the objective by less than this share.
    ridge : float, default=1e-6
        Added to Σ_S, as a share of its mean variance.
    random_state : int, RandomState instance or None, default=0
        Source of the pairs.
    verbose : int, default=0
        Above 0, the objective is reported on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features)
        L with ``LᵀL = A``.
    n_iter_ : int
        Number of gradient steps.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    References
    ----------
    E. P. Xing, A. Y. Ng, M. I. Jordan and S. Russell, "Distance metric learning with application
    to clustering with side-information", NIPS 2002.

    Examples
    --------
    >>> from zslearn.cluster import XingMMC
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> XingMMC(500).fit(data.X_train, data.y_train).transform(data.X_test).shape[0]
    3000
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        closed_form=False,
        incremental=False,
        reference="E. P. Xing et al., Distance metric learning with application to clustering "
        "with side-information, NIPS 2002",
    )
    parameter_constraints: ClassVar = {
        "n_pairs": Whole(1),
        "max_iter": Whole(1),
        "tol": Number(least=0),
        "ridge": Number(least=0),
        "random_state": RandomSource(),
        "verbose": Whole(0),
    }

    def __init__(
        self,
        n_pairs: int = 10000,
        *,
        max_iter: int = 200,
        tol: float = 1e-6,
        ridge: float = 1e-6,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_pairs = n_pairs
        self.max_iter = max_iter
        self.tol = tol
        self.ridge = ridge
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, X: NDArray, y: NDArray[np.intp]) -> NDArray:
        ridge = self.ridge
        rng = check_random_state(self.random_state)
        similar, _ = pair_covariances(Statistics.of(X, y, by_class=True))
        whiten = symmetric_power(ridged(similar, ridge), -0.5)
        pairs = dissimilar_differences(X, y, self.n_pairs, rng)
        B = self._ascend(pairs @ whiten)
        return metric_factor(B) @ whiten

    def _ascend(self, D: NDArray) -> NDArray:
        """Maximize the mean of ``√(dᵀB d)`` over B ≥ 0 with trace 1."""
        B = np.eye(D.shape[1]) / D.shape[1]
        value, step = mean_distance(D, B), 1.0
        for iteration in range(self.max_iter):
            self.n_iter_ = iteration + 1
            gradient = _gradient(D, B)
            better = None
            while better is None and step > 1e-12:
                trial = project_spectrahedron(B + step * gradient)
                new = mean_distance(D, trial)
                better = trial if new > value else None
                step *= 1.5 if better is not None else 0.5
            if better is None:
                break
            gain, B, value = (new - value) / value, better, new
            report(self.verbose > 0, f"XingMMC step {iteration + 1}: mean distance {value:.6g}")
            if gain < self.tol:
                break
        return B


def mean_distance(D: NDArray, B: NDArray) -> float:
    """Mean length of the rows of D in the metric B."""
    return float(np.mean(np.sqrt(np.maximum(np.einsum("ij,ij->i", D @ B, D), 0.0))))


def project_spectrahedron(M: NDArray) -> NDArray:
    """Nearest positive semi-definite matrix of trace 1: eigenvalues to the simplex."""
    values, vectors = np.linalg.eigh(M)
    falling = values[::-1]
    surplus = (np.cumsum(falling) - 1.0) / np.arange(1, len(values) + 1)
    threshold = surplus[np.flatnonzero(falling > surplus)[-1]]
    return (vectors * np.maximum(values - threshold, 0.0)) @ vectors.T


def _gradient(D: NDArray, B: NDArray) -> NDArray:
    """Mean of ``d dᵀ / (2 √(dᵀB d))``."""
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", D @ B, D), 0.0))
    weights = 0.5 / np.maximum(lengths, 1e-9 * max(float(lengths.max()), 1e-300))
    return (D * weights[:, None]).T @ D / len(D)
