"""Metrics learned step by step: from pairs (XingMMC, ITML) and from triplets (LMNN).

Pairs are drawn at random, and triplets are those of the nearest samples, so that memory does not
grow with the square of the samples.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import optimize, sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from zslearn._declared import parameter
from zslearn._parameters import Constraint, Either, Number, Numbers, RandomSource, Whole
from zslearn._progress import report
from zslearn.cluster.base import MappingTags, RowMapping, Statistics
from zslearn.cluster.closed_form import metric_factor, pair_covariances, ridged, symmetric_power
from zslearn.cluster.kmeans import one_thread
from zslearn.exceptions import InvalidInputError

# Rows whose triplets are in memory at a time.
_CHUNK = 4096


def similar_differences(X: NDArray, y: NDArray, n_pairs: int, rng: RandomState) -> NDArray:
    """Differences of `n_pairs` random pairs of the same class; classes weigh by their pairs."""
    order, starts, counts = _by_class(y)
    pairs = counts * (counts - 1.0)
    if pairs.sum() == 0:
        raise InvalidInputError(
            "pairs of the same class are needed, but every class has a single sample."
        )
    c = rng.choice(len(counts), size=n_pairs, p=pairs / pairs.sum())
    i = rng.randint(counts[c])
    # One of the other counts - 1 members, so that no sample is paired with itself.
    j = (i + 1 + rng.randint(counts[c] - 1)) % counts[c]
    return X[order[starts[c] + i]] - X[order[starts[c] + j]]


def dissimilar_differences(X: NDArray, y: NDArray, n_pairs: int, rng: RandomState) -> NDArray:
    """Differences of `n_pairs` random pairs of different classes, all such pairs equally likely."""
    order, starts, counts = _by_class(y)
    others = len(y) - counts
    weight = counts * others.astype(float)
    c = rng.choice(len(counts), size=n_pairs, p=weight / weight.sum())
    i = starts[c] + rng.randint(counts[c])
    # Positions after the class and, wrapping around the end, before it.
    j = (starts[c] + counts[c] + rng.randint(others[c])) % len(y)
    return X[order[i]] - X[order[j]]


def _by_class(y: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Rows sorted by class, and where each class starts and how many rows it has."""
    counts = np.bincount(y)
    return np.argsort(y, kind="stable"), np.cumsum(counts) - counts, counts


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
    n_pairs: int = parameter(default=10000, allowed=Whole(1), kw_only=False)
    max_iter: int = parameter(default=200, allowed=Whole(1))
    tol: float = parameter(default=1e-6, allowed=Number(least=0))
    ridge: float = parameter(default=1e-6, allowed=Number(least=0))
    random_state: Any = parameter(default=0, allowed=RandomSource())
    verbose: int = parameter(default=0, allowed=Whole(0))

    def _learn(self, X: NDArray, y: NDArray[np.intp]) -> NDArray:
        rng = check_random_state(self.random_state)
        similar, _ = pair_covariances(Statistics.of(X, y, by_class=True))
        # In whitened coordinates the constraint tr(A Σ_S) ≤ 1 is a bound on the trace alone.
        whiten = symmetric_power(ridged(similar, self.ridge), -0.5)
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
    # Subtract what makes the positive rest sum to 1 (Duchi et al., ICML 2008).
    falling = values[::-1]
    surplus = (np.cumsum(falling) - 1.0) / np.arange(1, len(values) + 1)
    threshold = surplus[np.flatnonzero(falling > surplus)[-1]]
    return (vectors * np.maximum(values - threshold, 0.0)) @ vectors.T


