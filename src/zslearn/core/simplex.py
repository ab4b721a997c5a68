"""Points of the probability simplex: projection, and codes of vectors as mixtures of others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def project_to_simplex(V: Array) -> Array:
    """Return the nearest point of the probability simplex to each row.

    Parameters
    ----------
    V : ndarray of shape (n_rows, n_coordinates)
        Any points.

    Returns
    -------
    ndarray of shape (n_rows, n_coordinates)
        Rows are not negative and sum to one (sorting algorithm of Held, Wolfe and Crowder 1974).

    Examples
    --------
    >>> import numpy as np
    >>> project_to_simplex(np.array([[0.5, 0.5, -1.0], [3.0, 1.0, 0.0]]))
    array([[0.5, 0.5, 0. ],
           [1. , 0. , 0. ]])
    """
    ordered = -np.sort(-V, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    counts = np.arange(1, V.shape[1] + 1, dtype=V.dtype)
    # The number of positive coordinates is the largest j with u_j > (Σ_{i ≤ j} u_i − 1) / j.
    positive = (ordered * counts > excess).sum(axis=1)
    threshold = excess[np.arange(len(V)), positive - 1] / positive
    return np.maximum(V - threshold[:, None], 0.0).astype(V.dtype)


def simplex_codes(A: Array, B: Array, gamma: float, *, max_iter: int = 2000) -> NDArray[np.float64]:
    """Return for each row a of A the z on the simplex that minimizes ½‖a − zB‖² + (γ/2)‖z‖².

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_dimensions)
        Vectors to code.
    B : ndarray of shape (n_atoms, n_dimensions)
        Vectors to mix.
    gamma : float
        γ > 0 makes the solution unique; a larger γ mixes more atoms.
    max_iter : int
        Maximum number of iterations (accelerated projected gradient, Beck and Teboulle 2009).

    Returns
    -------
    ndarray of shape (n_rows, n_atoms)
    """
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    H, target = B @ B.T + gamma * np.eye(len(B)), A @ B.T
    step = 1.0 / float(np.linalg.eigvalsh(H)[-1])
    Z = np.full((len(A), len(B)), 1.0 / len(B))
    look, t = Z, 1.0
    for _ in range(max_iter):
        new = project_to_simplex(look - step * (look @ H - target))
        t_new = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        look = new + (t - 1.0) / t_new * (new - Z)
        moved, Z, t = float(np.abs(new - Z).max()), new, t_new
        if moved < 1e-9:
            break
    return np.array([_exact(z, H, t) for z, t in zip(Z, target, strict=True)])


def _exact(z: Array, H: Array, target: Array) -> Array:
    """Solve for the atoms that z uses, so that a code does not depend on how others converged."""
    used = np.flatnonzero(z > 0)
    system = np.ones((len(used) + 1, len(used) + 1))
    system[:-1, :-1], system[-1, -1] = H[np.ix_(used, used)], 0.0
    solution = np.linalg.solve(system, np.append(target[used], 1.0))[:-1]
    if solution.min() < 0:
        return z
    exact = np.zeros_like(z)
    exact[used] = solution
    return exact
