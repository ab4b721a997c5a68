"""Whitening by the within-class covariance, and accuracies in the space it makes.

The covariance Σ comes from moments alone, and equations with its shrunk form Σ(α) are solved for
every α at once, or W with WᵀW = Σ(α)⁻¹ is made for one. In the whitened space, sets of prototypes
that are mixtures of class means are judged by inner products, many of them by one product: by
accuracy, or by the harmonic mean of seen and unseen accuracy at its best bias.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.linalg import lapack

from zslearn.core.moments import Moments
from zslearn.core.nearest import row_blocks
from zslearn.core.row_space import RowBasis
from zslearn.core.sylvester import Tridiagonal

Array = NDArray[np.float64]

# Below this a singular covariance is too ill-conditioned for anything but its eigenvectors.
_SAFE_SHRINKAGE = 1e-6


class Whitening(NamedTuple):
    """A linear map W with ``WᵀW = Σ(α)⁻¹``: samples of a class scatter alike in all directions.

    Attributes
    ----------
    scale : float
        What W multiplies directions by in which no training sample scatters.
    factor : ndarray of shape (rank, rank) or None
        W in the coordinates of `basis`; None if it is `scale` everywhere.
    basis : ndarray of shape (rank, n_features) or None
        Orthonormal rows; None stands for the features themselves.

    Examples
    --------
    >>> import numpy as np
    >>> covariance = WithinClassCovariance(np.diag([1.0, 3.0]), 2.0)
    >>> W = covariance.whitening(0.5)
    >>> W.applied(np.eye(2)).round(3)
    array([[0.816, 0.   ],
           [0.   , 0.632]])
    """

    scale: float
    factor: NDArray | None = None
    basis: NDArray | None = None

    def astype(self, dtype: Any) -> Whitening:
        """Return the same map with arrays of another precision."""
        parts = (None if a is None else a.astype(dtype) for a in (self.factor, self.basis))
        return Whitening(self.scale, *parts)

    def applied(self, rows: Any) -> NDArray:
        """Return ``rows Wᵀ``, of shape (n_rows, n_features), dense."""
        return self._product(rows, None if self.factor is None else self.factor.T)

    def pulled_back(self, rows: Any) -> NDArray:
        """Return ``rows W``: what products with whitened rows are as products with plain ones."""
        return self._product(rows, self.factor)

    def _product(self, rows: Any, factor: NDArray | None) -> NDArray:
        if factor is None:
            return np.asarray(rows.toarray() if sparse.issparse(rows) else rows) * self.scale
        if self.basis is None:
            return np.asarray(rows @ factor)
        inside = np.asarray(rows @ self.basis.T)
        outside = rows.toarray() if sparse.issparse(rows) else rows
        return outside * self.scale + (inside @ factor - inside * self.scale) @ self.basis


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
    measured : bool
        False where no sample differs from the mean of its class; Σ is then the identity.

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
    measured: bool = True

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
            return cls(np.eye(len(matrix)), 1.0, measured=False)
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

    def whitening(self, shrinkage: float, basis: RowBasis | None = None) -> Whitening:
        """Return W with ``WᵀW = Σ(α)⁻¹``, by one Cholesky factor.

        Parameters
        ----------
        shrinkage : float
            α between 0 and 1.
        basis : RowBasis, optional
            If the covariance is one of coordinates in the row space of the data.

        Returns
        -------
        Whitening
        """
        alpha = max(shrinkage, _SAFE_SHRINKAGE)  # no direction is infinitely far
        scale = float(1.0 / np.sqrt(alpha * self.target))
        if alpha == 1.0:
            return Whitening(scale)
        matrix = (1.0 - alpha) * self.matrix
        matrix[np.diag_indices_from(matrix)] += alpha * self.target
        # The transpose of a symmetric matrix is laid out as LAPACK wants it.
        lower, failed = lapack.dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
        if failed:  # rounding has left a negative eigenvalue
            w, V = np.linalg.eigh(self.matrix)
            values = (1.0 - alpha) * np.maximum(w, 0.0) + alpha * self.target
            factor = (V / np.sqrt(values)).T
        else:
            factor, _ = lapack.dtrtri(lower, lower=1, overwrite_c=1)
        return Whitening(scale, factor, None if basis is None else basis.vectors)

    def spread(self, whitening: Whitening, shrinkage: float) -> float:
        """Return ``tr(W Σ Wᵀ)``, the variance of a whitened sample about the mean of its class.

        Parameters
        ----------
        whitening : Whitening
            Of this covariance and this shrinkage.
        shrinkage : float
            α.

        Returns
        -------
        float
            0 where no spread was measured.
        """
        if not self.measured:
            return 0.0
        if whitening.factor is None:
            return float(np.trace(self.matrix)) * whitening.scale**2
        # Σ = (Σ(α) − α t I) / (1 − α), and W Σ(α) Wᵀ = I.
        squares = float(np.vdot(whitening.factor, whitening.factor)) / whitening.scale**2
        alpha = max(shrinkage, _SAFE_SHRINKAGE)
        return max(len(self.matrix) - squares, 0.0) / (1.0 - alpha)

    def _by_reduction(self, rows: Array, shrinkages: Sequence[float]) -> Array:
        reduction = Tridiagonal.of(self.matrix)
        T = reduction.rotate(rows)
        # Σ = Q R Qᵀ, so that Σ(α)⁻¹ = Q ((1 − α) R + α · target · I)⁻¹ Qᵀ.
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
    # = G − Σ_c sum_c sum_cᵀ / n_c
    weighted = moments.sums / np.sqrt(moments.counts)[:, None]
    return moments.gram - weighted.T @ weighted


# Sums of shares differ in their last digits; what is equally good must stay equal.
_DIGITS = 12


def leaning(weights: NDArray, lean: NDArray) -> NDArray:
    """Return prototypes ``l f + w (M − l F)`` as weights of M, F and f, one after the other.

    Parameters
    ----------
    weights : ndarray of shape (n_sets, n_candidates, n_classes)
        w, of the means.
    lean : ndarray of shape (n_sets,)
        l, of guesses of the means.

    Returns
    -------
    ndarray of shape (n_sets, n_candidates, 2 · n_classes + n_candidates)
    """
    share, own = lean[:, None, None], np.eye(weights.shape[1])
    return np.concatenate([weights, -share * weights, share * own], axis=2)


@dataclass(frozen=True)
class WhitenedSpace:
    """Samples and class means in a whitened space, by inner products alone.

    Prototypes are weighted sums of the centered means, so that these products are all that their
    scores ``z·p - ‖p‖² / 2`` need.

    Attributes
    ----------
    products : ndarray of shape (n_samples, n_all)
        Of samples with the means M, both less the mean of the means, and perhaps with guesses F of
        these means and guesses f of those of the candidates, both less the mean of F.
    gram : ndarray of shape (n_all, n_all)
        Of all these with one another.
    n_classes : int
        How many means there are.
    """

    products: NDArray
    gram: NDArray
    n_classes: int

    @property
    def guesses(self) -> tuple[NDArray, NDArray]:
        """Products of the guesses F with the means and with one another, M Fᵀ and F Fᵀ."""
        n = self.n_classes
        return self.gram[:n, n : 2 * n], self.gram[n : 2 * n, n : 2 * n]

    def accuracies(
        self,
        prototypes: NDArray,
        truth: NDArray[np.intp],
        weights: NDArray | None = None,
    ) -> NDArray[np.float64]:
        """Per-class accuracy of several sets of prototypes.

        Parameters
        ----------
        prototypes : ndarray of shape (n_sets, n_candidates, n_parts)
            Weights in the prototype of each candidate of the means, or of all that `products` are
            of, see `leaning`.
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
        for rows, ranked in self.ranked(prototypes):
            found += share[rows] @ (ranked.argmax(axis=2) == truth[rows, None])
        return found.round(_DIGITS)

    def harmonic_means(
        self,
        prototypes: NDArray,
        truth: NDArray[np.intp],
        weights: NDArray | None = None,
    ) -> NDArray[np.float64]:
        """Harmonic mean of seen and unseen accuracy at its best bias, of several sets.

        Parameters
        ----------
        prototypes : ndarray of shape (n_sets, n_candidates, n_parts)
            As in `accuracies`; the first n_classes candidates are the classes themselves.
        truth : ndarray of shape (n_samples,)
            Position of each sample's class among the candidates, of both kinds.
        weights : ndarray of shape (n_samples,), optional
            Weight of each sample; by default all count the same.

        Returns
        -------
        ndarray of shape (n_sets,)
        """
        n_seen, n_sets = self.n_classes, len(prototypes)
        gaps = np.empty((len(truth), n_sets))
        right = np.empty((2, len(truth), n_sets), dtype=bool)
        for rows, ranked in self.ranked(prototypes):
            seen, unseen = ranked[..., :n_seen], ranked[..., n_seen:]
            gaps[rows] = seen.max(axis=2) - unseen.max(axis=2)
            right[0, rows] = seen.argmax(axis=2) == truth[rows, None]
            right[1, rows] = unseen.argmax(axis=2) + n_seen == truth[rows, None]
        is_seen = truth < n_seen
        share = np.empty(len(truth))
        for side in (is_seen, ~is_seen):
            share[side] = class_shares(truth[side], None if weights is None else weights[side])
        return best_harmonic_means(gaps, share[:, None] * right[0], share[:, None] * right[1])

    def ranked(self, prototypes: NDArray) -> Iterator[tuple[slice, NDArray]]:
        """Yield blocks of samples and their scores, of shape (n_rows, n_sets, n_candidates)."""
        kind, shape, n = self.products.dtype, prototypes.shape[:2], prototypes.shape[2]
        squared = np.sum((prototypes @ self.gram[:n, :n]) * prototypes, axis=2)
        vectors, offsets = _flat(prototypes).astype(kind), (0.5 * squared).astype(kind)
        for rows in row_blocks(len(self.products), len(vectors) * self.products.itemsize):
            scores = (self.products[rows, :n] @ vectors.T).reshape(-1, *shape)
            scores -= offsets
            yield rows, scores


def _flat(weights: NDArray) -> NDArray:
    """Rows of all sets one after the other."""
    return weights.reshape(-1, weights.shape[2])


def whitened_spaces(
    train: Moments,
    covariance: WithinClassCovariance,
    X: Any,
    shrinkages: Sequence[float],
    guesses: tuple[NDArray, NDArray] | None = None,
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
    guesses : pair of ndarrays of shape (n_classes, n_features) and (n_candidates, n_features)
        Guesses of the means of the classes learned from, and of the candidates, if there are any.

    Returns
    -------
    list of WhitenedSpace
    """
    means = train.class_means
    center = means.mean(axis=0)
    rows = means - center
    if guesses is not None:
        known, new = guesses
        middle = known.mean(axis=0)
        rows = np.concatenate([rows, known - middle, new - middle])
    spaces = []
    for solved in covariance.solved(rows, shrinkages):
        products = np.asarray(X @ solved.T.astype(X.dtype))
        products -= (solved @ center).astype(products.dtype)
        spaces.append(WhitenedSpace(products, rows @ solved.T, len(means)))
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
    # As the bias grows samples move over in the order of their gaps: unseen accuracy is won,
    # seen accuracy lost.
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
