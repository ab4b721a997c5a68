"""Sufficient statistics of labeled features: all that linear methods need from the data.

A block of rows is summed to `BlockSums`; a stream of blocks adds up in a `BlockTotal`, in place.
`Moments` are what such a total means: class counts n_c, class sums Σ_{i∈c} x_i and the Gram matrix
G = XᵀX. They are added, subtracted and moved to another origin. With the signatures of the classes
they become `PairMoments`: A = SᵀS, C = SᵀX and G, from which the semantic autoencoder is solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from zslearn.core.rows import LazyRows, checked_weights
from zslearn.exceptions import InvalidInputError

Array = NDArray[np.float64]
Matrix = Any  # dense array or scipy sparse, one row per sample
Group = Any  # whatever names a group of classes: a fold number, a class label

# float32 products over at most this many rows, summed in float64, keep a few 1e-7 relative error.
BLOCK_ROWS = 4096
# A float32 product over this many rows is off by about 1e-8 of its size.
PIECE_ROWS = 8192
# Up to this many rows of a class are added in float32; its rounding then stays below 1e-6.
_FEW_ROWS = 32
# What rounding may leave of a scatter of zero, relative to the Gram matrix.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Grouping:
    """Which Gram matrix the samples of a class are added to.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted class labels; None gives every class its own matrix.
    groups : ndarray of shape (n_classes,) or None
        Group of each of the classes.
    """

    classes: NDArray | None = None
    groups: NDArray | None = None

    @classmethod
    def of_folds(cls, folds: tuple[NDArray, ...]) -> Grouping:
        """Make one group per fold of classes, named by its position."""
        classes = np.concatenate(folds)
        groups = np.repeat(np.arange(len(folds)), [len(fold) for fold in folds])
        order = np.argsort(classes)
        return cls(classes[order], groups[order])

    def of(self, labels: NDArray) -> NDArray:
        """Group of each label."""
        if self.classes is None or self.groups is None:
            return labels
        return self.groups[np.searchsorted(self.classes, labels)]


@dataclass(frozen=True)
class BlockSums:
    """What one block adds: sums of the classes present and a Gram matrix for each group present."""

    classes: NDArray
    counts: Array
    sums: NDArray
    grams: Mapping[Group, NDArray]

    @classmethod
    def of(
        cls,
        x: Matrix,
        labels: NDArray,
        grouping: Grouping | None = None,
        weights: Array | None = None,
    ) -> BlockSums:
        """Compute the sums of a block of float32 or float64 rows, dense or sparse."""
        classes, index = np.unique(labels, return_inverse=True)
        counts = np.bincount(index, weights, minlength=len(classes))
        sums = _class_sums(x, index, counts, weights)
        if weights is not None:  # Σ w x xᵀ is the Gram matrix of the rows √w x
            root = np.sqrt(weights).astype(x.dtype)
            x = sparse.diags_array(root) @ x if sparse.issparse(x) else x * root[:, None]
        if grouping is None:
            grams = {0: gram_of(x)}
        else:
            grams = _grouped_grams(x, grouping.of(classes), index)
        return cls(classes, counts.astype(np.float64), sums, grams)


def _class_sums(
    x: Matrix, index: NDArray[np.intp], counts: NDArray, weights: Array | None
) -> NDArray:
    """Sum the rows of each class by a sparse one-hot product; in float32 if they are few."""
    # scipy adds in the wider precision of the two, so that the ones decide about it.
    few = weights is None and x.dtype == np.float32 and counts.max(initial=0) <= _FEW_ROWS
    ones = np.ones(len(index), dtype=np.float32 if few else np.float64)
    places = (index, np.arange(len(index)))
    values = ones if weights is None else weights
    product = sparse.csr_array((values, places), shape=(len(counts), len(index))) @ x
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def _grouped_grams(x: Matrix, groups: NDArray, index: NDArray[np.intp]) -> dict[Group, NDArray]:
    """Gram matrix of the rows of each group; `groups` holds the group of each class."""
    names, group_of_class = np.unique(groups, return_inverse=True)
    if len(names) == 1:
        return {names[0].item(): gram_of(x)}
    of_row = group_of_class[index]
    return {name.item(): gram_of(x[of_row == i]) for i, name in enumerate(names)}


def gram_of(x: Matrix) -> NDArray:
    """``xᵀx``: float32 for one float32 piece, float64 for more of them."""
    if x.shape[0] <= PIECE_ROWS or x.dtype == np.float64 or sparse.issparse(x):
        product = x.T @ x
        return product.toarray() if sparse.issparse(product) else product
    total = np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(x), PIECE_ROWS):
        piece = x[start : start + PIECE_ROWS]
        total += piece.T @ piece
    return total


def as_float(block: Matrix) -> Matrix:
    """Keep float32 and float64, widen half precision to float32 and anything else to float64."""
    if block.dtype in (np.float32, np.float64):
        return block
    return block.astype(np.float32 if block.dtype == np.float16 else np.float64)


def class_sums(
    x: Matrix, labels: NDArray, weights: Array | None = None
) -> tuple[NDArray, Array, Array]:
    """Return the classes of rows, sorted, their total weights and the sums of their rows.

    Examples
    --------
    >>> import numpy as np
    >>> names, counts, sums = class_sums(np.eye(3), np.array(["b", "a", "b"]))
    >>> names.tolist(), counts.tolist(), sums.tolist()
    (['a', 'b'], [1.0, 2.0], [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    """
    classes, index = np.unique(labels, return_inverse=True)
    ones = np.ones(len(labels)) if weights is None else weights
    counts = np.bincount(index, ones, minlength=len(classes)).astype(np.float64)
    return classes, counts, _class_sums(x, index, counts, ones).astype(np.float64)


class BlockTotal:
    """Sum of the `BlockSums` of a stream, kept in float64 and changed in place.

    Memory is one Gram matrix per group and one row per class, whatever the number of blocks. Adding
    the same blocks in the same order gives the same bits, also across `state` and `restored`.

    Parameters
    ----------
    n_features : int
        Number of features.
    origin : ndarray of shape (n_features,), optional
        Point that was subtracted from every row.

    Examples
    --------
    >>> import numpy as np
    >>> total = BlockTotal(2)
    >>> total.add(BlockSums.of(np.eye(2), np.array(["cat", "dog"])))
    >>> total.add(BlockSums.of(np.ones((1, 2)), np.array(["cat"])))
    >>> total.sums
    array([[2., 1.],
           [0., 1.]])
    """

    def __init__(self, n_features: int, origin: Array | None = None) -> None:
        self.n_features = n_features
        self.origin = origin
        self.classes: NDArray | None = None
        self.counts: Array = np.zeros(0)
        self.sums: Array = np.zeros((0, n_features))
        self.grams: dict[Group, Array] = {}

    def add(self, block: BlockSums) -> None:
        """Add a block."""
        rows = self._rows_of(block.classes)
        self.counts[rows] += block.counts
        self.sums[rows] += block.sums
        for group, gram in block.grams.items():
            if group in self.grams:
                self.grams[group] += gram
            else:
                self.grams[group] = gram.astype(np.float64)

    def state(self) -> dict[str, NDArray]:
        """Return everything as plain arrays."""
        groups = list(self.grams)
        return {
            "classes": np.zeros(0) if self.classes is None else self.classes,
            "counts": self.counts,
            "sums": self.sums,
            "groups": np.array(groups),
            "origin": np.zeros(0) if self.origin is None else self.origin,
            **{f"gram_{number}": self.grams[group] for number, group in enumerate(groups)},
        }

    @classmethod
    def restored(cls, state: Mapping[str, NDArray]) -> BlockTotal:
        """Return the total that gave this state."""
        origin = state["origin"]
        total = cls(state["sums"].shape[1], origin if len(origin) else None)
        total.classes = state["classes"] if len(state["classes"]) else None
        total.counts, total.sums = state["counts"], state["sums"]
        groups = state["groups"].tolist()
        total.grams = {group: state[f"gram_{number}"] for number, group in enumerate(groups)}
        return total

    def _rows_of(self, classes: NDArray) -> NDArray[np.intp] | slice:
        """Rows of these sorted classes, made where they are new."""
        if self.classes is None:
            known, merged = classes[:0], classes
        else:
            known, merged = self.classes, np.union1d(self.classes, classes)
        if len(merged) > len(known):
            rows = np.searchsorted(merged, known)
            counts, sums = np.zeros(len(merged)), np.zeros((len(merged), self.n_features))
            counts[rows], sums[rows] = self.counts, self.sums
            self.classes, self.counts, self.sums = merged, counts, sums
        # All rows as a slice: adding in place is faster than gathering and scattering.
        return slice(None) if len(classes) == len(merged) else np.searchsorted(merged, classes)


@dataclass(frozen=True)
class Moments:
    """Class counts, class sums and the Gram matrix of labeled features.

    Every sample of a class has the same signature, so these are sufficient for every linear
    method of the library: they add up over blocks, workers and days, and subtracting a part is
    the same as never having seen it.

    With ``centered=True`` sums and Gram are kept about the mean (`origin`) and merged by the
    formula of Chan, Golub and LeVeque, which keeps its digits where raw sums of features with a
    large offset lose theirs.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted class labels.
    counts : ndarray of shape (n_classes,)
        Total weight (number of samples) of each class.
    sums : ndarray of shape (n_classes, n_features)
        Sum over each class of ``x - origin``.
    gram : ndarray of shape (n_features, n_features)
        Sum over all samples of ``(x - origin)(x - origin)ᵀ``.
    origin : ndarray of shape (n_features,)
        Zero for raw moments, the mean for centered ones.
    centered : bool
        Whether `origin` follows the mean.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [3.0, 2.0], [0.0, 4.0]])
    >>> a = Moments.of(X[:2], ["cat", "dog"])
    >>> b = Moments.of(X[2:], ["cat"])
    >>> (a + b).sums
    array([[1., 4.],
           [3., 2.]])
    >>> (a + b - b).n_samples
    2.0
    """

    classes: NDArray
    counts: Array
    sums: Array
    gram: Array
    origin: Array
    centered: bool = False

    @classmethod
    def of(
        cls,
        X: Matrix,
        y: ArrayLike,
        *,
        centered: bool = False,
        sample_weight: ArrayLike | None = None,
        block_rows: int = BLOCK_ROWS,
    ) -> Moments:
        """Compute the moments of a data set, block by block.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features; products of float32 blocks are taken in float32 and summed in float64.
        y : array-like of shape (n_samples,)
            Class labels.
        centered : bool, default=False
            Keep the moments about the mean.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each sample.
        block_rows : int, default=4096
            Rows worked on at a time.

        Returns
        -------
        Moments
        """
        matrix = X if sparse.issparse(X) or isinstance(X, LazyRows) else np.asarray(X)
        labels = np.asarray(y)
        _check_rows(matrix, labels)
        if labels.ndim != 1:
            raise InvalidInputError(
                f"labels must be one per sample; got an array of {labels.shape}."
            )
        if labels.dtype == object and len({isinstance(label, str) for label in labels}) > 1:
            raise InvalidInputError("labels mix text and numbers; use one kind.")
        weights = None if sample_weight is None else checked_weights(sample_weight, len(labels))
        classes, index = np.unique(labels, return_inverse=True)
        total = BlockTotal(matrix.shape[1])
        for rows in _blocks(matrix.shape[0], block_rows):
            x = as_float(matrix[rows])
            if centered and total.origin is None:
                total.origin = origin_of(x)
            if total.origin is not None and not sparse.issparse(x):  # that of sparse rows is 0
                x = x - total.origin.astype(x.dtype)
            weight = None if weights is None else weights[rows]
            total.add(BlockSums.of(x, index[rows], weights=weight))
        if total.classes is None:
            return replace(cls.empty(matrix.shape[1], centered=centered), classes=classes)
        found = cls.of_total(total)
        return replace(found, classes=classes[found.classes])

    @classmethod
    def of_total(
        cls, total: BlockTotal, group: Group = 0, kept: NDArray[np.bool_] | None = None
    ) -> Moments:
        """Return the moments in a sum of blocks, centered if their rows were moved to an origin.

        Parameters
        ----------
        total : BlockTotal
            The sum.
        group : label, default=0
            Group of classes whose Gram matrix is meant.
        kept : ndarray of shape (n_classes,), optional
            Which of the sum's classes are in that group; by default all.
        """
        if total.classes is None:
            raise InvalidInputError("there are no samples to learn from.")
        # A class whose samples all have weight 0 is not there.
        here = total.counts > 0 if kept is None else kept & (total.counts > 0)
        origin = np.zeros(total.n_features) if total.origin is None else total.origin
        classes, counts, sums = total.classes[here], total.counts[here], total.sums[here]
        found = cls(classes, counts, sums, total.grams[group], origin)
        return found if total.origin is None else found.about(found.mean, centered=True)

    @classmethod
    def empty(cls, n_features: int, *, centered: bool = False) -> Moments:
        """Return the moments of no data, the neutral element of ``+``."""
        return cls(
            classes=np.empty(0, dtype=np.intp),
            counts=np.zeros(0),
            sums=np.zeros((0, n_features)),
            gram=np.zeros((n_features, n_features)),
            origin=np.zeros(n_features),
            centered=centered,
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.gram.shape[0]

    @property
    def n_samples(self) -> float:
        """Total weight of all samples."""
        return float(self.counts.sum())

    @property
    def mean(self) -> Array:
        """Mean feature vector."""
        return self.origin + self.sums.sum(axis=0) / max(self.n_samples, np.finfo(float).tiny)

    @property
    def constant(self) -> bool:
        """Whether all samples are equal, to rounding."""
        # Σ ‖x − mean‖² = tr(G) − ‖Σ x‖² / n
        size = float(np.trace(self.gram))
        total = self.sums.sum(axis=0)
        return size - float(total @ total) / self.n_samples <= _ROUNDING * size

    @property
    def class_means(self) -> Array:
        """Mean feature vector of each class."""
        return self.origin + self.sums / self.counts[:, None]

    def about(self, origin: ArrayLike, *, centered: bool = False) -> Moments:
        """Return the same moments taken about another point."""
        point = np.asarray(origin, dtype=np.float64)
        # Σ (y + s)(y + s)ᵀ = Σ y yᵀ + (Σ y) sᵀ + s (Σ y)ᵀ + n s sᵀ  with y = x − origin
        shift = self.origin - point
        total = self.sums.sum(axis=0)
        cross = np.outer(total, shift)
        gram = self.gram + cross + cross.T + self.n_samples * np.outer(shift, shift)
        sums = self.sums + self.counts[:, None] * shift
        return Moments(self.classes, self.counts, sums, gram, point, centered=centered)

    def restricted(self, classes: ArrayLike) -> tuple[Array, Array]:
        """Return counts and sums of the given classes, in that order."""
        wanted = np.asarray(classes)
        rows = np.searchsorted(self.classes, wanted)
        rows = np.minimum(rows, len(self.classes) - 1)
        if len(self.classes) == 0 or not np.array_equal(self.classes[rows], wanted):
            raise InvalidInputError("some of the classes asked for are not in the moments.")
        return self.counts[rows], self.sums[rows]

    def __add__(self, other: Moments) -> Moments:
        return self._combined(other, +1.0)

    def __sub__(self, other: Moments) -> Moments:
        return self._combined(other, -1.0)

    def _combined(self, other: Moments, sign: float) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        _check_compatible(self, other)
        a, b = _at_common_origin(self, other, sign)
        # Moments of nothing have no kind of label that could be sorted among the others.
        present = [part.classes for part in (a, b) if len(part.classes)] or [a.classes]
        classes = present[0] if len(present) == 1 else np.union1d(*present)
        rows_a, rows_b = (np.searchsorted(classes, part.classes) for part in (a, b))
        counts = np.zeros(len(classes))
        sums = np.zeros((len(classes), a.n_features))
        counts[rows_a] = a.counts
        sums[rows_a] = a.sums
        noise = 1e-9 * counts if sign < 0 else 0.0  # what rounding leaves of a subtracted class
        counts[rows_b] += sign * b.counts
        sums[rows_b] += sign * b.sums
        if np.any(counts < -noise):
            raise InvalidInputError("cannot subtract moments that hold more samples of a class.")
        kept = counts > noise
        return Moments(
            classes[kept],
            counts[kept],
            sums[kept],
            a.gram + sign * b.gram,
            a.origin,
            centered=self.centered,
        )


def _at_common_origin(a: Moments, b: Moments, sign: float) -> tuple[Moments, Moments]:
    """Move centered moments to the mean of their combination; raw ones stay as they are."""
    if not a.centered:
        return a, b
    # Chan, Golub and LeVeque: mean = mean_a ± n_b / (n_a ± n_b) (mean_b − mean_a)
    weight = a.n_samples + sign * b.n_samples
    if weight <= 0:
        return a, b.about(a.origin, centered=True)
    # Written as a small step from a's mean, so that a large common offset costs no digits.
    step = sign * b.n_samples / weight * (b.mean - a.mean)
    mean = a.mean + step
    return a.about(mean, centered=True), b.about(mean, centered=True)


def origin_of(x: Matrix) -> Array:
    """Return the mean of some rows, exact in their precision; zero for sparse rows.

    Any point near the data serves as origin of centered moments.
    """
    if sparse.issparse(x):
        return np.zeros(x.shape[1])
    return x.mean(axis=0, dtype=np.float64).astype(x.dtype).astype(np.float64)


@dataclass(frozen=True)
class PairMoments:
    """Products of paired rows X and S: all that the semantic autoencoder needs from them.

    Attributes
    ----------
    semantic_gram : ndarray of shape (n_dimensions, n_dimensions)
        ``A = SᵀS``.
    cross : ndarray of shape (n_dimensions, n_features)
        ``C = SᵀX``.
    feature_gram : ndarray of shape (n_features, n_features)
        ``G = XᵀX``.
    n_samples : float
        Number of rows.
    """

    semantic_gram: Array
    cross: Array
    feature_gram: Array
    n_samples: float

    @classmethod
    def of(cls, X: Matrix, S: ArrayLike) -> PairMoments:
        """Compute the products of paired rows in blocks of bounded memory."""
        matrix = X if sparse.issparse(X) else np.asarray(X)
        semantic = np.asarray(S)
        _check_rows(matrix, semantic)
        d, k = matrix.shape[1], semantic.shape[1]
        A, C, G = np.zeros((k, k)), np.zeros((k, d)), np.zeros((d, d))
        for rows in _blocks(matrix.shape[0], BLOCK_ROWS):
            # Products of a block in its own precision, added up in float64.
            x, s = as_float(matrix[rows]), as_float(semantic[rows])
            A += s.T @ s
            C += np.asarray((x.T @ s).T)
            G += gram_of(x)
        return cls(A, C, G, float(matrix.shape[0]))

    @classmethod
    def of_classes(cls, moments: Moments, signatures: Array) -> PairMoments:
        """Expand class moments, one signature per class: A = Σ n_c s_c s_cᵀ, C = Σ s_c sum_cᵀ."""
        weighted = moments.counts[:, None] * signatures
        return cls(
            signatures.T @ weighted, signatures.T @ moments.sums, moments.gram, moments.n_samples
        )

    def __add__(self, other: PairMoments) -> PairMoments:
        return PairMoments(
            self.semantic_gram + other.semantic_gram,
            self.cross + other.cross,
            self.feature_gram + other.feature_gram,
            self.n_samples + other.n_samples,
        )

    def __sub__(self, other: PairMoments) -> PairMoments:
        return PairMoments(
            self.semantic_gram - other.semantic_gram,
            self.cross - other.cross,
            self.feature_gram - other.feature_gram,
            self.n_samples - other.n_samples,
        )


def _blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Slices that cover n_rows in pieces of at most `size`."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def _check_rows(matrix: Matrix, other: NDArray) -> None:
    if matrix.ndim != 2 or other.ndim not in (1, 2):
        raise InvalidInputError(
            f"features must be a matrix with one row per sample; got {matrix.ndim} dimension(s)."
        )
    if matrix.shape[0] != other.shape[0]:
        raise InvalidInputError(
            f"features have {matrix.shape[0]} rows but their labels have {other.shape[0]}."
        )


def _check_compatible(a: Moments, b: Moments) -> None:
    if a.n_features != b.n_features:
        raise InvalidInputError(
            f"moments of {a.n_features} and of {b.n_features} features cannot be combined."
        )
    if a.centered != b.centered:
        raise InvalidInputError(
            "raw and centered moments cannot be combined; compute both with the same centered=."
        )
    texts = {isinstance(m.classes[0], str) for m in (a, b) if len(m.classes)}
    if len(texts) > 1:
        raise InvalidInputError(
            "moments of classes named by text and by number cannot be combined."
        )
