"""The label of samples that belong to no candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError


def with_label(
    answers: NDArray[Any], rejected: NDArray[np.bool_], label: Any, classes: NDArray[Any]
) -> NDArray[Any]:
    """Return answers in which rejected ones are replaced by a label that is no class."""
    if label is None:
        label = -1 if classes.dtype.kind in "iu" else "none of these"
    if np.isin(label, classes) or label in classes.tolist():
        raise InvalidInputError(
            f"reject_label {label!r} is the name of a class; choose another label."
        )
    text, whole = isinstance(label, str), isinstance(label, (int, np.integer))
    fits = text if answers.dtype.kind == "U" else whole and answers.dtype.kind == "i"
    if not fits:
        answers = answers.astype(object)
    elif text:
        answers = answers.astype(np.result_type(answers.dtype, np.array(label).dtype))
    answers[rejected] = label
    return answers
