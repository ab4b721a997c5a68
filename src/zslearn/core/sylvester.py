"""The paper's equation ``A W + λ W G = (1 + λ) C``, for one λ or for all of them.

With rows as samples ``A = SᵀS``, ``G = XᵀX`` and ``C = SᵀX`` (eq. 7 of the paper, where samples are
columns). Both grams are symmetric, so A = U diag(a) Uᵀ is diagonalized, of which only the rank is
kept, and G = Q R Qᵀ is reduced once, to a diagonal or a tridiagonal R. With Z = Uᵀ W Q the equation
falls apart by rows, ``z_i (a_i I + λ R) = (1 + λ) (Uᵀ C Q)_i``: every λ costs a division, or a
tridiagonal solve, for each direction of A. `solve` does it all for one λ; `prepare` does once what
all of them share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas, lapack

from zslearn.exceptions import InvalidInputError

Array = NDArray[np.float64]
Method = Literal["auto", "spectral", "tridiagonal"]

# Above this ratio rounding noise in the null space of a singular G becomes visible (about 1e-10)
# after a tridiagonal solve; the spectral reduction, which drops the null space, has no such noise.
_SAFE_RATIO = 1e6
_EPS = float(np.finfo(np.float64).eps)


def solve(A: Array, G: Array, C: Array, lam: float, method: Method = "auto") -> Array:
    """Return W for one λ (minimum norm where the equation leaves it open).

    Examples
    --------
    >>> import numpy as np
    >>> solve(np.diag([1.0, 2.0]), np.eye(3), np.ones((2, 3)), lam=1.0)
    array([[1.        , 1.        , 1.        ],
           [0.66666667, 0.66666667, 0.66666667]])
    """
    return prepare(semantic_spectrum(A), G, C, lam, method).coef(lam)


def solve_reference(A: Array, G: Array, C: Array, lam: float) -> Array:
    """Solve by Algorithm 1 of the paper with scipy's Bartels-Stewart solver: the yardstick."""
    return linalg.solve_sylvester(A, lam * G, (1.0 + lam) * C)


def prepare(
    spectrum: tuple[Array, Array], G: Array, C: Array, lam_max: float, method: Method = "auto"
) -> Sylvester:
    """Do once the work that every λ up to `lam_max` shares.

    Parameters
    ----------
    spectrum : tuple of (a, U)
        From `semantic_spectrum` or `class_spectrum`.
    G : ndarray of shape (n_features, n_features)
        ``XᵀX``.
    C : ndarray of shape (n_dimensions, n_features)
        ``SᵀX``.
    lam_max : float
        Largest λ that will be asked for.
    method : {"auto", "spectral", "tridiagonal"}
        "auto" takes the tridiagonal reduction, which is several times faster, unless G is
        singular and λ so large that its null space would show.

    Returns
    -------
    Sylvester
    """
    a, U = spectrum
    reduction: Reduction
    if len(G) < 3 or method == "spectral" or len(a) == 0:
        reduction = Spectral.of(G)
    else:
        reduction = Tridiagonal.of(G)
        # How much the largest direction of λ G outweighs the smallest of A.
        ratio = lam_max * reduction.largest / float(a.min())
        if method == "auto" and ratio > _SAFE_RATIO and reduction.singular:
            reduction = Spectral.of(G)
    return Sylvester(U, a, reduction, reduction.rotate(scipy_matmul(U.T, C)))


