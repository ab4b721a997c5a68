"""How samples are compared with classes, and which k classes are nearest.

A `Comparison` is what the name of a metric stands for. `Targets` are class vectors prepared for one
once, which then score any number of blocks of samples (`row_blocks`); `best_columns` finds the k
best of each row of scores. Lengths of rows are right also where their squares overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn._parameters import Either, check_value

Matrix = Any  # dense array or scipy sparse, one row per sample
Metric = Literal["cosine", "dot", "euclidean"]
METRICS: tuple[str, ...] = get_args(Metric)
Direction = Literal["encode", "decode"]
_ANY_METRIC = Either(*METRICS)


@dataclass(frozen=True)
class Comparison:
    """Everything the name of a metric stands for.

    The score of a sample q and a class vector p is ``q·p`` (dot), the same for unit vectors
    (cosine, 0 with a vector of zeros) or ``−‖q − p‖² = 2 q·p − ‖p‖² − ‖q‖²`` (euclidean).

    Attributes
    ----------
    unit : bool
        Whether samples and class vectors are scaled to unit length.
    distance : bool
        Whether the score is the negative squared distance.

    Examples
    --------
    >>> from zslearn.core.nearest import Comparison
    >>> Comparison.of("cosine")
    Comparison(unit=True, distance=False)
    """

    unit: bool = False
    distance: bool = False

    @classmethod
    def of(cls, metric: str) -> Comparison:
        """Return the comparison of that name."""
        if metric not in _COMPARISONS:
            check_value("metric", metric, _ANY_METRIC)
        return _COMPARISONS[metric]

    def rule(self, norms: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return (scale, offset) such that ``scale · q·p + offset`` ranks classes as the score.

        Parameters
        ----------
        norms : ndarray
            Lengths of class vectors.

        Returns
        -------
        scale, offset : ndarrays like `norms`
        """
        if self.unit:
            # ‖q‖ is the same for all classes, so that dividing by ‖p‖ alone ranks as the cosine.
            scale = np.divide(1.0, norms, out=np.zeros(norms.shape), where=norms > 0)
            return scale, np.zeros(norms.shape)
        if self.distance:
            # −‖q − p‖² without −‖q‖², which is the same for all classes.
            return np.full(norms.shape, 2.0), -(norms**2)
        return np.ones(norms.shape), np.zeros(norms.shape)

    def split(
        self, x: NDArray[Any], s: NDArray[Any], W: NDArray[Any], direction: Direction
    ) -> tuple[NDArray[Any], float]:
        """Split the score of a sample and a class by the dimensions of the semantic space.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
            A sample.
        s : ndarray of shape (n_dimensions,)
            A signature.
        W : ndarray of shape (n_dimensions, n_features)
            The map.
        direction : {"encode", "decode"}
            Compare W x with s, or x with Wᵀ s.

        Returns
        -------
        contributions : ndarray of shape (n_dimensions,)
        offset : float
            The part that belongs to no dimension; the score is this plus the sum of the
            contributions.
        """
        code, encode = W @ x, direction == "encode"
        if self.distance and encode:
            # −‖W x − s‖² = −Σ_j ((W x)_j − s_j)²
            return -((code - s) ** 2), 0.0
        if self.distance:
            # −‖x − Wᵀs‖² = −‖x‖² + Σ_j s_j (2 (W x)_j − (W Wᵀ s)_j)
            return s * (2.0 * code - W @ (s @ W)), -float(x @ x)
        if not self.unit:
            return s * code, 0.0
        # q·p = Σ_j s_j (W x)_j in both directions; only the two lengths differ.
        q, p = (code, s) if encode else (x, s @ W)
        length = float(np.linalg.norm(q) * np.linalg.norm(p))
        return (s * code / length if length > 0 else np.zeros(len(s))), 0.0


_COMPARISONS = {
    name: Comparison(unit=name == "cosine", distance=name == "euclidean") for name in METRICS
}

BLOCK_BYTES = 64 * 2**20
# The C library keeps memory below 32 MB for the next block; a larger block is mapped anew.
SCORE_BYTES = 31 * 2**20


