"""Whitening by the within-class covariance, from moments, for every amount of shrinkage at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from zslearn.core.moments import Moments
from zslearn.core.nearest import row_blocks
from zslearn.core.sylvester import Tridiagonal

Array = NDArray[np.float64]

# Below this a singular covariance is too ill-conditioned for anything but its eigenvectors.
_SAFE_SHRINKAGE = 1e-6


@dataclass(frozen=True)
class WithinClassCovariance:
    """Covariance Σ of samples about the mean of their class, to be shrunk towards a multiple of I.

    Whitened by ``Σ(α) = (1 - α) Σ + α · target · I`` the inner product of two vectors is
    ``x Σ(α)⁻¹ y``, so nothing but solutions of linear equations is ever needed.

    Attributes
    ----------
    matrix : ndarray of shape (n_features, n_features)
        Σ.
    target : float
        Mean variance of a feature inside its class.

    Examples
    --------
    >>> import numpy as np
    >>> covariance = WithinClassCovariance(np.diag([1.0, 3.0]), 2.0)
    >>> covariance.solved(np.array([[4.0, 4.0]]), [0.0, 1.0])
    array([[[4.        , 1.33333333]],
    <BLANKLINE>
           [[2.        , 2.        ]]])
    """

    matrix: Array
    target: float

    @classmethod
    def of(cls, moments: Moments, n_features: int | None = None) -> WithinClassCovariance:
        """Compute the within-class covariance of the moments.

        Parameters
        ----------
        moments : Moments
            Of the training data.
        n_features : int, optional
            Number of features the target is an average over, if the moments are those of
            coordinates in a subspace.
        """
        matrix = within_class_scatter(moments) / moments.n_samples
        target = float(np.trace(matrix)) / (n_features or len(matrix))
        # Rounding leaves about this much of a scatter of zero.
        noise = np.finfo(np.float64).eps * float(np.trace(moments.gram)) / moments.n_samples
        if target * (n_features or len(matrix)) <= noise:  # nothing is known of the spread
            return cls(np.eye(len(matrix)), 1.0)
        return cls(matrix, target)

    def solved(self, rows: Array, shrinkages: Sequence[float]) -> Array:
        """Return ``rows Σ(α)⁻¹`` for every shrinkage α.

        Several values share one reduction to tridiagonal form; one takes a Cholesky factor.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Vectors.
        shrinkages : sequence of float
            Values of α between 0 and 1.

        Returns
        -------
        ndarray of shape (n_shrinkages, n_rows, n_features)
        """
        if min(shrinkages) < _SAFE_SHRINKAGE:
            return self._by_eigenvectors(rows, shrinkages)
        found = {1.0: rows / self.target}  # nothing is left of the covariance
        wanted = [shrinkage for shrinkage in shrinkages if shrinkage != 1.0]
        if len(wanted) < 2 or len(self.matrix) < 3:
            found |= {shrinkage: self._by_cholesky(rows, shrinkage) for shrinkage in wanted}
        else:
            found |= dict(zip(wanted, self._by_reduction(rows, wanted), strict=True))
        return np.stack([found[shrinkage] for shrinkage in shrinkages])

    def _by_reduction(self, rows: Array, shrinkages: Sequence[float]) -> Array:
        reduction = Tridiagonal.of(self.matrix)
        T = reduction.rotate(rows)
        parts = [reduction.solve_shifted(T, a * self.target, 1 - a) for a in shrinkages]
        return reduction.restore(np.concatenate(parts)).reshape(len(shrinkages), *rows.shape)

    def _by_cholesky(self, rows: Array, shrinkage: float) -> Array:
        matrix = (1.0 - shrinkage) * self.matrix
        matrix[np.diag_indices_from(matrix)] += shrinkage * self.target
        solved: Array = linalg.cho_solve(linalg.cho_factor(matrix, lower=True), rows.T).T
        return solved

    def _by_eigenvectors(self, rows: Array, shrinkages: Sequence[float]) -> Array:
        w, V = np.linalg.eigh(self.matrix)
        w, rotated = np.maximum(w, 0.0), rows @ V
        return np.stack([rotated / ((1.0 - a) * w + a * self.target) @ V.T for a in shrinkages])


def within_class_scatter(moments: Moments) -> Array:
    """Return ``Σ (x - mean of its class)(x - mean of its class)ᵀ``."""
    weighted = moments.sums / np.sqrt(moments.counts)[:, None]
    return moments.gram - weighted.T @ weighted


# Sums of shares differ in their last digits; what is equally good must stay equal.
_DIGITS = 12


@dataclass(frozen=True)
class WhitenedSpace:
    """Samples and class means in a whitened space, by inner products alone.

    Prototypes are weighted sums of the centered means, so that these products are all that their
    scores ``z·p - ‖p‖² / 2`` need.

    Attributes
    ----------
    products : ndarray of shape (n_samples, n_classes)
        Of samples with the means, both less the mean of the means.
    gram : ndarray of shape (n_classes, n_classes)
        Of the means with one another.
    """

    products: NDArray
    gram: NDArray

    def accuracies(
        self, prototypes: NDArray, truth: NDArray[np.intp], weights: NDArray | None = None
    ) -> NDArray[np.float64]:
        """Per-class accuracy of several sets of prototypes.

        Parameters
        ----------
        prototypes : ndarray of shape (n_sets, n_candidates, n_classes)
            Weights of the means in the prototype of each candidate.
        truth : ndarray of shape (n_samples,)
            Position of each sample's class among the candidates.
        weights : ndarray of shape (n_samples,), optional
            Weight of each sample; by default all count the same.

        Returns
        -------
        ndarray of shape (n_sets,)
        """
        share = class_shares(truth, weights)
        found = np.zeros(len(prototypes))
        vectors, offsets = self._targets(prototypes)
        for rows in self._blocks(vectors):
            ranked = self._ranked(rows, vectors, offsets)
            found += share[rows] @ (ranked.argmax(axis=2) == truth[rows, None])
        return found.round(_DIGITS)

    def harmonic_means(
        self, prototypes: NDArray, truth: NDArray[np.intp], weights: NDArray | None = None
    ) -> NDArray[np.float64]:
        """Harmonic mean of seen and unseen accuracy at its best bias, of several sets.

        Parameters
        ----------
        prototypes : ndarray of shape (n_sets, n_candidates, n_classes)
            As in `accuracies`; the first n_classes candidates are the classes themselves.
        truth : ndarray of shape (n_samples,)
            Position of each sample's class among the candidates, of both kinds.
        weights : ndarray of shape (n_samples,), optional
            Weight of each sample; by default all count the same.

        Returns
        -------
        ndarray of shape (n_sets,)
        """
        n_seen, n_sets = len(self.gram), len(prototypes)
        gaps = np.empty((len(truth), n_sets))
        right = np.empty((2, len(truth), n_sets), dtype=bool)
        vectors, offsets = self._targets(prototypes)
        for rows in self._blocks(vectors):
            ranked = self._ranked(rows, vectors, offsets)
            seen, unseen = ranked[..., :n_seen], ranked[..., n_seen:]
            gaps[rows] = seen.max(axis=2) - unseen.max(axis=2)
            right[0, rows] = seen.argmax(axis=2) == truth[rows, None]
            right[1, rows] = unseen.argmax(axis=2) + n_seen == truth[rows, None]
        is_seen = truth < n_seen
        share = np.empty(len(truth))
        for side in (is_seen, ~is_seen):
            share[side] = class_shares(truth[side], None if weights is None else weights[side])
        return best_harmonic_means(gaps, share[:, None] * right[0], share[:, None] * right[1])

    def _targets(self, prototypes: NDArray) -> tuple[NDArray, NDArray]:
        """Weights of all prototypes side by side, and half their squared lengths."""
        squared = np.sum((prototypes @ self.gram) * prototypes, axis=2)
        kind = self.products.dtype
        return prototypes.reshape(-1, len(self.gram)).astype(kind), (0.5 * squared).astype(kind)

    def _blocks(self, vectors: NDArray) -> Any:
        return row_blocks(len(self.products), len(vectors) * self.products.itemsize)

    def _ranked(self, rows: slice, vectors: NDArray, offsets: NDArray) -> NDArray:
        """Scores of shape (n_rows, n_sets, n_candidates)."""
        scores = (self.products[rows] @ vectors.T).reshape(-1, *offsets.shape)
        scores -= offsets
        return scores


def whitened_spaces(
    train: Moments, covariance: WithinClassCovariance, X: Any, shrinkages: Sequence[float]
) -> list[WhitenedSpace]:
    """Return the space of every shrinkage.

    Parameters
    ----------
    train : Moments
        Of the classes learned from.
    covariance : WithinClassCovariance
        Of these moments.
    X : array of shape (n_samples, n_features)
        Samples to be judged by.
    shrinkages : sequence of float
        Amounts of shrinkage of the within-class covariance.

    Returns
    -------
    list of WhitenedSpace
    """
    means = train.class_means
    center = means.mean(axis=0)
    M = means - center
    spaces = []
    for solved in covariance.solved(M, shrinkages):
        products = np.asarray(X @ solved.T.astype(X.dtype))
        products -= (solved @ center).astype(products.dtype)
        spaces.append(WhitenedSpace(products, M @ solved.T))
    return spaces


def class_shares(truth: NDArray[np.intp], weights: NDArray | None = None) -> NDArray[np.float64]:
    """Return what each sample counts in a mean over classes of the means of their samples.

    Examples
    --------
    >>> import numpy as np
    >>> class_shares(np.array([0, 0, 2]))
    array([0.25, 0.25, 0.5 ])
    """
    own = np.ones(len(truth)) if weights is None else weights
    _, index = np.unique(truth, return_inverse=True)
    totals = np.bincount(index, own)
    return np.asarray(own / totals[index] / max(len(totals), 1))


def best_harmonic_means(gaps: NDArray, seen: NDArray, unseen: NDArray) -> NDArray[np.float64]:
    """Return the best harmonic mean of two accuracies that any bias reaches, for each column.

    Parameters
    ----------
    gaps : ndarray of shape (n_samples, n_columns)
        Best score of a seen class less best of an unseen one: a larger bias moves the sample over.
    seen, unseen : ndarrays of shape (n_samples, n_columns)
        What each sample adds to the accuracy of its side before and after it moves.

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    order = np.argsort(gaps, axis=0)
    gaps, seen, unseen = (np.take_along_axis(a, order, axis=0) for a in (gaps, seen, unseen))
    won = np.cumsum(unseen, axis=0)
    kept = np.maximum(seen.sum(axis=0) - np.cumsum(seen, axis=0), 0.0)
    total = won + kept
    means = np.divide(2 * won * kept, total, out=np.zeros_like(total), where=total > 0)
    # Samples with equal gaps move together.
    means[:-1][np.diff(gaps, axis=0) == 0] = 0.0
    best: NDArray[np.float64] = means.max(axis=0)
    return best.round(_DIGITS)
