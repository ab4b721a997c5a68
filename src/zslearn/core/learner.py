"""The public protocol "I learn from moments": what to gather, what was gathered, and folds of it.

A `MomentLearner` says by a `MomentPlan` what it wants of the data. Whoever reads them, in memory
(`gather_rows`), as a stream or on a cluster (`zslearn.core.moment_pass`), returns `FoldedMoments`:
moments in parts that add up, and rows to judge models by. One fold of them is a `FoldMoments`; it
learns from the total less its own part, so that cross-validation reads the data once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.core.moments import Grouping, Moments
from zslearn.core.row_space import RowBasis, reduced, subset_coordinates, triangle_gram
from zslearn.core.rows import RowTransform
from zslearn.exceptions import InvalidInputError

# Rows kept for choosing parameters, of all classes together.
VALIDATION_ROWS = 20_000
# Rows copied at a time where those of a fold are picked out.
_ROWS_AT_ONCE = 65536
Folds = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class MomentPlan:
    """What a learner wants gathered in a pass over labeled rows.

    Attributes
    ----------
    transform : RowTransform
        What happens to the rows before they are summed.
    centered : bool
        Whether to take moments about the mean.
    by_class : bool
        Whether to keep a Gram matrix for each class, not only their sum.
    chooses : bool
        Whether parameters are chosen by folds of classes, so that the classes must be known.
    classes : ndarray or None
        Classes whose rows are used; None means all.
    folds : tuple of ndarray
        Classes of each fold; empty if nothing is chosen or there are too few classes.
    validation_rows : int
        Rows to keep for judging models, over all classes together.

    Examples
    --------
    >>> from zslearn.zero_shot import SAEClassifier
    >>> plan = SAEClassifier({"a": [1], "b": [2], "c": [3], "d": [4]}).moment_plan(list("abcd"))
    >>> plan.transform.norm, plan.chooses, [fold.tolist() for fold in plan.folds]
    ('l2', True, [['c', 'd'], ['a', 'b']])
    """

    transform: RowTransform = field(default_factory=RowTransform)
    centered: bool = False
    by_class: bool = False
    chooses: bool = False
    classes: NDArray | None = None
    folds: tuple[NDArray, ...] = ()
    validation_rows: int = VALIDATION_ROWS

    @property
    def grouping(self) -> Grouping | None:
        """Which classes share a Gram matrix; None means all."""
        if self.folds:
            return Grouping.of_folds(self.folds)
        return Grouping() if self.by_class else None

    @property
    def rows_per_class(self) -> int:
        """Rows of each class to keep for judging models; 0 if nothing is judged."""
        if not self.folds:
            return 0
        return max(1, self.validation_rows // sum(map(len, self.folds)))

    def relabeled(self, relabel: Callable[[NDArray], NDArray]) -> MomentPlan:
        """Return the plan for data that labels its classes differently."""
        classes = None if self.classes is None else relabel(self.classes)
        return replace(self, classes=classes, folds=tuple(map(relabel, self.folds)))

    def facts(self) -> dict[str, Any]:
        """Return everything as JSON-ready values; two plans with the same facts are the same."""
        return {
            **asdict(self),
            "classes": None if self.classes is None else self.classes.tolist(),
            "folds": [fold.tolist() for fold in self.folds],
        }

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> MomentPlan:
        """Return the plan that gave these facts."""
        classes = facts["classes"]
        known = {
            "transform": RowTransform(**facts["transform"]),
            "classes": None if classes is None else np.array(classes),
            "folds": tuple(np.array(fold) for fold in facts["folds"]),
        }
        return cls(**{**facts, **known})


class MomentLearner(ABC):
    """An estimator that learns from moments alone, wherever they were added up.

    `fit`, `zslearn.scale.fit_batches`, a cluster and merged files gather what `moment_plan` asks
    for and hand it to `learn`.
    """

    @abstractmethod
    def moment_plan(self, classes: ArrayLike | None = None) -> MomentPlan:
        """Return what is to be gathered from the data.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), optional
            Training classes; folds cannot be made without them.

        Returns
        -------
        MomentPlan
        """

    @abstractmethod
    def learn(self, moments: FoldedMoments | Moments) -> Self:
        """Learn from what was gathered.

        Parameters
        ----------
        moments : FoldedMoments or Moments
            What a pass by `moment_plan` found, or plain moments of rows transformed as the plan
            says.

        Returns
        -------
        self
        """


@dataclass(frozen=True)
class FoldMoments:
    """What a fold learns from, and the rows it holds out.

    Attributes
    ----------
    train : Moments
        Of the rows learned from.
    classes : ndarray of shape (n_candidates,)
        Classes held out.
    X : array of shape (n_rows, n_coordinates)
        Rows, in the coordinates of the moments.
    rows : ndarray of shape (n_held_out,)
        Which of them are held out.
    truth : ndarray of shape (n_held_out,)
        Position of each one's class in `classes`.
    weights : ndarray of shape (n_held_out,) or None
        Weight of each one; None where all count the same.
    known_rows : ndarray of shape (n_known_held_out,)
        Rows held out of the classes learned from; none unless asked for.
    known_truth : ndarray of shape (n_known_held_out,)
        Position of each one's class in the classes of `train`.
    known_weights : ndarray of shape (n_known_held_out,) or None
        Weight of each one; None where all count the same.
    """

    train: Moments
    classes: NDArray
    X: Any
    rows: NDArray[np.intp]
    truth: NDArray[np.intp]
    weights: NDArray | None = None
    known_rows: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    known_truth: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    known_weights: NDArray | None = None


@dataclass(frozen=True)
class FoldedMoments:
    """Moments of labeled rows, in parts, and rows kept for choosing parameters.

    Results gathered by the same plan from two parts of the data add up to the result for both.

    Attributes
    ----------
    parts : tuple of Moments
        One for each fold of classes, one for each class, or one for everything.
    X : array of shape (n_kept, n_features) or None
        Rows kept, features as in the moments.
    y : ndarray of shape (n_kept,) or None
        Their classes.
    keys : ndarray of shape (n_kept,) or None
        Random keys by which they were kept, see `Reservoir`.
    held_out : tuple of ndarray
        Rows of X that each fold holds out; empty if they are the rows of its own classes.
    basis : RowBasis or None
        Orthonormal basis, if moments and rows are coordinates in the row space of the data.
    plan : MomentPlan or None
        How it was gathered, if known.
    weights : ndarray of shape (n_kept,) or None
        Weights of the rows kept; None where all count the same.
    whole_space : bool
        Whether folds keep all coordinates, also where their rows span fewer.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(4), np.array(["a", "b", "c", "d"])
    >>> parts = Moments.of(X[:2], y[:2]), Moments.of(X[2:], y[2:])
    >>> folded = FoldedMoments(parts, X, y)
    >>> folded.total.n_samples, [rows.tolist() for rows in folded.fold_rows]
    (4.0, [[0, 1], [2, 3]])
    """

    parts: tuple[Moments, ...]
    X: Any = None
    y: NDArray | None = None
    keys: NDArray[np.uint64] | None = None
    held_out: tuple[NDArray[np.intp], ...] = ()
    basis: RowBasis | None = None
    plan: MomentPlan | None = None
    weights: NDArray | None = None
    whole_space: bool = False

    @cached_property
    def total(self) -> Moments:
        """Moments of all samples."""
        return sum(self.parts[1:], self.parts[0])

    @property
    def n_features(self) -> int:
        """Number of features of the data."""
        return self.total.n_features if self.basis is None else self.basis.n_features

    @property
    def has_folds(self) -> bool:
        """Whether there are folds, and rows to judge models by."""
        return self.X is not None and len(self.parts) > 1

    @cached_property
    def fold_rows(self) -> tuple[NDArray[np.intp], ...]:
        """Rows of X that each fold holds out; none without rows."""
        if self.held_out or self.y is None:
            return self.held_out
        # A stream holds out whole classes: those of the fold's own part.
        return tuple(np.flatnonzero(np.isin(self.y, part.classes)) for part in self.parts)

    def fold(self, number: int, spared: NDArray[np.intp] | None = None) -> FoldMoments:
        """Return what one fold learns from and is judged by.

        The moments a fold trains on are the total less the fold's own, so no data is read again.
        Where it trains on fewer rows than there are features, all is given in coordinates of the
        space those rows span: a smaller problem, without a null space, with the same answers.

        Parameters
        ----------
        number : int
            Which fold.
        spared : ndarray of int, optional
            Rows that no fold learns from, of any class that has others.

        Returns
        -------
        FoldMoments
        """
        if self.y is None:
            raise InvalidInputError("models are judged by rows that were kept; there are none.")
        part, rows = self.parts[number], self.fold_rows[number]
        known = np.empty(0, np.intp) if spared is None else np.setdiff1d(spared, rows)
        truth = np.searchsorted(part.classes, self.y[rows])
        # Where the fold's rows lie: in X, or stacked behind one another in the smaller space.
        X = self.X
        places: tuple[NDArray[np.intp], NDArray[np.intp]] = (rows, known)
        spanned = self._spanned(np.concatenate([rows, known]))
        if spanned is None:
            train = self.total - part
            if len(known):
                train = train - _moments_of_rows(self.X, self.y, known, self.weights)
        else:
            train, X = spanned
            places = np.arange(len(rows)), len(rows) + np.arange(len(known))
        return FoldMoments(
            train=train,
            classes=part.classes,
            X=X,
            rows=places[0],
            truth=truth,
            weights=self._weights_of(rows),
            known_rows=places[1],
            known_truth=np.searchsorted(train.classes, self.y[known]),
            known_weights=self._weights_of(known),
        )

    def _weights_of(self, rows: NDArray[np.intp]) -> NDArray | None:
        return None if self.weights is None else self.weights[rows]

    def _spanned(self, rows: NDArray[np.intp]) -> tuple[Moments, NDArray] | None:
        """Moments of all rows but some, and those, in the space of the others, if it is smaller."""
        if not (self.held_out and isinstance(self.X, np.ndarray)) or self.y is None:
            return None  # only a sample of the rows was kept
        if self.whole_space:
            return None
        if len(self.X) - len(rows) >= self.X.shape[1]:
            return None
        others = np.setdiff1d(np.arange(len(self.X)), rows)
        found = subset_coordinates(self._products, others, rows)
        if found is None:
            return None
        L, held_out = found
        return _moments_of_triangle(L, self.y[others], self._weights_of(others)), held_out

    @cached_property
    def _products(self) -> NDArray[np.float64]:
        """Inner products of all rows, of which those of a fold are a part."""
        X = self.X.astype(np.float64, copy=False)
        products: NDArray[np.float64] = X @ X.T
        return products

    def lifted(self, coef: NDArray) -> NDArray:
        """Return maps of the moments' coordinates as maps of the features, along the last axis."""
        return coef if self.basis is None else self.basis.lifted(coef)

    def numbered(self, classes: NDArray) -> FoldedMoments:
        """Return the same with the position in the sorted `classes` in place of each label.

        Folds without any sample are left out.
        """
        parts = tuple(
            replace(part, classes=np.searchsorted(classes, part.classes))
            for part in self.parts
            if len(part.classes)
        )
        y = None if self.y is None else np.searchsorted(classes, self.y)
        return replace(self, parts=parts, y=y, plan=None)

    def named(self, names: NDArray, plan: MomentPlan | None = None) -> FoldedMoments:
        """Return the same with ``names[label]`` in place of each label."""
        parts = []
        for part in self.parts:
            labels = names[part.classes]
            order = np.argsort(labels)  # moments keep their classes sorted
            counts, sums = part.counts[order], part.sums[order]
            parts.append(replace(part, classes=labels[order], counts=counts, sums=sums))
        y = None if self.y is None else names[self.y]
        return replace(self, parts=tuple(parts), y=y, plan=plan)

    def __add__(self, other: FoldedMoments) -> FoldedMoments:
        if not isinstance(other, FoldedMoments):
            return NotImplemented
        plan = _common_plan(self, other)
        if plan.by_class:
            parts = added_by_class(self.parts, other.parts)
        else:
            parts = tuple(a + b for a, b in zip(self.parts, other.parts, strict=True))
        return FoldedMoments(parts, *_merged_rows(self, other, plan.rows_per_class), plan=plan)


