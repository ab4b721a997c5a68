"""One split into seen and unseen classes."""

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

from zslearn._parameters import Constraint, Either, Number, RandomSource, Whole, check_parameters
from zslearn.exceptions import InvalidInputError, closest_name
from zslearn.model_selection.labels import check_class_labels


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
            near = closest_name(first, classes.tolist())
            hint = f", the closest is {near!r}" if near is not None else ""
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
