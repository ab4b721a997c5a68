"""A share of the samples of every class, kept for testing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from zslearn._parameters import Number, RandomSource, check_value
from zslearn.model_selection.labels import check_class_labels


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
