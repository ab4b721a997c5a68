"""How well the samples are answered, class by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE = -1


@dataclass(frozen=True, eq=False)
class Answers:
    """What all samples are answered, in numbers of classes, and how right that is.

    Accuracies count test rows only: rows that no model was trained on.

    Attributes
    ----------
    ids : ndarray of shape (n_classes,), int32
        The classes.
    answer, second : ndarray of shape (n_samples,), int32
        Numbers of classes; -1 is "none of these".
    margin : ndarray of shape (n_samples,), float32
        The best score minus the second.
    truth : ndarray of shape (n_samples,), int32
        Numbers of classes; -1 where the class is not known or not described.
    count, right, answered, rows, taken : ndarray of shape (n_classes,)
        Test rows of each class, those answered rightly, test rows answered with it; then rows and
        answers with it among all rows.
    summary : dict
        Mean accuracy over classes, of all, seen and unseen ones, and the harmonic mean.
    """

    ids: NDArray[np.int32]
    answer: NDArray[np.int32]
    second: NDArray[np.int32]
    margin: NDArray[np.float32]
    truth: NDArray[np.int32]
    count: NDArray[np.intp]
    right: NDArray[np.intp]
    answered: NDArray[np.intp]
    rows: NDArray[np.intp]
    taken: NDArray[np.intp]
    summary: dict[str, Any]

    def by_class(self) -> list[dict[str, Any]]:
        """Return the figures of each class."""
        columns = (self.ids, self.count, self.right, self.answered, self.rows, self.taken)
        return [
            {
                "id": number,
                "count": count,
                "right": right,
                "answered": answered,
                "rows": rows,
                "taken": taken,
                "accuracy": right / count if count else None,
            }
            for number, count, right, answered, rows, taken in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]


def count_answers(
    ids: NDArray[np.int32],
    seen: NDArray[np.bool_],
    columns: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]],
    truth: NDArray[np.intp],
    test: NDArray[np.bool_],
    threshold: float | None,
) -> Answers:
    """Turn the best columns of samples into answers and figures.

    Parameters
    ----------
    ids, seen : ndarray of shape (n_classes,)
        Numbers of the classes, and which were seen in training.
    columns : (best, second, margin)
        As a board chooses them.
    truth : ndarray of shape (n_samples,)
        Column of the true class, -1 where there is none.
    test : ndarray of bool of shape (n_samples,)
        Which rows were not trained on.
    threshold : float or None
        Answers of smaller margin become "none of these".

    Returns
    -------
    Answers
    """
    best, second, margin = columns
    n = len(ids)
    kept = np.ones(len(best), bool) if threshold is None else margin >= threshold
    given = np.where(kept, best, NONE)
    known = test & (truth >= 0)
    count = np.bincount(truth[known], minlength=n)
    right = np.bincount(truth[known & (given == truth)], minlength=n)
    named = np.append(ids, np.int32(NONE))
    return Answers(
        ids,
        named[given],
        ids[second],
        margin,
        named[truth],
        count,
        right,
        np.bincount(given[test & kept], minlength=n),
        np.bincount(truth[truth >= 0], minlength=n),
        np.bincount(given[kept], minlength=n),
        _summary(count, right, seen, int((test & ~kept).sum()), int(test.sum())),
    )


def _summary(
    count: NDArray[np.intp],
    right: NDArray[np.intp],
    seen: NDArray[np.bool_],
    n_rejected: int,
    n_test: int,
) -> dict[str, Any]:
    def mean(which: NDArray[np.bool_]) -> float | None:
        some = which & (count > 0)
        return float((right[some] / count[some]).mean()) if some.any() else None

    of_seen, of_unseen = mean(seen), mean(~seen)
    both = of_seen is not None and of_unseen is not None
    h = None
    if of_seen is not None and of_unseen is not None:
        total = of_seen + of_unseen
        h = 2 * of_seen * of_unseen / total if total else 0.0
    return {
        "accuracy": mean(np.ones(len(count), bool)),
        "seen": of_seen,
        "unseen": of_unseen,
        "h": h if both else None,
        "rejected": n_rejected / n_test if n_test else None,
        "n_rejected": n_rejected,
    }
