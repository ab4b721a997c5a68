"""The classes that a first batch announces for all batches to come, as scikit-learn's contract."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.exceptions import InvalidInputError, UnknownClassError
from zslearn.signatures import Signatures


def announced_classes(
    classes: ArrayLike | None, before: NDArray | None, table: Signatures
) -> NDArray | None:
    """Return the classes announced for all batches, checked.

    Parameters
    ----------
    classes : array-like of shape (n_classes,) or None
        What this call of `partial_fit` was given.
    before : ndarray of shape (n_classes,) or None
        What the first one was given.
    table : Signatures
        Every announced class must have a signature.

    Returns
    -------
    ndarray of shape (n_classes,) or None
        Sorted; None if nothing was announced.

    Examples
    --------
    >>> announced_classes(["dog", "cat"], None, Signatures.one_hot(["cat", "dog"])).tolist()
    ['cat', 'dog']
    """
    if classes is None:
        return before
    names = np.unique(np.asarray(classes))
    if before is not None and not np.array_equal(names, before):
        raise InvalidInputError(
            "classes must be the same in every call of partial_fit; before they were "
            f"{', '.join(map(str, before[:5]))}{', ...' if len(before) > 5 else ''}. "
            "Leave it out after the first call."
        )
    missing = [name for name in names.tolist() if name not in table]
    if missing:
        raise UnknownClassError(missing, list(table), "Add a row or leave it out of classes.")
    return names


def check_announced(labels: NDArray, announced: NDArray | None) -> None:
    """Refuse labels of a batch that are not among the announced classes, if there are any."""
    others = labels[:0] if announced is None else np.setdiff1d(labels, announced)
    if announced is not None and len(others):
        raise InvalidInputError(
            f"y holds {others[0]!s}, which is not one of the {len(announced)} classes announced to "
            "partial_fit. Announce it in the first call, or leave out classes=."
        )