def added_by_class(a: tuple[Moments, ...], b: tuple[Moments, ...]) -> tuple[Moments, ...]:
    """Add moments of single classes, of which either side may have met others; sorted by class."""
    known = {part.classes.item(): part for part in a}
    for part in b:
        label = part.classes.item()
        known[label] = known[label] + part if label in known else part
    return tuple(known[label] for label in sorted(known))


def _common_plan(a: FoldedMoments, b: FoldedMoments) -> MomentPlan:
    if a.plan is None or b.plan is None:
        raise InvalidInputError(
            "only results gathered by a plan can be added; add the moments themselves by +."
        )
    if a.plan.facts() != b.plan.facts():
        raise InvalidInputError(
            "parts gathered by different plans cannot be added: the method, its parameters, the "
            "classes and validation_rows must be the same. To choose parameters, pass all training "
            "classes as classes= for every part."
        )
    return a.plan


def _merged_rows(a: FoldedMoments, b: FoldedMoments, per_class: int) -> tuple[Any, Any, Any]:
    """Rows kept from both, cut to the number wanted."""
    # Keys depend on the rows alone, so that this is the sample that one pass would have kept.
    given = [part for part in (a, b) if part.X is not None and len(part.X)]
    if len(given) < 2:
        kept = given[0] if given else a
        return kept.X, kept.y, kept.keys
    X, y, keys = (
        np.concatenate([getattr(part, name) for part in given]) for name in ("X", "y", "keys")
    )
    chosen = smallest_keys(y, keys, per_class)
    return X[chosen], y[chosen], keys[chosen]


