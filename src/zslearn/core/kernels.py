"""Gaussian kernels between signatures, ridge regression with them, and what a dimension adds.

Three users: prototype regression (`SignatureKernels`, `KernelSpectrum`: relative distances by
semantic space, of signatures and of their signed roots), EXEM and GFZSL (`rbf`, `kernel_ridge`: one
width in units of the mean distance), and explanations (`mixture_contributions`: a score split by
semantic dimension, through the kernel).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from zslearn.core.nearest import scores, unit_rows
from zslearn.core.rows import signed_power

Array = NDArray[np.float64]


def relative_distances(
    A: Array, B: Array, blocks: Sequence[slice], scales: Sequence[float]
) -> Array:
    """Squared distances between the unit rows of each block, divided by the block's scale.

    Parameters
    ----------
    A : ndarray of shape (n_a, n_dimensions)
        Signatures.
    B : ndarray of shape (n_b, n_dimensions)
        Signatures.
    blocks : sequence of slice
        Columns of each semantic space.
    scales : sequence of float
        What to divide the squared distances of each space by.

    Returns
    -------
    ndarray of shape (n_blocks, n_a, n_b)
    """
    parts = [
        -scores(unit_rows(A[:, block]), unit_rows(B[:, block]), "euclidean") / scale
        for block, scale in zip(blocks, scales, strict=True)
    ]
    return np.stack(parts)


def median_scales(S: Array, blocks: Sequence[slice]) -> list[float]:
    """Median squared distance between the signatures of different classes, for each block."""
    others = ~np.eye(len(S), dtype=bool)
    distances = relative_distances(S, S, blocks, [1.0] * len(blocks))
    medians = [float(np.median(block[others])) for block in distances]
    return [median if median > 0 else 1.0 for median in medians]


def gaussian_kernel(distances: Array, bandwidth: float) -> Array:
    """Mean over the semantic spaces of ``exp(-distance / bandwidth)``."""
    return np.exp(-distances / bandwidth).mean(axis=0)


class KernelSpectrum(NamedTuple):
    """``K = U diag(e) Uᵀ``, so that ``(K + γ I)⁻¹`` takes a division for every γ.

    Attributes
    ----------
    values : ndarray of shape (n_known,)
        e.
    vectors : ndarray of shape (n_known, n_known)
        U.

    Examples
    --------
    >>> import numpy as np
    >>> spectrum = KernelSpectrum.of(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> spectrum.weights(np.array([[0.5, 0.5]]), np.array([1.0, 0.5]))
    array([[[0.2 , 0.2 ]],
    <BLANKLINE>
           [[0.25, 0.25]]])
    """

    values: Array
    vectors: Array

    @classmethod
    def of(cls, K: Array) -> KernelSpectrum:
        """Decompose the kernel among the classes learned from."""
        e, U = np.linalg.eigh(K)
        return cls(np.maximum(e, 0.0), U)

    def weights(self, k: Array, ridges: Array) -> Array:
        """Return ``k (K + γ I)⁻¹`` for every γ, of shape (n_ridges, n_new, n_known).

        Parameters
        ----------
        k : ndarray of shape (n_new, n_known)
            Kernel of other classes against those learned from.
        ridges : ndarray of shape (n_ridges,)
            Values of γ.
        """
        rotated = k @ self.vectors
        return np.stack([(rotated / (self.values + ridge)) @ self.vectors.T for ridge in ridges])

    def trends(self, products: Array, squares: Array, ridges: Array) -> Array:
        """Return b of the trend ``b F`` that a regression with this kernel leaves out of M.

        Generalized least squares, as in universal kriging: ``b = tr(Mᵀ G F) / tr(Fᵀ G F)`` with
        ``G = (K + γ I)⁻¹``. What the kernel can explain by itself says little about b.

        Parameters
        ----------
        products : ndarray of shape (n_known, n_known)
            ``M Fᵀ``, of means with guesses of them.
        squares : ndarray of shape (n_known, n_known)
            ``F Fᵀ``.
        ridges : ndarray of shape (n_ridges,)
            Values of γ.

        Returns
        -------
        ndarray of shape (n_ridges,)
            0 where all guesses are zero or point away from the means.
        """
        U = self.vectors
        inverses = 1.0 / (self.values + ridges[:, None])
        own, size = (inverses @ np.einsum("ij,ij->j", U, H @ U) for H in (products, squares))
        return np.maximum(np.divide(own, size, out=np.zeros_like(own), where=size > 0), 0.0)


@dataclass(frozen=True)
class SignatureKernels:
    """Kernels on signatures and, with two of them, on their signed square roots as well.

    Attributes
    ----------
    blocks : list of slice
        Columns of each semantic space.
    scales : ndarray of shape (2, n_blocks)
        Median squared distance of each space, of the signatures and of their roots.

    Examples
    --------
    >>> import numpy as np
    >>> kernels = SignatureKernels.of(np.array([[1.0, 0.0], [0.0, 1.0]]), [slice(None)])
    >>> S = np.array([[1.0, 0.0], [0.6, 0.8]])
    >>> kernels.between(S, S).kernel(1, 1.0).round(3)
    array([[1.  , 0.67],
           [0.67, 1.  ]])
    """

    blocks: list[slice]
    scales: Array

    @classmethod
    def of(cls, S: Array, blocks: list[slice]) -> SignatureKernels:
        """Measure the scales of signatures."""
        scales = [median_scales(rows, blocks) for rows in (S, signed_power(S, 0.5))]
        return cls(blocks, np.array(scales))

    def between(self, A: Array, B: Array) -> SignatureDistances:
        """Return the distances between two lists of signatures, of shape (n, n_dimensions) each."""
        plain = relative_distances(A, B, self.blocks, self.scales[0])
        roots = relative_distances(
            signed_power(A, 0.5), signed_power(B, 0.5), self.blocks, self.scales[1]
        )
        return SignatureDistances(np.stack([plain, roots]))


@dataclass(frozen=True)
class SignatureDistances:
    """Relative distances of signatures and of their roots, to make kernels of.

    Attributes
    ----------
    values : ndarray of shape (2, n_blocks, n_a, n_b)
    """

    values: Array

    def kernel(self, n_kernels: int, bandwidth: float) -> Array:
        """Return the mean of the kernels on signatures (1) or on signatures and roots (2)."""
        chosen = self.values[:n_kernels]
        n_spaces = len(chosen) * chosen.shape[1]
        return gaussian_kernel(chosen.reshape(n_spaces, *chosen.shape[2:]), bandwidth)


def distance_unit(seen: Array) -> float:
    """Mean squared distance between two classes, the unit of kernel widths; 1 if there is none."""
    # The mean over pairs of ‖a − b‖² is 2 Σ ‖a − mean‖² / (n − 1).
    n = len(seen)
    spread = float(((seen - seen.mean(axis=0)) ** 2).sum())
    # Up to rounding, all classes are the same point.
    alike = spread <= 1e-24 * float((seen**2).sum()) * n
    return 2.0 * spread / (n - 1) if n > 1 and not alike else 1.0


def rbf(rows: Array, seen: Array, width: float) -> Array:
    """Return ``exp(−‖a − b‖² / (width · unit))``, of shape (n_rows, n_seen)."""
    return np.exp(scores(rows, seen, "euclidean") / (width * distance_unit(seen)))


def kernel_ridge(K: Array, targets: Array, ridge: float) -> tuple[Array, Array]:
    """Solve ``(K + ridge I) A = T − mean(T)``: predictions are ``k A + mean(T)``.

    Parameters
    ----------
    K : ndarray of shape (n_seen, n_seen)
        Kernel matrix of the seen classes.
    targets : ndarray of shape (n_seen, n_targets)
        One row per class.
    ridge : float
        Positive penalty.

    Returns
    -------
    dual : ndarray of shape (n_seen, n_targets)
    mean : ndarray of shape (n_targets,)

    Examples
    --------
    >>> import numpy as np
    >>> dual, mean = kernel_ridge(np.eye(2), np.array([[1.0], [3.0]]), 1.0)
    >>> (dual + mean).ravel()
    array([1.5, 2.5])
    """
    mean = targets.mean(axis=0)
    dual = linalg.solve(K + ridge * np.eye(len(K)), targets - mean, assume_a="pos")
    return np.asarray(dual), mean


# The integrands are smooth, so this many Gauss-Legendre nodes leave an error near rounding.
_NODES = 32


class SignatureKernel(NamedTuple):
    """The Gaussian kernel of `zslearn.core.kernels`, with what it is taken against.

    Attributes
    ----------
    seen : ndarray of shape (n_seen, n_dimensions)
        Signatures of the seen classes.
    blocks : sequence of slice
        Columns of each semantic space.
    scales : sequence of float
        Scale of the squared distances in each space.
    bandwidth : float
        In units of these scales.
    n_mean : int or None
        How many of the first signatures the mean, where paths begin, is of; None means all.
    """

    seen: Array
    blocks: Sequence[slice]
    scales: Sequence[float]
    bandwidth: float
    n_mean: int | None = None


def dimension_contributions(s: Array, kernel: SignatureKernel, a: Array, gram: Array) -> Array:
    """Split ``f(s) - f(s̄)`` by semantic dimension, s̄ being the mean of the seen signatures.

    With ``f(s) = a·k(s) - k(s)ᵀ Γ k(s) / 2``, dimension j gets ``(s_j - s̄_j) ∫₀¹ ∂f/∂s_j dt`` along
    the straight line from s̄ to s. These are the integrated gradients of Sundararajan, Taly and Yan,
    "Axiomatic attribution for deep networks", ICML 2017, here with the gradient in closed form. The
    parts sum to the difference, and a dimension in which s equals the mean gets 0.

    Parameters
    ----------
    s : ndarray of shape (n_dimensions,)
        A signature.
    kernel : SignatureKernel
        The kernel k, against the seen classes.
    a : ndarray of shape (n_seen,)
        Linear part.
    gram : ndarray of shape (n_seen, n_seen)
        Γ, symmetric.

    Returns
    -------
    ndarray of shape (n_dimensions,)
    """
    return mixture_contributions(s, [(kernel, np.eye(len(a)))], a, gram)


def mixture_contributions(
    s: Array, terms: Sequence[tuple[SignatureKernel, Array]], a: Array, gram: Array
) -> Array:
    """Split ``f(s) - f(s̄)`` in the same way for ``Σ k_b(s) R_b`` in place of k(s).

    Parameters
    ----------
    s : ndarray of shape (n_dimensions,)
        A signature.
    terms : sequence of (SignatureKernel, ndarray of shape (n_seen, n_seen))
        Each kernel k_b and its R_b.
    a : ndarray of shape (n_seen,)
        Linear part.
    gram : ndarray of shape (n_seen, n_seen)
        Γ, symmetric.

    Returns
    -------
    ndarray of shape (n_dimensions,)
    """
    still = np.zeros(len(a))
    return walk_contributions(s, terms, a, gram, (still, still))[0]


def walk_contributions(
    s: Array,
    terms: Sequence[tuple[SignatureKernel, Array]],
    a: Array,
    gram: Array,
    line: tuple[Array, Array],
) -> tuple[Array, Array]:
    """Split ``f(s) - f(s̄)`` where f is of ``u = Σ k_b(s) R_b + u₀ + t u₁`` at ``t = 1``.

    While s goes from the mean to the signature, t goes from 0 to 1: parts that move straight with
    the signature, and parts that do not move.

    Parameters
    ----------
    s : ndarray of shape (n_dimensions,)
        A signature.
    terms : sequence of (SignatureKernel, ndarray of shape (n_signatures, n_parts))
        Each kernel k_b and its R_b.
    a : ndarray of shape (n_parts,)
        Linear part of ``f(u) = a·u - uᵀ Γ u / 2``.
    gram : ndarray of shape (n_parts, n_parts)
        Γ, symmetric.
    line : pair of ndarrays of shape (n_parts,)
        u₀ and u₁.

    Returns
    -------
    contributions : ndarray of shape (n_dimensions,)
        By way of the kernels; what u₁ adds is not in it.
    mean : ndarray of shape (n_parts,)
        Mean of u on the way, by which the part of u₁ is ``u₁·(a - Γ mean)``.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    steps, weights = (nodes + 1) / 2, weights / 2
    mixed, found = line[0] + np.outer(steps, line[1]), np.zeros(len(s))
    walks = []
    for kernel, R in terms:
        spaces = [unit_rows(kernel.seen[:, block]) for block in kernel.blocks]
        widths = [scale * kernel.bandwidth for scale in kernel.scales]
        way = deviations_from_mean(s, kernel)
        lines = [
            U[: kernel.n_mean].mean(axis=0) + np.outer(steps, way[block])
            for block, U in zip(kernel.blocks, spaces, strict=True)
        ]
        # One kernel value per node and seen class, for each space.
        parts = [_gaussian(*three) for three in zip(lines, spaces, widths, strict=True)]
        mixed += np.mean(parts, axis=0) @ R
        walks.append((way, parts, list(zip(lines, spaces, widths, strict=True))))
    pull = a - mixed @ gram
    for (kernel, R), (way, parts, facts) in zip(terms, walks, strict=True):
        slopes = pull @ R.T / len(parts)
        for block, part, three in zip(kernel.blocks, parts, facts, strict=True):
            found[block] += way[block] * (weights @ _gradients(slopes * part, *three))
    return found, weights @ mixed


def terms_with_roots(
    seen: Array,
    blocks: Sequence[slice],
    scales: Array,
    kernels: Array,
    n_mean: int | None = None,
) -> list[SignatureKernel]:
    """Return kernels on signatures and their signed roots side by side.

    Parameters
    ----------
    seen : ndarray of shape (n_seen, n_dimensions)
        Signatures of the seen classes.
    blocks : sequence of slice
        Columns of each semantic space.
    scales : ndarray of shape (2, n_blocks)
        Of the signatures and of their roots.
    kernels : ndarray of shape (n_kernels, 2)
        Whether roots take part (2) or not (1), and the bandwidth.
    n_mean : int, optional
        How many of the first signatures the mean is of; by default all.

    Returns
    -------
    list of SignatureKernel
        Against signatures of shape (n_seen, 2 · n_dimensions).
    """
    k, wide = seen.shape[1], np.hstack([seen, signed_power(seen, 0.5)])
    ends = [block.indices(k)[:2] for block in blocks]
    doubled = [slice(start + shift, stop + shift) for shift in (0, k) for start, stop in ends]
    sizes = scales.ravel().tolist()
    return [
        SignatureKernel(
            wide, doubled[: int(n) * len(ends)], sizes[: int(n) * len(ends)], width, n_mean
        )
        for n, width in kernels.tolist()
    ]


def deviations_from_mean(s: Array, kernel: SignatureKernel) -> Array:
    """Return how far a signature is from the mean of the seen ones, each space at unit length."""
    found = np.zeros(len(s))
    for block in kernel.blocks:
        mean = unit_rows(kernel.seen[: kernel.n_mean, block]).mean(axis=0)
        found[block] = unit_rows(s[None, block])[0] - mean
    return found


def _gradients(pull: Array, line: Array, U: Array, width: float) -> Array:
    """Sum over the seen classes of pull · ∂ exp(-‖v - u‖² / width) / ∂v, per unit of exp(…)."""
    # ∂ exp(−‖v − u‖² / w) / ∂v = 2 (u − v) / w · exp(…)
    return np.asarray(2 * (pull @ U - pull.sum(axis=1)[:, None] * line) / width)


def _gaussian(A: Array, B: Array, width: float) -> Array:
    squared = np.sum(A**2, axis=1)[:, None] + np.sum(B**2, axis=1) - 2 * A @ B.T
    return np.asarray(np.exp(-np.maximum(squared, 0.0) / width))