def semantic_spectrum(A: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of A, restricted to its numerical rank."""
    a, U = linalg.eigh(A, driver="evd", check_finite=False)
    kept = a > len(a) * _EPS * max(float(a[-1]), 0.0)
    return a[kept], np.ascontiguousarray(U[:, kept])


def class_spectrum(counts: Array, signatures: Array) -> tuple[Array, Array]:
    """Spectrum of ``A = Σ n_c s_c s_cᵀ`` from the class rows, without squaring them."""
    # The right singular vectors of the rows √n_c s_c are eigenvectors of A, with values σ².
    weighted = np.sqrt(counts)[:, None] * signatures
    _, sigma, Vt = linalg.svd(weighted, full_matrices=False, check_finite=False)
    a = sigma**2
    kept = a > max(signatures.shape) * _EPS * (a[0] if len(a) else 0.0)
    return a[kept], np.ascontiguousarray(Vt[kept].T)


def relative_lam(A_trace: float, G_trace: float) -> float:
    """Return the λ whose scale-free value ``λ tr(G) / tr(A)`` is one."""
    if not (A_trace > 0 and G_trace > 0):
        raise InvalidInputError(
            "all features or all signatures are zero, so there is nothing to learn from them."
        )
    return A_trace / G_trace


@dataclass(frozen=True)
class Sylvester:
    """The equation with all work that does not depend on λ already done.

    Attributes
    ----------
    U : ndarray of shape (n_dimensions, rank)
        Eigenvectors of A with a positive eigenvalue.
    a : ndarray of shape (rank,)
        Their eigenvalues.
    reduction : Reduction
        G reduced to a diagonal or tridiagonal matrix.
    T : ndarray of shape (rank, n_reduced)
        ``Uᵀ C`` in the coordinates of the reduction.
    """

    U: Array
    a: Array
    reduction: Reduction
    T: Array

    def coef(self, lam: float) -> Array:
        """Return W of shape (n_dimensions, n_features) for one λ."""
        return scipy_matmul(self.U, self.reduction.restore(self._core(lam)))

    def prototypes(self, signatures: Array, lams: Array) -> Array:
        """Return the signatures decoded by W(λ), for every λ, without forming any W.

        Parameters
        ----------
        signatures : ndarray of shape (n_classes, n_dimensions)
            Rows to decode.
        lams : ndarray of shape (n_lams,)
            Values of λ.

        Returns
        -------
        ndarray of shape (n_lams, n_classes, n_features)
        """
        codes = scipy_matmul(signatures, self.U)
        stacked = np.concatenate([scipy_matmul(codes, self._core(lam)) for lam in lams])
        decoded = self.reduction.restore(stacked)
        return decoded.reshape(len(lams), len(signatures), -1)

    def _core(self, lam: float) -> Array:
        # Divided by 1 + λ, so that no λ, however large, overflows.
        return self.reduction.solve(self.T, self.a / (1.0 + lam), lam / (1.0 + lam))


class Reduction(Protocol):
    """A symmetric G written as ``Q R Qᵀ`` with a simple R."""

    def rotate(self, M: Array) -> Array:
        """Return ``M Q``."""

    def restore(self, M: Array) -> Array:
        """Return ``M Qᵀ``."""

    def solve(self, T: Array, a: Array, beta: float) -> Array:
        """Return Z with rows ``z_i (a_i I + β R) = t_i``."""

    @property
    def largest(self) -> float:
        """Largest eigenvalue of G, or a bound close to it."""

    @property
    def singular(self) -> bool:
        """Whether G is numerically singular."""


@dataclass(frozen=True)
class Tridiagonal:
    """Householder reduction ``G = Q T Qᵀ``; Q is kept as reflectors, never formed."""

    diagonal: Array
    off_diagonal: Array
    reflectors: Array
    tau: Array

    @classmethod
    def of(cls, G: Array) -> Tridiagonal:
        """Reduce G (LAPACK ``sytrd``, lower triangle)."""
        lwork = int(lapack.dsytrd_lwork(len(G), lower=1)[0])
        # G is symmetric and its transpose is laid out as LAPACK wants it, so no slow copy is made.
        packed, diagonal, off_diagonal, tau, _ = lapack.dsytrd(G.T, lower=1, lwork=lwork)
        return cls(diagonal, off_diagonal, np.asfortranarray(packed[1:, :-1]), tau)

    @property
    def largest(self) -> float:
        """Gershgorin bound on the largest eigenvalue."""
        # max_j (d_j + |e_{j−1}| + |e_j|)
        radius = np.zeros(len(self.diagonal) + 1)
        radius[1:-1] = np.abs(self.off_diagonal)
        return float(np.max(self.diagonal + radius[:-1] + radius[1:]))

    @property
    def singular(self) -> bool:
        """Whether the smallest eigenvalue is zero to rounding."""
        smallest = linalg.eigvalsh_tridiagonal(
            self.diagonal, self.off_diagonal, select="i", select_range=(0, 0)
        )[0]
        return bool(smallest <= len(self.diagonal) * _EPS * self.largest)

    def rotate(self, M: Array) -> Array:
        """Return ``M Q``."""
        return self._reflected(M, "N")

    def restore(self, M: Array) -> Array:
        """Return ``M Qᵀ``."""
        return self._reflected(M, "T")

    def _reflected(self, M: Array, trans: str) -> Array:
        # Q = diag(1, Q'), so the first coordinate stays; (M Q)ᵀ = Qᵀ Mᵀ needs the transpose.
        rest = np.array(M[:, 1:].T, order="F")
        flipped = "T" if trans == "N" else "N"
        lwork = int(lapack.dormqr("L", flipped, self.reflectors, self.tau, rest, -1)[1][0])
        out = np.empty_like(M, order="C")
        out[:, 0] = M[:, 0]
        out[:, 1:] = lapack.dormqr(
            "L", flipped, self.reflectors, self.tau, rest, lwork, overwrite_c=1
        )[0].T
        return out

    def solve(self, T: Array, a: Array, beta: float) -> Array:
        """Solve one positive definite tridiagonal system per row (LAPACK ``ptsv``)."""
        Z = np.empty_like(T)
        for i, shift in enumerate(a):
            Z[i] = self.solve_shifted(T[i : i + 1], shift, beta)[0]
        return Z

    def solve_shifted(self, T: Array, a: float, beta: float) -> Array:
        """Return Z with ``Z (a I + β R) = T``, the same shift for all rows."""
        _, _, Z, info = lapack.dptsv(beta * self.diagonal + a, beta * self.off_diagonal, T.T)
        if info:
            raise InvalidInputError(
                "the equation is too ill-conditioned for the tridiagonal solver at this λ; "
                "use solver='spectral'."
            )
        return np.asarray(Z.T)


@dataclass(frozen=True)
class Spectral:
    """Eigendecomposition ``G = V diag(b) Vᵀ``, its null space removed."""

    V: Array
    b: Array
    singular: bool

    @classmethod
    def of(cls, G: Array) -> Spectral:
        """Decompose G."""
        b, V = np.linalg.eigh(G)
        # C lies in the row space of X, so that nothing is lost: 0 / 0 := 0 is the minimum norm.
        kept = b > len(b) * _EPS * max(float(b[-1]), 0.0)
        return cls(np.ascontiguousarray(V[:, kept]), b[kept], singular=not bool(kept.all()))

    @property
    def largest(self) -> float:
        """Largest eigenvalue of G."""
        return float(self.b[-1]) if len(self.b) else 0.0

    def rotate(self, M: Array) -> Array:
        """Return the coordinates of the rows of M along the eigenvectors."""
        return M @ self.V

    def restore(self, M: Array) -> Array:
        """Map coordinates along the eigenvectors back to the feature space."""
        return M @ self.V.T

    def solve(self, T: Array, a: Array, beta: float) -> Array:
        """Divide by ``a_i + β b_j``."""
        return T / (a[:, None] + beta * self.b)  # no zeros: a and b are positive


def scipy_matmul(M: NDArray[np.float64], N: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``M N`` by scipy's BLAS, for use next to scipy's LAPACK.

    numpy and scipy each bring a BLAS, whose threads go on spinning after a product; mixing the two
    made the reduction of a 1,024 × 1,024 matrix take twice as long on two cores.

    Examples
    --------
    >>> import numpy as np
    >>> scipy_matmul(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return blas.dgemm(1.0, N.T, M.T).T