def row_blocks(n_rows: int, bytes_per_row: int, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Slices of rows such that a block of them takes about `block_bytes`."""
    size = max(1, block_bytes // max(bytes_per_row, 1))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


@dataclass(frozen=True)
class Targets:
    """Class vectors prepared for a metric once, for any number of blocks of samples.

    Attributes
    ----------
    vectors : ndarray of shape (n_classes, n_dimensions)
        One vector per class, of unit length for the cosine.
    offsets : ndarray of shape (n_classes,) or None
        Added to the scores of each class; for the distance, minus the squared lengths.
    comparison : Comparison
        How to compare.

    Examples
    --------
    >>> import numpy as np
    >>> Targets.of(np.array([[1.0, 0.0], [3.0, 4.0]]), "cosine").scores(np.array([[6.0, 8.0]]))
    array([[0.6, 1. ]])
    """

    vectors: NDArray
    offsets: NDArray | None
    comparison: Comparison
    _casts: dict[Any, tuple[NDArray, NDArray | None]] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of(cls, classes: NDArray, metric: Metric, offsets: NDArray | None = None) -> Targets:
        """Prepare class vectors; offsets go with the dot product and the cosine."""
        comparison = Comparison.of(metric)
        vectors = unit_rows(classes) if comparison.unit else classes
        if comparison.distance:
            offsets = -(row_norms(vectors) ** 2)
        return cls(vectors, offsets, comparison)

    def scores(self, queries: Matrix) -> NDArray:
        """Return how well each query fits each class, in the precision of the queries."""
        return self.scores_of_ready(ready_queries(queries, self.comparison))

    def scores_of_ready(self, queries: Matrix) -> NDArray:
        """Return the scores of queries that `ready_queries` has prepared for the comparison."""
        vectors, offsets, dtype = self.vectors, self.offsets, queries.dtype
        if vectors.dtype != dtype:  # converted once for each precision
            if dtype not in self._casts:
                cast = None if offsets is None else offsets.astype(dtype)
                self._casts[dtype] = vectors.astype(dtype), cast
            vectors, offsets = self._casts[dtype]
        products = np.asarray(queries @ vectors.T)
        if offsets is None:
            return products
        if not self.comparison.distance:
            return np.add(products, offsets, out=products)
        # ‖q − p‖² = ‖q‖² + ‖p‖² − 2 q·p, which rounding can leave a little below zero.
        distances = row_norms(queries)[:, None] ** 2 - offsets
        products *= 2.0
        np.subtract(distances, products, out=distances)
        np.maximum(distances, 0.0, out=distances)
        return np.negative(distances, out=distances)


def scores(queries: Matrix, classes: NDArray, metric: Metric) -> NDArray:
    """Return how well each query fits each class; larger is better.

    Parameters
    ----------
    queries : array or sparse matrix of shape (n_samples, n_dimensions)
        Samples.
    classes : ndarray of shape (n_classes, n_dimensions)
        One vector per class, in the same space.
    metric : {"cosine", "dot", "euclidean"}
        Cosine similarity, inner product, or the negative squared Euclidean distance. The cosine
        with a vector of zeros is 0.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> scores(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0], [3.0, 4.0]]), "euclidean")
    array([[-20.,  -0.]])
    """
    return Targets.of(classes, metric).scores(queries)


def ready_queries(queries: Matrix, comparison: Comparison, *, unit: bool = False) -> Matrix:
    """Return queries as a comparison needs them: of unit length for the cosine.

    Parameters
    ----------
    queries : array or sparse matrix of shape (n_samples, n_dimensions)
        Samples.
    comparison : Comparison
        How they will be compared.
    unit : bool, default=False
        Whether they have unit length already, so that the cosine need not scale them.
    """
    queries = _floating(queries)
    return unit_rows(queries) if comparison.unit and not unit else queries


def class_vectors(S: NDArray, coef: NDArray) -> NDArray:
    """Return ``S @ coef`` in the order in memory that makes products with samples fastest.

    Examples
    --------
    >>> import numpy as np
    >>> class_vectors(np.array([[1.0, 2.0]]), np.eye(2))
    array([[1., 2.]])
    """
    # A product with samples packs the vectors of many classes sooner from Fortran order.
    return np.asarray((coef.T @ S.T).T if len(S) > coef.shape[1] else S @ coef)


# Fewest and most columns in a group where the best of a wide row are searched by groups.
_GROUP_SIZES = (16, 256)
# Fewer numbers than this are sorted sooner than searched.
_WORTH_GROUPS = 4096


def best_columns(values: NDArray, k: int) -> tuple[NDArray[np.intp], NDArray]:
    """Return the k largest entries of each row, best first, ties by the lower column.

    Wide rows are cut into groups of columns. With t the k-th largest of the maxima of the groups,
    at least k entries of the row are not below t, so that only the few groups that reach t are
    looked at, and only their entries from t on are sorted.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Numbers; infinite ones are ordered as any other, and NaN is the largest.
    k : int
        How many, at least 1; of fewer columns all are returned.

    Returns
    -------
    columns, values : ndarrays of shape (n_rows, min(k, n_columns))

    Examples
    --------
    >>> import numpy as np
    >>> best_columns(np.array([[1.0, 3.0, 2.0, 3.0]]), 3)
    (array([[1, 3, 2]]), array([[3., 3., 2.]]))
    """
    n_rows, n_columns = values.shape
    k = min(k, n_columns)
    if k == 1:
        best = values.argmax(axis=1)
        if n_rows == 1:
            return best[:, None], values.take(best, axis=1)
        return best[:, None], values[np.arange(n_rows), best][:, None]
    size = int(np.clip(n_columns // 32, *_GROUP_SIZES))
    n_groups = n_columns // size
    if n_groups <= 2 * k or values.size < _WORTH_GROUPS:
        return _sorted_columns(values, k)
    whole, tail = np.split(values, [n_groups * size], axis=1)
    # A third faster than the maxima of `grouped` along its last axis.
    maxima = np.maximum.reduceat(whole, np.arange(0, n_groups * size, size), axis=1)
    if np.isnan(maxima).any():  # no row may get entries of another one
        return _sorted_columns(values, k)
    least = np.partition(maxima, n_groups - k, axis=1)[:, n_groups - k, None]  # t
    # Fewer than k groups exceed t. Of those that equal it the first k hold enough entries.
    tied = maxima == least
    rows, groups = np.nonzero((maxima > least) | (tied & (tied.cumsum(axis=1) <= k)))
    grouped = whole.reshape(n_rows, n_groups, size)[rows, groups]
    entry, place = np.nonzero(grouped >= least[rows])
    tail_rows, tail_place = np.nonzero(tail >= least)
    found = np.concatenate([grouped[entry, place], tail[tail_rows, tail_place]])
    columns = np.concatenate([groups[entry] * size + place, n_groups * size + tail_place])
    of_row = np.concatenate([rows[entry], tail_rows])
    order = np.lexsort((-found, of_row))  # stable, and columns ascend within a row
    counts = np.bincount(of_row, minlength=n_rows)
    first = order[(np.cumsum(counts) - counts)[:, None] + np.arange(k)]
    return columns[first], found[first]


def _sorted_columns(values: NDArray, k: int) -> tuple[NDArray[np.intp], NDArray]:
    """Return the k best columns by sorting all of them."""
    order = np.argsort(-values, axis=1, kind="stable")
    last = values[np.arange(len(values)), order[:, -1]]
    if np.isnan(last).any():  # sorted to the end, where a row has any
        order = np.argsort(np.where(np.isnan(values), -np.inf, -values), axis=1, kind="stable")
    return order[:, :k], np.take_along_axis(values, order[:, :k], axis=1)


FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
# Rows whose sums Python compares faster than numpy.
_FEW_ROWS = 16


def row_norms(M: Matrix) -> NDArray:
    """Euclidean length of each row, in the precision of M, also where squares overflow."""
    _, squares, peaks = well_scaled(M)
    return np.sqrt(squares) if peaks is None else peaks * np.sqrt(squares)


def unit_rows(M: Matrix) -> Matrix:
    """Scale each row to unit length; rows of zeros stay zero."""
    scaled, squares, _ = well_scaled(M)
    norms = np.sqrt(squares)
    factor = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    if sparse.issparse(scaled):
        return sparse.csr_array(sparse.diags_array(factor.astype(scaled.dtype)) @ scaled)
    return scaled * factor[:, None]


def well_scaled(M: Matrix) -> tuple[Matrix, NDArray, NDArray | None]:
    """Return rows whose squares can be added up, the sums, and what rows were divided by.

    A row is divided by the power of two below its largest entry, which is exact, if its squares
    overflow, or are so small that they lose digits; others keep their bits. The divisors are None
    where no row needs one.
    """
    squares = _squares(M)
    least, few = _least_square(squares.dtype), len(squares) <= _FEW_ROWS
    # Comparisons with NaN are false, so that it counts as out of bounds.
    if (
        all(least < value < np.inf for value in squares.tolist())
        if few
        else squares.min() > least and squares.max() < np.inf
    ):
        return M, squares, None
    odd = ~((squares > least) & (squares < np.inf))
    largest = abs(M).max(axis=1)
    largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
    # 1 / peak is needed below, so that a peak is no smaller than the least normal number.
    least_exponent = np.finfo(squares.dtype).minexp
    exponents = np.frexp(np.where(odd & (largest > 0), largest, 1))[1] - 1
    peaks = np.ldexp(np.ones_like(squares), np.maximum(exponents, least_exponent))
    with np.errstate(invalid="ignore"):
        divided = sparse.diags_array(1 / peaks) @ M if sparse.issparse(M) else M / peaks[:, None]
    return divided, _squares(divided), peaks


def _squares(M: Matrix) -> NDArray:
    """Sum of the squares of each row."""
    if not sparse.issparse(M):
        return np.einsum("ij,ij->i", M, M)  # which never warns
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(M.multiply(M).sum(axis=1)).ravel()


@cache
def _least_square(dtype: np.dtype[Any]) -> float:
    """Sum of squares below which digits are lost."""
    info = np.finfo(dtype if dtype.kind == "f" else np.float64)
    return float(info.tiny / info.eps)


def _floating(M: Matrix) -> Matrix:
    """Keep float32 and float64; anything else becomes float64."""
    return M if M.dtype in FLOATS else M.astype(np.float64)
