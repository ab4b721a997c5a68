"""What each semantic dimension adds to a score that depends on a signature through a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.core.nearest import unit_rows
from zslearn.core.signature_kernel import signed_root

Array = NDArray[np.float64]
# The integrands are smooth, so this many Gauss-Legendre nodes leave an error near rounding.
_NODES = 32


class SignatureKernel(NamedTuple):
    """The Gaussian kernel of `zslearn.core.signature_kernel`, with what it is taken against.

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
    """

    seen: Array
    blocks: Sequence[slice]
    scales: Sequence[float]
    bandwidth: float


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
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    steps, weights = (nodes + 1) / 2, weights / 2
    mixed, found = np.zeros((len(steps), len(a))), np.zeros(len(s))
    walks = []
    for kernel, R in terms:
        spaces = [unit_rows(kernel.seen[:, block]) for block in kernel.blocks]
        widths = [scale * kernel.bandwidth for scale in kernel.scales]
        way = deviations_from_mean(s, kernel)
        lines = [
            U.mean(axis=0) + np.outer(steps, way[block])
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
    return found


def terms_with_roots(
    seen: Array, blocks: Sequence[slice], scales: Array, kernels: Array
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

    Returns
    -------
    list of SignatureKernel
        Against signatures of shape (n_seen, 2 · n_dimensions).
    """
    k, wide = seen.shape[1], np.hstack([seen, signed_root(seen)])
    ends = [block.indices(k)[:2] for block in blocks]
    doubled = [slice(start + shift, stop + shift) for shift in (0, k) for start, stop in ends]
    sizes = scales.ravel().tolist()
    return [
        SignatureKernel(wide, doubled[: int(n) * len(ends)], sizes[: int(n) * len(ends)], width)
        for n, width in kernels.tolist()
    ]


def deviations_from_mean(s: Array, kernel: SignatureKernel) -> Array:
    """Return how far a signature is from the mean of the seen ones, each space at unit length."""
    found = np.zeros(len(s))
    for block in kernel.blocks:
        mean = unit_rows(kernel.seen[:, block]).mean(axis=0)
        found[block] = unit_rows(s[None, block])[0] - mean
    return found


def _gradients(pull: Array, line: Array, U: Array, width: float) -> Array:
    """Sum over the seen classes of pull · ∂ exp(-‖v - u‖² / width) / ∂v, per unit of exp(…)."""
    return np.asarray(2 * (pull @ U - pull.sum(axis=1)[:, None] * line) / width)


def _gaussian(A: Array, B: Array, width: float) -> Array:
    squared = np.sum(A**2, axis=1)[:, None] + np.sum(B**2, axis=1) - 2 * A @ B.T
    return np.asarray(np.exp(-np.maximum(squared, 0.0) / width))
