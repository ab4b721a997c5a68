"""Cross-validation whose folds are sets of classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from zslearn._parameters import Constraint, Flag, Number, RandomSource, Whole, check_parameters
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection.labels import check_class_labels
from zslearn.model_selection.stratified_holdout import stratified_holdout


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
