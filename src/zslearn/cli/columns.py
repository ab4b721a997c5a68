"""The columns a model learned from, so that a table in another order is not misread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from zslearn.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def remember_columns(model: Any, columns: Sequence[str]) -> None:
    """Keep the names of the features with a fitted model; none for arrays."""
    if columns:
        model.feature_columns_ = tuple(columns)


def order_columns(model: Any, X: NDArray[Any], columns: Sequence[str], path: str) -> NDArray[Any]:
    """Return the features in the order of training, told apart by their names.

    Parameters
    ----------
    model : estimator
        A fitted model, possibly without names.
    X : ndarray of shape (n_samples, n_features)
        The features of a file.
    columns : sequence of str
        Their names; empty where the file has none.
    path : str
        The file, named in the error.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
    """
    known = list(getattr(model, "feature_columns_", ()))
    found = list(columns)
    if not found or not known or found == known:
        return X
    _check_same(known, found, path)
    click.echo(f"{path}: the columns were brought into the order of training.", err=True)
    import numpy as np

    return np.ascontiguousarray(X[:, [found.index(name) for name in known]])


def _check_same(known: list[str], found: list[str], path: str) -> None:
    """Refuse a table that lacks a feature of the model, or has one that it never saw."""
    from zslearn._tables import spelled_names

    lacking = [name for name in known if name not in found]
    strange = [name for name in found if name not in known]
    if lacking:
        raise InvalidInputError(
            f"{path} has no column {lacking[0]!r}, which the model learned from"
            f"{_more(lacking)}; its columns are {spelled_names(found, lacking[0])}"
        )
    if strange:
        raise InvalidInputError(
            f"{path} has a column {strange[0]!r}, which the model did not learn from"
            f"{_more(strange)}. Leave it out by --ignore."
        )
    if len(set(found)) < len(found):
        raise InvalidInputError(f"{path} has two columns of the same name; rename them.")


def _more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