def smallest_keys(y: NDArray, keys: NDArray[np.uint64], most: int) -> NDArray[np.intp]:
    """Rows with the smallest keys of each class, sorted by class and key."""
    _, index = np.unique(y, return_inverse=True)
    order = np.lexsort((keys, index))
    # Rank of each row within its class: its place less that of the first row of the class.
    starts = np.flatnonzero(np.diff(index[order], prepend=-1))
    rank = np.arange(len(y)) - np.repeat(starts, np.diff(starts, append=len(y)))
    return order[rank < most]


def gather_rows(
    X: Any,
    y: NDArray,
    folds: Folds = (),
    weights: NDArray | None = None,
    *,
    basis: RowBasis | None = None,
    whole_space: bool = False,
) -> FoldedMoments:
    """Gather the moments of rows in memory, by fold if there are any.

    With fewer samples than features everything is done in the row space, which is exact.

    Parameters
    ----------
    X : array, sparse matrix or LazyRows of shape (n_samples, n_features)
        Features as the method sees them.
    y : ndarray of shape (n_samples,)
        Class of each sample.
    folds : sequence of (train rows, held-out rows)
        Folds of classes or of samples that hold out each row once.
    weights : ndarray of shape (n_samples,), optional
        Positive weight of each sample; by default all count the same.
    basis : RowBasis, optional
        If X holds coordinates in a basis already.
    whole_space : bool, default=False
        Whether to keep all features, because vectors that the samples do not span are of interest.

    Returns
    -------
    FoldedMoments
    """
    if basis is None and not whole_space:
        X, basis = reduced(X)
    if not folds:
        return FoldedMoments((Moments.of(X, y, sample_weight=weights),), basis=basis)
    held_out = tuple(rows for _, rows in folds)
    # One pass over the data in all: a fold trains on the total minus its own part.
    parts = tuple(_moments_of_rows(X, y, rows, weights) for rows in held_out)
    return FoldedMoments(
        parts, X, y, held_out=held_out, basis=basis, weights=weights, whole_space=whole_space
    )


