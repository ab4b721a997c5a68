"""Splits by class: folds of classes, one split into seen and unseen ones, and a share of each."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from zslearn._parameters import (
    Constraint,
    Either,
    Flag,
    Number,
    RandomSource,
    Whole,
    check_parameters,
    check_value,
)
from zslearn.core.rows import unmasked
from zslearn.exceptions import InvalidInputError, did_you_mean


class ClassKFold(BaseCrossValidator):
    """K-fold cross-validation over classes.

    The classes are cut into `n_splits` folds. A test fold holds every sample of its classes, the
    training set none of them, so each round recognizes classes that are unseen: the honest way to
    choose the parameters of a zero-shot method from seen classes alone. It is
    :class:`~sklearn.model_selection.KFold` with classes in place of samples, and can be passed
    wherever scikit-learn takes ``cv=``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2. The number of classes in the folds differs by at most one.
    shuffle : bool, default=False
        Whether classes are dealt to the folds at random rather than in sorted order.
    holdout : float, default=0
        Share of the samples of each other class that is tested as well and not trained on, for
        measures of the generalized setting such as the harmonic mean. 0 tests the fold's classes
        alone.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling and of the samples held out; give an integer for the same folds in
        every call.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.model_selection import ClassKFold
    >>> y = np.array(["bat", "cow", "bat", "fox", "cow"])
    >>> for train, test in ClassKFold(3).split(np.zeros((5, 2)), y):
    ...     print(train.tolist(), test.tolist(), y[test].tolist())
    [1, 3, 4] [0, 2] ['bat', 'bat']
    [0, 2, 3] [1, 4] ['cow', 'cow']
    [0, 1, 2, 4] [3] ['fox']
    """

    parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "n_splits": Whole(2),
        "shuffle": Flag(),
        "holdout": Number(least=0, below=1),
        "random_state": RandomSource(),
    }

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        holdout: float = 0,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.holdout = holdout
        self.random_state = random_state
        check_parameters(self)
        if not shuffle and not holdout and random_state is not None:
            raise InvalidInputError(
                "random_state has no effect without shuffling; pass shuffle=True or leave it None."
            )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored, present for API consistency with scikit-learn.

        Returns
        -------
        int
            The parameter `n_splits`.
        """
        return self.n_splits

    def class_folds(self, y: ArrayLike) -> list[NDArray[Any]]:
        """Return the classes of each test fold, in the order in which `split` yields the folds.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        list of ndarray
            `n_splits` sorted arrays of class labels; every class is in exactly one.

        Raises
        ------
        InvalidInputError
            If `y` holds no class labels or fewer classes than folds.

        Examples
        --------
        >>> from zslearn.model_selection import ClassKFold
        >>> [fold.tolist() for fold in ClassKFold(2).class_folds([3, 1, 2, 2, 5, 4])]
        [[1, 2, 3], [4, 5]]
        """
        _, classes = check_class_labels(y, "ClassKFold")
        if len(classes) < self.n_splits:
            raise InvalidInputError(
                f"ClassKFold cannot make {self.n_splits} folds of {len(classes)} classes; every "
                "fold needs at least one. Lower n_splits."
            )
        if self.shuffle:
            classes = check_random_state(self.random_state).permutation(classes)
        return [np.sort(fold) for fold in np.array_split(classes, self.n_splits)]

    def _iter_test_masks(
        self, X: Any = None, y: ArrayLike | None = None, groups: Any = None
    ) -> Iterator[NDArray[Any]]:
        """Mark the samples of each fold's classes, and those held out of the others."""
        labels, _ = check_class_labels(y, "ClassKFold")
        for fold in self.class_folds(labels):
            tested = np.isin(labels, fold)
            if self.holdout:
                rest = np.flatnonzero(~tested)
                _, held_out = stratified_holdout(
                    labels[rest], share=self.holdout, random_state=self.random_state
                )
                tested[rest[held_out]] = True
            yield tested


def _are_labels(value: Any) -> bool:
    """Say whether a value is one class label, text or a number, or a list of them."""
    alone = isinstance(value, str) or not np.iterable(value)
    labels = [value] if alone else value
    return all(isinstance(label, str) or Number().allows(label) for label in labels)


