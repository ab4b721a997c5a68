"""A description is a prior, a sample is evidence: prototypes between zero shots and many.

Everything happens in a whitened space of D dimensions where samples z of a class scatter with total
variance tr W about their mean. M are the means of the C seen classes less the mean of them all, R
what is left of them when each is predicted from the others, and p the prototypes that signatures
predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from zslearn.core.confidence import LabeledScores
from zslearn.core.nearest import row_blocks
from zslearn.core.whitening import Whitening

Array = NDArray[np.float64]

# Steps of `adapt`; prototypes hardly move after the third.
ADAPT_STEPS = 5
# How much firmer descriptions are held against unlabeled samples than against labeled ones.
ADAPT_ANCHOR = 10.0
# Steps of `known_probabilities`.
_MIXTURE_STEPS = 30
# By how many standard errors shares must differ more than by chance, before they count.
_SURE = 2.0
# Shuffles of the classes against which guesses of their means are tried.
_SHUFFLES = 99
# Part of a covariance of few class means that is spread over all directions. Chosen once, on
# classes that were left out; choosing it on folds fits it to classes like the seen ones.
SPREAD = 0.9


def are_matched(means: Array, guesses: Array) -> bool:
    """Say whether guesses point to the means of their own classes, not to those of others.

    Parameters
    ----------
    means, guesses : ndarrays of shape (n_classes, n_features)
        Class means, and signatures that may live among the samples.

    Returns
    -------
    bool
        Whether ``tr(M Fᵀ)``, both centered, is larger than after each of 99 shuffles of the
        classes; with signatures of another kind it is so once in a hundred times.

    Examples
    --------
    >>> import numpy as np
    >>> means = np.random.default_rng(0).normal(size=(9, 5))
    >>> are_matched(means, means + 1.0), are_matched(means, means[::-1])
    (True, False)
    """
    M, F = means - means.mean(axis=0), guesses - guesses.mean(axis=0)
    products, rng = M @ F.T, np.random.default_rng(0)
    n = len(products)
    own, rounding = float(products.trace()), 1e-12 * float(np.abs(products).sum())
    orders = (rng.permutation(n) for _ in range(_SHUFFLES))
    others = [products[np.arange(n), order].sum() for order in orders if (order != range(n)).any()]
    return bool(own > max(max(others, default=0.0), 0.0) + rounding)


def left_out_weights(inverse: Array) -> tuple[Array, Array]:
    """Return what leaves each class out of a kernel regression on all, in closed form.

    With ``G = (K + γ I)⁻¹`` the mean of class c is missed by ``(G M)_c / G_cc`` if it is predicted
    from the others, and the variance of that prediction is ``1 / G_cc`` in units of the kernel.

    Parameters
    ----------
    inverse : ndarray of shape (..., n_classes, n_classes)
        G, of one setting or several.

    Returns
    -------
    weights : ndarray like `inverse`
        T with ``R = T M``.
    variances : ndarray of shape (..., n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> weights, variances = left_out_weights(np.linalg.inv(K + np.eye(2)))
    >>> weights  # the first is predicted as 0.5 / (1 + 1) of the second
    array([[ 1.  , -0.25],
           [-0.25,  1.  ]])
    >>> variances
    array([1.875, 1.875])
    """
    own = np.diagonal(inverse, axis1=-2, axis2=-1)
    return inverse / own[..., None], 1.0 / own


def squared_error(deviations: Array, counts: Array, spread: float) -> float:
    """Return the mean squared length of deviations of class means, less what sampling adds.

    Parameters
    ----------
    deviations : ndarray of shape (n_classes, n_dimensions)
        R, or M for the spread of the classes themselves.
    counts : ndarray of shape (n_classes,)
        Samples that each mean is of.
    spread : float
        tr W, the variance of a sample about the mean of its class.

    Returns
    -------
    float
        Mean over classes of ``max(‖r_c‖² − tr W / n_c, 0)``.
    """
    squares = np.einsum("cd,cd->c", deviations, deviations)
    return float(np.maximum(squares - spread / counts, 0.0).mean())


def worth_in_samples(error: float, spread: float) -> float:
    """Return κ = tr W / e, how many samples a prior of squared error e is worth.

    Parameters
    ----------
    error : float
        e, of the prior mean.
    spread : float
        tr W; 0 where no class has two different samples.

    Returns
    -------
    float
        Infinite where the error is zero. 1 where the spread is: nothing is known then, and a
        description counts as one sample.

    Examples
    --------
    >>> worth_in_samples(4.0, 12.0), worth_in_samples(0.0, 1.0), worth_in_samples(1.0, 0.0)
    (3.0, inf, 1.0)
    """
    if not spread > 0:
        return 1.0
    with np.errstate(over="ignore"):
        return float(np.divide(spread, error)) if error > 0 else float(np.inf)


def posterior_prototypes(priors: Array, sums: Array, weights: Array, kappa: float | Array) -> Array:
    """Return the mean of a prior worth κ samples and of samples: ``(κ p + Σ z) / (κ + n)``.

    Parameters
    ----------
    priors : ndarray of shape (n_classes, n_dimensions)
        p.
    sums : ndarray of shape (n_classes, n_dimensions)
        Σ z, each sample times its weight.
    weights : ndarray of shape (n_classes,)
        n, their total weight.
    kappa : float or ndarray of shape (n_classes,)
        Above 0; infinite means that samples change nothing.

    Returns
    -------
    ndarray of shape (n_classes, n_dimensions)

    Examples
    --------
    >>> import numpy as np
    >>> posterior_prototypes(np.array([[0.0, 4.0]]), np.array([[3.0, 0.0]]), np.array([1.0]), 3.0)
    array([[0.75, 3.  ]])
    """
    # p + (Σ z − n p) / (κ + n) is the same, and holds for an infinite κ.
    pull = 1.0 / (np.broadcast_to(kappa, weights.shape) + weights)
    return priors + pull[:, None] * (sums - weights[:, None] * priors)


def informed_priors(
    priors: Array, covariances: Array, noise: Array, misses: Array, own: NDArray[np.intp]
) -> Array:
    """Return what descriptions predict once some classes were observed, never by themselves.

    The error of a description is a Gaussian process over signatures, with the covariance that is
    left after the seen classes. What was observed of some classes therefore says something about
    their neighbors: ``p + k (C + N)⁻¹ (z̄ − p)``. A class that was observed itself is predicted from
    the others, so that its own samples are counted once.

    Parameters
    ----------
    priors : ndarray of shape (n_classes, n_dimensions)
        p.
    covariances : ndarray of shape (n_observed + n_classes, n_observed)
        C of the observed classes with one another, then k of the classes with them.
    noise : ndarray of shape (n_observed,)
        Diagonal of N: what no other class says about a class, and what few samples leave open.
    misses : ndarray of shape (n_observed, n_dimensions)
        Observed means less what their descriptions predict.
    own : ndarray of int of shape (n_classes,)
        Place of each class among the observed ones; -1 for those that were not.

    Returns
    -------
    ndarray of shape (n_classes, n_dimensions)
    """
    n = len(noise)
    inverse = np.linalg.inv(covariances[:n] + np.diag(noise))
    pulls = inverse @ misses
    informed = priors + covariances[n:] @ pulls
    observed = own >= 0
    alone = pulls / inverse.diagonal()[:, None]  # by how much each is missed by the others
    informed[observed] = priors[observed] + (misses - alone)[own[observed]]
    return informed


class Adapted(NamedTuple):
    """What a batch without labels says about the classes.

    Attributes
    ----------
    sums : ndarray of shape (n_classes, n_dimensions)
        What the batch adds to the sum of the samples of each class.
    weights : ndarray of shape (n_classes,)
        How many labeled samples that counts as.
    log_shares : ndarray of shape (n_classes,)
        Added to ``score / T``, see :func:`log_shares`.
    shares : ndarray of shape (n_classes,)
        Share that each class has of the samples of all, by their probabilities.
    """

    sums: Array
    weights: Array
    log_shares: Array
    shares: Array


def adapt(
    X: Any,
    space: tuple[Whitening, Array],
    prototypes: Array,
    strengths: Array,
    temperature: float,
    offsets: Array | float = 0.0,
    miscount: float = 0.0,
    known: Array | None = None,
) -> Adapted:
    """Move prototypes to a batch without labels, held by their descriptions.

    From ``m = p`` and ``l = 0``, a few times over: ``q = g softmax(score(m) / T + l)`` with
    ``score(m) = z·m − ‖m‖² / 2 + offset``, then ``l = log_shares(Σ q)`` and ``m_c = (10 κ_c p_c +
    Σ q² z) / (10 κ_c + Σ q²)``. A sample that could belong to several classes, or to none of them,
    hardly moves any (q²); with few samples neither prototypes nor shares move.

    Parameters
    ----------
    X : array, sparse matrix or LazyRows of shape (n_samples, n_features)
        N samples, before whitening.
    space : (Whitening, ndarray of shape (n_features,))
        What samples are whitened by, and the point that becomes the origin.
    prototypes : ndarray of shape (n_classes, n_dimensions)
        p, of U classes, in the whitened space.
    strengths : ndarray of shape (n_classes,)
        κ_c, how many labeled samples each prototype is worth.
    temperature : float
        T, which makes probabilities of scores.
    offsets : ndarray of shape (n_classes,), optional
        Added to the scores of each class, for example a bias against seen ones.
    miscount : float, default=0
        δ² of :func:`log_shares`.
    known : ndarray of shape (n_samples,), optional
        g, the probability that a sample is of one of the classes; 1 by default.

    Returns
    -------
    Adapted
    """
    whitening, origin = space
    n_samples, n_classes = X.shape[0], len(prototypes)
    m, preferred = prototypes, np.zeros(n_classes)
    sums, weights, counts = np.zeros_like(prototypes), np.zeros(n_classes), np.zeros(n_classes)
    for _ in range(ADAPT_STEPS):
        # Products with z are products with x, so that no sample has to be whitened.
        vectors = whitening.pulled_back(m)
        constant = offsets - 0.5 * np.einsum("cd,cd->c", m, m) - vectors @ origin
        totals, weights, counts = np.zeros_like(vectors), np.zeros(n_classes), np.zeros(n_classes)
        for rows in row_blocks(n_samples, max(X.shape[1], n_classes) * 8):
            x = X[rows]
            q = softmax((x @ vectors.T + constant) / temperature + preferred, axis=1)
            if known is not None:
                q *= known[rows, None]
            squared = q * q
            totals += np.asarray((x.T @ squared).T)
            weights += squared.sum(axis=0)
            counts += q.sum(axis=0)
        preferred = log_shares(counts, miscount)
        # 10 κ against Σ q² is κ against a tenth of it: an unlabeled sample counts as q² / 10.
        weights = weights / ADAPT_ANCHOR
        sums = whitening.applied(totals / ADAPT_ANCHOR - weights[:, None] * origin)
        m = posterior_prototypes(prototypes, sums, weights, strengths)
    total = float(counts.sum())
    return Adapted(sums, weights, preferred, counts / total if total > 0 else counts)


def log_shares(counts: Array, miscount: float = 0.0) -> Array:
    """Return logarithms of the shares of classes in a batch, 0 for one without samples.

    Empirical Bayes. Counts of N samples, divided by their mean, differ by a variance v. Chance
    alone gives ``U / N`` of it, and classes that win samples of others δ²; the rest, τ², are true
    differences. Every share is drawn towards the mean by ``a = (N / U) (U / N + δ²) / τ²`` samples,
    at least one: ``log(1 + n_c / a)``. Where v is within two standard errors of what chance
    explains, all shares are the same.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        n, the sum of the probabilities of each of U classes.
    miscount : float, default=0
        δ².

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> log_shares(np.array([11.0, 9.0, 10.0]))
    array([0., 0., 0.])
    >>> log_shares(np.array([270.0, 20.0, 10.0])).round(1)
    array([5.6, 3. , 2.4])
    """
    mean, freedom = counts.mean(), len(counts) - 1
    if not freedom or not mean > 0:
        return np.zeros(len(counts))
    chance = 1.0 / mean + miscount
    variance = float(counts.var(ddof=1)) / mean**2
    excess = variance - chance * (1.0 + _SURE * np.sqrt(2.0 / freedom))
    if excess <= 0:
        return np.zeros(len(counts))
    return np.log1p(counts / max(mean * chance / excess, 1.0))


def known_probabilities(ratios: Array, temperature: float) -> Array:
    """Return the probabilities of samples to be of a described class.

    ``g = (1 − π) exp(r / T) / ((1 − π) exp(r / T) + π)``, where the share π of the samples that are
    of none is found by expectation maximization, drawn towards a half by one sample of each kind.

    Parameters
    ----------
    ratios : ndarray of shape (n_samples,)
        r, logarithms of densities as :meth:`Novelty.ratios` gives them for the answers.
    temperature : float
        T. Densities are as much too sure as scores are.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> known_probabilities(np.array([4.0, 4.0, 4.0, 3.0, 4.0, -2.0, 5.0]), 1.0).round(2)
    array([1.  , 1.  , 1.  , 0.99, 1.  , 0.38, 1.  ])
    """
    unknown, n = 0.5, len(ratios)
    known = np.ones(n)
    for _ in range(_MIXTURE_STEPS):
        known = expit(ratios / temperature + np.log(1.0 / unknown - 1.0))
        unknown = float(n - known.sum() + 1.0) / (n + 2.0)
    return known


def miscount(parts: Sequence[LabeledScores], temperature: float) -> float:
    """Return δ², by how much expected counts of equally large classes differ.

    Parameters
    ----------
    parts : sequence of LabeledScores
        At least one, each with two candidates or more; weights such that all classes are equal.
    temperature : float
        What makes probabilities of scores.

    Returns
    -------
    float
        Variance over the candidates of their counts in units of the mean one, averaged over parts.
    """
    found = []
    for scores, _, weights in parts:
        counts = weights @ softmax(scores.astype(np.float64) / temperature, axis=1)
        found.append(float(counts.var(ddof=1)) / float(counts.mean()) ** 2)
    return float(np.mean(found))


class LowRankCovariance(NamedTuple):
    """``a I + Vᵀ diag(λ) V`` with orthonormal rows V, at the cost of V alone.

    Attributes
    ----------
    floor : float
        a, the variance in every direction.
    axes : ndarray of shape (rank, n_dimensions)
        V.
    excess : ndarray of shape (rank,)
        λ.
    """

    floor: float
    axes: Array
    excess: Array

    @classmethod
    def of(cls, deviations: Array, variance: float, total: float) -> LowRankCovariance:
        """Estimate ``σ² I + (1 − b) RᵀR / C + b (e / D) I`` from few deviations.

        Parameters
        ----------
        deviations : ndarray of shape (n_classes, n_dimensions)
            R.
        variance : float
            σ².
        total : float
            e, the trace that is spread evenly.
        """
        n_classes, width = deviations.shape
        # The eigenvectors of RᵀR from those of R Rᵀ, which is the smaller matrix.
        values, left = np.linalg.eigh(deviations @ deviations.T)
        kept = values > 1e-12 * max(float(values[-1]), np.finfo(float).tiny)
        axes = (left[:, kept] / np.sqrt(values[kept])).T @ deviations
        excess = (1.0 - SPREAD) * values[kept] / n_classes
        return cls(variance + SPREAD * total / width, axes, excess)

    def astype(self, dtype: Any) -> LowRankCovariance:
        """Return the same with its axes in another precision."""
        return self._replace(axes=self.axes.astype(dtype))

    @property
    def log_determinant(self) -> float:
        """Natural logarithm of the determinant."""
        width = self.axes.shape[1]
        return float(width * np.log(self.floor) + np.log1p(self.excess / self.floor).sum())

    def solved(self, rows: Array) -> Array:
        """Return the product of rows with the inverse."""
        shrunk = self.excess / (self.floor + self.excess)
        return (rows - ((rows @ self.axes.T) * shrunk) @ self.axes) / self.floor

    def squared_distances(self, Z: Array, points: Array) -> Array:
        """Return the squared Mahalanobis distances, of shape (n_rows, n_points)."""
        ready, solved = self.solved(Z), self.solved(points)
        own = np.einsum("nd,nd->n", Z, ready)[:, None] + np.einsum("cd,cd->c", points, solved)
        return np.maximum(own - 2.0 * (Z @ solved.T), 0.0)


class Novelty(NamedTuple):
    """How samples of described classes scatter, and those of a class that nobody described.

    A sample of a described class comes from ``N(p_c, σ² I + E)`` with the error E of descriptions,
    and one of any other class from ``N(0, σ² I + B)`` with the spread B of the classes.

    Attributes
    ----------
    described, unknown : LowRankCovariance
        Both covariances.
    """

    described: LowRankCovariance
    unknown: LowRankCovariance

    @classmethod
    def of(cls, residuals: Array, means: Array, counts: Array, spread: float) -> Novelty:
        """Estimate both covariances.

        Parameters
        ----------
        residuals, means : ndarrays of shape (n_classes, n_dimensions)
            R and M.
        counts : ndarray of shape (n_classes,)
            Samples of each class.
        spread : float
            tr W.
        """
        variance = spread / means.shape[1]
        squares = float(np.einsum("cd,cd->", means, means)) / len(means)
        between = max(squares - spread * float((1.0 / counts).mean()), 0.0)
        return cls(
            LowRankCovariance.of(residuals, variance, squared_error(residuals, counts, spread)),
            LowRankCovariance.of(means, variance, between),
        )

    def astype(self, dtype: Any) -> Novelty:
        """Return the same with its axes in another precision."""
        return Novelty(self.described.astype(dtype), self.unknown.astype(dtype))

    def ratios(self, Z: Array, prototypes: Array) -> Array:
        """Return how much better a class explains samples than a class nobody described does.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_dimensions)
            Samples.
        prototypes : ndarray of shape (n_classes, n_dimensions)
            Of the classes.

        Returns
        -------
        ndarray of shape (2, n_samples, n_classes)
            The logarithm of the ratio of the densities,
            ``(d₀² + log|B'| − d² − log|E'|) / 2`` with Mahalanobis distances d, and the same with
            ``D log d²`` in place of d², which does not ask how far from everything a sample is.
        """
        d = self.described.squared_distances(Z, prototypes)
        d0 = self.unknown.squared_distances(Z, np.zeros((1, Z.shape[1])))
        width, tiny = Z.shape[1], np.finfo(float).tiny
        logs = self.unknown.log_determinant - self.described.log_determinant
        return 0.5 * np.stack(
            [
                d0 - d + logs,
                width * (np.log(np.maximum(d0, tiny)) - np.log(np.maximum(d, tiny))) + logs,
            ]
        )


def label_next(
    probabilities: Array, counts: Array, kappa: float, n: int
) -> tuple[NDArray[np.intp], Array]:
    """Choose the samples whose labels would move the answers most.

    A sample is worth ``q₁ q₂ Σ V_c / (κ + n_c + 1)`` over its two best classes, with the variance
    ``V_c = κ / (κ + n_c)`` that a prototype has left, in units of the error of a description. One
    is chosen after the other, and counts for its classes as if its label were known.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        Of each class, at least two.
    counts : ndarray of shape (n_classes,)
        Samples of each class so far.
    kappa : float
        Samples that a description is worth.
    n : int
        How many samples to choose, at most all.

    Returns
    -------
    rows : ndarray of int of shape (n,)
        The most useful first.
    worths : ndarray of shape (n,)
        What each was worth when it was chosen.
    """
    two = np.argpartition(-probabilities, 1, axis=1)[:, :2]
    best = np.take_along_axis(probabilities, two, axis=1)
    close = best.prod(axis=1)
    share = best / best.sum(axis=1, keepdims=True)
    counts, left = counts.astype(np.float64), np.ones(len(close), dtype=bool)
    chosen, worths = [], []
    for _ in range(n):
        gain = 1.0 / ((1.0 + counts / kappa) * (kappa + counts + 1.0))
        worth = np.where(left, close * gain[two].sum(axis=1), -np.inf)
        row = int(worth.argmax())
        chosen.append(row)
        worths.append(float(worth[row]))
        left[row] = False
        counts[two[row]] += share[row]
    return np.array(chosen, dtype=np.intp), np.array(worths)


@dataclass(frozen=True, eq=False)
class PrototypeSpace:
    """What a fit leaves for later samples: the space, and how good descriptions are in it.

    Attributes
    ----------
    whitening : Whitening
        W.
    center : ndarray of shape (n_features,)
        Mean of the seen class means; whitened, it is the origin.
    means : ndarray of shape (n_seen, n_features)
        M, the seen class means in the space.
    counts : ndarray of shape (n_seen,)
        Samples of each seen class.
    spread, error, between : float
        tr W; the squared error of a description; the squared distance of a class from the mean of
        all.
    variances : ndarray of shape (2,)
        Variance of a left-out seen class and of a class like no other, in units of the kernel.
    kernel_shares : ndarray of shape (n_kernels,)
        Share of the settings that use each kernel.
    novelty : Novelty
        How samples of described classes scatter, and others.
    temperature : float or None
        At which answers are as sure as they are right on held-out classes; None without folds.
    miscount : float
        δ², by how much expected counts of equally large held-out classes differ.
    """

    whitening: Whitening
    center: Array
    means: Array
    counts: Array
    spread: float
    error: float
    between: float
    variances: Array
    kernel_shares: Array
    novelty: Novelty
    temperature: float | None = None
    miscount: float = 0.0

    @property
    def kappa(self) -> float:
        """κ, how many samples a description is worth."""
        return worth_in_samples(self.error, self.spread)

    @property
    def kappa_undescribed(self) -> float:
        """How many samples it is worth to know where classes lie in general."""
        return worth_in_samples(self.between, self.spread)

    def whitened(self, rows: Any) -> NDArray:
        """Return samples, dense or sparse, in the space."""
        return np.asarray(self.whitening.applied(rows) - self.whitening.applied(self.center[None]))

    def problem(self, n_seen: int, n_features: int, n_kernels: int) -> str | None:
        """Say what does not fit together, as in a damaged file; None if all does."""
        c, d = n_seen, n_features
        factor, basis = self.whitening.factor, self.whitening.basis
        shapes: dict[str, tuple[Any, tuple[int, ...]]] = {
            "center": (self.center, (d,)),
            "means": (self.means, (c, d)),
            "counts": (self.counts, (c,)),
            "variances": (self.variances, (2,)),
            "kernel_shares": (self.kernel_shares, (n_kernels,)),
        }
        if factor is not None:
            rank = d if basis is None else len(basis)
            shapes["whitening.factor"] = factor, (rank, rank)
        if basis is not None:
            shapes["whitening.basis"] = basis, (len(basis), d)
        for name, part in zip(Novelty._fields, self.novelty, strict=True):
            shapes[f"novelty.{name}.axes"] = part.axes, (len(part.excess), d)
        for name, (array, shape) in shapes.items():
            if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
                return f"{name} must hold floating-point numbers"
            if array.shape != shape or not np.isfinite(array).all():
                return f"{name} has a wrong shape or holds numbers that are not finite"
        numbers = [self.whitening.scale, self.spread, self.error, self.between, *self.counts]
        numbers += [part.floor for part in self.novelty] + [self.temperature or 0.0, self.miscount]
        numbers += [value for part in self.novelty for value in part.excess.tolist()]
        if not all(np.isfinite(number) and number >= 0 for number in numbers):
            return "a variance or a count is negative or not finite"
        return None