def _gradient(D: NDArray, B: NDArray) -> NDArray:
    """Mean of ``d dᵀ / (2 √(dᵀB d))``."""
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", D @ B, D), 0.0))
    weights = 0.5 / np.maximum(lengths, 1e-9 * max(float(lengths.max()), 1e-300))
    return (D * weights[:, None]).T @ D / len(D)


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
    n_pairs: int | None = parameter(default=None, allowed=Either(None, Whole(1)), kw_only=False)
    gamma: float = parameter(default=1.0, allowed=Number(above=0))
    percentiles: tuple[float, float] = parameter(
        default=(5, 95), allowed=Constraint("two rising numbers from 0 to 100", _are_percentiles)
    )
    max_iter: int = parameter(default=500, allowed=Whole(1))
    tol: float = parameter(default=1e-3, allowed=Number(least=0))
    random_state: Any = parameter(default=0, allowed=RandomSource())
    verbose: int = parameter(default=0, allowed=Whole(0))

    def _learn(self, X: NDArray, y: NDArray[np.intp]) -> NDArray:
        K = len(self.classes_)
        n_pairs = 20 * K * (K - 1) if self.n_pairs is None else self.n_pairs
        rng = check_random_state(self.random_state)
        V = np.concatenate(
            [similar_differences(X, y, n_pairs, rng), dissimilar_differences(X, y, n_pairs, rng)]
        )
        squares = np.einsum("ij,ij->i", V, V)
        self.bounds_ = self._bounds(squares)
        sign = np.repeat([1.0, -1.0], n_pairs)
        # Equal points cannot be brought closer or pushed apart.
        distinct = rng.permutation(np.flatnonzero(squares > 0))
        bound = np.repeat(self.bounds_, n_pairs)
        return metric_factor(self._projected(V[distinct], sign[distinct], bound[distinct]))

    def _bounds(self, squares: NDArray) -> tuple[float, float]:
        upper, lower = np.percentile(squares, self.percentiles)
        if lower <= 0:
            raise InvalidInputError("all sampled pairs have equal points: nothing to learn from.")
        return max(float(upper), 1e-9 * float(lower)), float(lower)

    def _projected(self, V: NDArray, sign: NDArray, bound: NDArray) -> NDArray:
        """Cycle through the pairs until the multipliers settle; returns the metric."""
        M, multiplier, slack = np.eye(V.shape[1]), np.zeros(len(V)), bound.copy()
        for sweep in range(self.max_iter):
            before = multiplier.copy()
            for i, v in enumerate(V):
                M = _project(M, v, i, (sign[i], self.gamma), multiplier, slack)
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