def _moments_of_rows(
    X: Any, y: NDArray, rows: NDArray[np.intp], weights: NDArray | None
) -> Moments:
    """Moments of some rows, copied a bounded number at a time."""

    def moments(part: NDArray[np.intp]) -> Moments:
        weight = None if weights is None else weights[part]
        return Moments.of(X[part], y[part], sample_weight=weight)

    starts = range(_ROWS_AT_ONCE, len(rows), _ROWS_AT_ONCE)
    first, *rest = np.split(rows, starts)
    total = moments(first)
    for part in rest:
        total += moments(part)
    return total


def _moments_of_triangle(L: NDArray, labels: NDArray, weights: NDArray | None) -> Moments:
    """Moments of the rows of a lower triangular matrix."""
    # Sums by a one-hot product, Gram matrix by the structure of L.
    classes, index = np.unique(labels, return_inverse=True)
    counts = np.bincount(index, weights).astype(np.float64)
    member = (classes[:, None] == labels).astype(np.float64)
    if weights is None:
        return Moments(classes, counts, member @ L, triangle_gram(L), np.zeros(len(L)))
    gram = triangle_gram(np.sqrt(weights)[:, None] * L)  # as triangular as L
    return Moments(classes, counts, (member * weights) @ L, gram, np.zeros(len(L)))
