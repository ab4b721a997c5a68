"""Matrix products next to LAPACK calls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas


def product(M: NDArray[np.float64], N: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``M N`` by scipy's BLAS, for use next to scipy's LAPACK.

    numpy and scipy each bring a BLAS, whose threads go on spinning after a product; mixing the two
    made the reduction of a 1,024 × 1,024 matrix take twice as long on two cores.

    Examples
    --------
    >>> import numpy as np
    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return blas.dgemm(1.0, N.T, M.T).T