class SeenUnseenSplit(BaseCrossValidator):
    """A single split: the samples of seen classes train, those of unseen classes test.

    Name the unseen classes, or say how many to draw at random; exactly one of the two.

    Parameters
    ----------
    unseen : array-like of shape (n_unseen,), optional
        The classes to hold out.
    n_unseen : int or float, optional
        How many classes to draw: an integer is their number, a float between 0 and 1 their share
        (rounded up). At least one class stays seen.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; give an integer for the same classes in every call.

    Examples
    --------
    >>> from zslearn.model_selection import SeenUnseenSplit
    >>> y = ["bat", "cow", "bat", "fox"]
    >>> [(train, test)] = SeenUnseenSplit(["bat"]).split(y, y)
    >>> train.tolist(), test.tolist()
    ([1, 3], [0, 2])
    """

    parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "unseen": Either(None, Constraint("a class label or a list of them", _are_labels)),
        "n_unseen": Either(None, Whole(1), Number(above=0, below=1)),
        "random_state": RandomSource(),
    }

    def __init__(
        self,
        unseen: ArrayLike | None = None,
        *,
        n_unseen: int | float | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.unseen = unseen
        self.n_unseen = n_unseen
        self.random_state = random_state
        check_parameters(self)
        if (unseen is None) == (n_unseen is None):
            raise InvalidInputError(
                "Give either unseen= (the classes to hold out) or n_unseen= (how many to draw); "
                f"got {'neither' if unseen is None else 'both'}."
            )
        if n_unseen is None and random_state is not None:
            raise InvalidInputError(
                "random_state has no effect when unseen= names the classes; leave it None."
            )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1, the number of splits.

        Parameters
        ----------
        X, y, groups : object
            Ignored, present for API consistency with scikit-learn.

        Returns
        -------
        int
            Always 1.
        """
        return 1

    def seen_unseen_classes(self, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the seen and the unseen classes of the split.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        seen, unseen : ndarray
            Sorted class labels; together every class of `y` once.

        Raises
        ------
        InvalidInputError
            If `y` holds no class labels, a named class is not in it or no class stays seen.

        Examples
        --------
        >>> from zslearn.model_selection import SeenUnseenSplit
        >>> seen, unseen = SeenUnseenSplit(["bat"]).seen_unseen_classes(["cow", "bat", "fox"])
        >>> seen.tolist(), unseen.tolist()
        (['cow', 'fox'], ['bat'])
        """
        _, classes = check_class_labels(y, "SeenUnseenSplit")
        unseen = (
            self._named(classes) if self.n_unseen is None else self._draw(classes, self.n_unseen)
        )
        seen = np.setdiff1d(classes, unseen)
        if not seen.size:
            raise InvalidInputError(
                f"All {len(classes)} classes in y would be unseen; at least one must stay seen."
            )
        return seen, unseen

    def _iter_test_masks(
        self, X: Any = None, y: ArrayLike | None = None, groups: Any = None
    ) -> Iterator[NDArray[Any]]:
        """Mark the samples of the unseen classes."""
        labels, _ = check_class_labels(y, "SeenUnseenSplit")
        yield np.isin(labels, self.seen_unseen_classes(labels)[1])

    def _named(self, classes: NDArray[Any]) -> NDArray[Any]:
        """Return the named classes after checking that each is in y."""
        unseen = np.unique(np.atleast_1d(np.asarray(self.unseen)))
        if not unseen.size:
            raise InvalidInputError("unseen is empty; name at least one class to hold out.")
        missing = unseen[~np.isin(unseen, classes)]
        if missing.size:
            first = missing.tolist()[0]
            hint = did_you_mean(first, classes.tolist(), ", the closest is {!r}")
            raise InvalidInputError(
                f"Unseen class {first!r} is not in y, which has {len(classes)} classes{hint}. "
                "Correct the name or leave it out."
            )
        return unseen

    def _draw(self, classes: NDArray[Any], number: int | float) -> NDArray[Any]:
        """Draw the unseen classes at random, without replacement."""
        if not isinstance(number, Integral):
            # The rounding keeps 0.07 · 100 = 7.000000000000001 from becoming 8 classes.
            number = ceil(round(number * len(classes), 9))
        shuffled = check_random_state(self.random_state).permutation(classes)
        return np.sort(shuffled[:number])


def stratified_holdout(
    y: ArrayLike, *, share: float = 0.2, random_state: int | RandomState | None = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Hold out a share of the samples of each class.

    Of the n samples of a class, round(share·n) are held out, at least one and never all; a class
    with a single sample keeps it for training.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each sample.
    share : float, default=0.2
        Share to hold out, between 0 and 1.
    random_state : int, RandomState instance or None, default=0
        Seed of the draw.

    Returns
    -------
    kept, held_out : ndarray of int
        Ascending positions in `y`; together every one once.

    Examples
    --------
    >>> from zslearn.model_selection import stratified_holdout
    >>> y = ["bat"] * 5 + ["cow"] * 10
    >>> kept, held_out = stratified_holdout(y, share=0.2, random_state=0)
    >>> [y[row] for row in held_out]
    ['bat', 'cow', 'cow']
    """
    check_value("share", share, Number(above=0, below=1))
    check_value("random_state", random_state, RandomSource())
    labels, classes = check_class_labels(y, "stratified_holdout")
    index = np.searchsorted(classes, labels)
    counts = np.bincount(index, minlength=len(classes))
    wanted = np.maximum(1, np.rint(share * counts))
    wanted = np.minimum(wanted, counts - 1)
    # Position of each sample in a random order of its class.
    order = check_random_state(random_state).permutation(len(labels))
    grouped = order[np.argsort(index[order], kind="stable")]
    place = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    held_out = np.zeros(len(labels), dtype=bool)
    held_out[grouped] = place < np.repeat(wanted, counts)
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def check_class_labels(y: ArrayLike | None, splitter: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `y` as an array together with its sorted classes."""
    if y is None:
        raise InvalidInputError(f"{splitter} splits over classes and needs y; got None.")
    labels = np.asarray(unmasked(y, "y"))
    if labels.ndim != 1:
        raise InvalidInputError(
            f"{splitter} needs one class label for each sample; got y of shape {labels.shape}."
        )
    if labels.dtype.kind == "f" and not np.all(np.mod(labels, 1) == 0):
        raise InvalidInputError(
            f"{splitter} needs class labels; got continuous y of type {labels.dtype} (or NaN in "
            "it). Pass integers or names."
        )
    try:
        return labels, np.unique(labels)
    except TypeError as error:
        raise InvalidInputError(
            f"{splitter} needs class labels of one kind that can be sorted; y mixes kinds "
            f"({error}). Pass all integers or all names."
        ) from error