class LMNN(RowMapping):
    """Large-margin nearest neighbors: targets close, impostors a unit margin farther.

    Every sample has its `n_neighbors` nearest of the same class as targets, fixed in Euclidean
    distance. The map L minimizes ``(1 - push) Σ ‖L(x_i - x_j)‖² + push Σ [1 + ‖L(x_i - x_j)‖² -
    ‖L(x_i - x_l)‖²]₊`` over targets j and impostors l, each divided by the number of samples. Only
    the `n_impostors` nearest samples of other classes are kept for each sample and searched again
    after every round, so memory grows with n_samples, not with its square.

    The method is local: it has no reason to bring far parts of a class together, and on data whose
    classes fall in several parts it leaves k-means as wrong as it was.

    Parameters
    ----------
    n_neighbors : int, default=3
        Targets of each sample.
    n_impostors : int, default=10
        Candidates for impostors of each sample.
    push : float, default=0.5
        Weight of the hinge against the pull, between 0 and 1.
    n_rounds : int, default=5
        How often impostors are searched.
    max_iter : int, default=30
        L-BFGS iterations per round.
    verbose : int, default=0
        Above 0, each round is reported on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_features)
        The map L.
    objective_ : list of float
        Objective after each round, with the impostors of that round; new impostors may raise it.
    n_iter_ : int
        Number of L-BFGS iterations in all rounds.

    References
    ----------
    K. Q. Weinberger and L. K. Saul, "Distance metric learning for large margin nearest neighbor
    classification", JMLR 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from zslearn.cluster import LMNN
    >>> X, y = load_iris(return_X_y=True)
    >>> LMNN(n_rounds=1, max_iter=5).fit(X, y).coef_.shape
    (4, 4)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        closed_form=False,
        incremental=False,
        reference="K. Q. Weinberger and L. K. Saul, Distance metric learning for large margin "
        "nearest neighbor classification, JMLR 2009",
    )
    n_neighbors: int = parameter(default=3, allowed=Whole(1), kw_only=False)
    n_impostors: int = parameter(default=10, allowed=Whole(1))
    push: float = parameter(default=0.5, allowed=Number(least=0, most=1))
    n_rounds: int = parameter(default=5, allowed=Whole(1))
    max_iter: int = parameter(default=30, allowed=Whole(1))
    verbose: int = parameter(default=0, allowed=Whole(0))

    def _learn(self, X: NDArray, y: NDArray[np.intp]) -> NDArray:
        X = X - X.mean(axis=0)
        targets = target_neighbors(X, y, self.n_neighbors)
        L, self.objective_, self.n_iter_ = np.eye(X.shape[1]), [], 0
        rounds = self.n_rounds
        for number in range(rounds):
            impostors = impostor_candidates(X @ L.T, y, self.n_impostors)
            problem = Triplets(X, targets, impostors, self.push)
            L, value, steps = problem.minimized(L, self.max_iter)
            self.n_iter_ += steps
            self.objective_.append(value)
            report(self.verbose > 0, f"LMNN round {number + 1} of {rounds}: objective {value:.6g}")
            if number and abs(self.objective_[-2] - value) <= 1e-4 * abs(value):
                break
        return L


class Triplets:
    """The objective of LMNN for fixed targets and fixed candidates for impostors.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    targets : ndarray of shape (n_samples, n_neighbors)
        Targets of each row; -1 where a class is too small to have that many.
    impostors : ndarray of shape (n_samples, n_impostors)
        Candidates of each row; -1 where there are not enough.
    push : float
        Weight of the hinge.
    """

    def __init__(self, X: NDArray, targets: NDArray, impostors: NDArray, push: float) -> None:
        self.X, self.targets, self.impostors, self.push = X, targets, impostors, push

    def minimized(self, L: NDArray, max_iter: int) -> tuple[NDArray, float, int]:
        """Return the map after at most `max_iter` steps of L-BFGS, its objective, the steps."""
        found = optimize.minimize(
            lambda flat: self.value_and_gradient(flat.reshape(L.shape)),
            L.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": max_iter},
        )
        return found.x.reshape(L.shape), float(found.fun), max(int(found.nit), 1)

    def value_and_gradient(self, L: NDArray) -> tuple[float, NDArray]:
        """Return the objective and its gradient, flattened."""
        N, codes = len(self.X), self.X @ L.T
        value = 0.0
        pull, repel = np.zeros(self.targets.shape), np.zeros(self.impostors.shape)
        for start in range(0, N, _CHUNK):
            rows = slice(start, min(start + _CHUNK, N))
            part, pull[rows], repel[rows] = self._chunk(codes, rows)
            value += part
        # Σ w_ij (x_i - x_j)(x_i - x_j)ᵀ is XᵀΛX with the graph Laplacian Λ of the weights.
        laplacian = _laplacian(self.targets, pull, N) - _laplacian(self.impostors, repel, N)
        gradient = 2.0 / N * L @ (self.X.T @ (laplacian @ self.X))
        return value / N, gradient.ravel()

    def _chunk(self, codes: NDArray, rows: slice) -> tuple[float, NDArray, NDArray]:
        """Objective of some rows and the weight of each of their pairs."""
        near = _squared_distances(codes, rows, self.targets)
        far = _squared_distances(codes, rows, self.impostors)
        is_target, is_other = self.targets[rows] >= 0, self.impostors[rows] >= 0
        hinge = 1 + near[:, :, None] - far[:, None, :]
        active = (hinge > 0) & is_target[:, :, None] & is_other[:, None, :]
        # ∂/∂ of each squared distance: that of a target also for every impostor inside its margin.
        pull = (1 - self.push) * is_target + self.push * active.sum(axis=2)
        repel = self.push * active.sum(axis=1)
        value = (1 - self.push) * near[is_target].sum() + self.push * hinge[active].sum()
        return float(value), pull, repel


def target_neighbors(X: NDArray, y: NDArray, n_neighbors: int) -> NDArray[np.intp]:
    """Nearest rows of the same class, -1 where there are not enough."""
    targets = np.full((len(X), n_neighbors), -1, dtype=np.intp)
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        k = min(n_neighbors, len(rows) - 1)
        if k:
            with one_thread(len(rows) < 20000):
                # Called without an argument, it does not count a row among its own neighbors.
                near = NearestNeighbors(n_neighbors=k).fit(X[rows]).kneighbors()[1]
            targets[rows, :k] = rows[near]
    return targets


def impostor_candidates(codes: NDArray, y: NDArray, n_impostors: int) -> NDArray[np.intp]:
    """Nearest rows of other classes, -1 where there are not enough."""
    impostors = np.full((len(codes), n_impostors), -1, dtype=np.intp)
    for c in np.unique(y):
        own, others = np.flatnonzero(y == c), np.flatnonzero(y != c)
        k = min(n_impostors, len(others))
        with one_thread(len(codes) < 20000):
            search = NearestNeighbors(n_neighbors=k).fit(codes[others])
            impostors[own, :k] = others[search.kneighbors(codes[own])[1]]
    return impostors


def _squared_distances(codes: NDArray, rows: slice, partners: NDArray) -> NDArray:
    """Squared distance of each row to each of its partners."""
    difference = codes[rows][:, None, :] - codes[partners[rows]]
    return np.einsum("ijk,ijk->ij", difference, difference)


def _laplacian(partners: NDArray, weights: NDArray, N: int) -> sparse.csr_array:
    """Laplacian of the graph that joins rows with their partners."""
    kept = (partners >= 0) & (weights > 0)
    i = np.broadcast_to(np.arange(N)[:, None], partners.shape)[kept]
    j, w = partners[kept], weights[kept]
    edges = sparse.coo_array((w, (i, j)), shape=(N, N)).tocsr()
    both = edges + edges.T
    return sparse.csr_array(sparse.diags_array(both.sum(axis=1)) - both)
