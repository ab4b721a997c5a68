"""Large-margin nearest neighbors without a matrix of all pairs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from sklearn.neighbors import NearestNeighbors

from zslearn._declared import parameter
from zslearn._parameters import Number, Whole
from zslearn._progress import report
from zslearn.cluster.base import MappingTags, RowMapping
from zslearn.cluster.kmeans import one_thread

# Rows whose triplets are in memory at a time.
_CHUNK = 4096


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
