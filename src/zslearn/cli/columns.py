"""The columns a model learned from, so that a table in another order is not misread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zslearn.exceptions import InvalidInputError


def remember_columns(model: Any, columns: Sequence[str]) -> None:
    """Keep the names of the features with a fitted model; none for arrays."""
    if columns:
        model.feature_columns_ = tuple(columns)


def check_columns(model: Any, columns: Sequence[str], path: str) -> None:
    """Refuse a table with as many features as the model's, but other ones or in another order.

    Parameters
    ----------
    model : estimator
        A fitted model, possibly without names.
    columns : sequence of str
        Names of the features in the file; empty where it has no header.
    path : str
        The file, named in the error.
    """
    known = getattr(model, "feature_columns_", ())
    if not columns or len(columns) != len(known):
        return  # nothing to compare; the model itself tells a wrong number of features
    for position, (found, expected) in enumerate(zip(columns, known, strict=True), 1):
        if found != expected:
            raise InvalidInputError(
                f"{path}: feature {position} is called {found!r}; the model learned from "
                f"{expected!r} there. Bring the columns in the order of training, or leave out "
                "the header."
            )
