"""Samples made ready for scoring once, for recognisers whose classes change one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from zslearn.core.rows import LazyRows
from zslearn.exceptions import InvalidInputError


class ReadySamples:
    """Samples as one model scores them; made by ``recogniser.ready(X)``.

    The recogniser that made them takes them in place of features, and so does every one that came
    from it by `replace`, `without` or `among`.

    Parameters
    ----------
    model : ZeroShotClassifier
        The model of the recogniser.
    shape : tuple of int
        Shape of the features they were made of.
    queries : array, or mapping of str to array
        What the model compares with class vectors.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> recogniser = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y).recogniser()
    >>> ready = recogniser.ready(data.X)
    >>> new = recogniser.replace("new", data.signatures.vectors[:2].mean(axis=0))
    >>> new.column(ready, "new").shape == (len(data.X),)
    True
    """

    __slots__ = ("model", "queries", "shape")

    def __init__(self, model: Any, shape: tuple[int, int], queries: Any) -> None:
        self.model = model
        self.shape = shape
        self.queries = queries

    def of(self, model: Any) -> ReadySamples:
        """Return the samples themselves if they were made for this model, or refuse."""
        if self.model is not model:
            raise InvalidInputError(
                f"{self!r} were made ready by another recogniser; call ready of this one."
            )
        return self

    def __getitem__(self, rows: Any) -> ReadySamples:
        if isinstance(self.queries, Mapping):
            part: Any = {key: query[rows] for key, query in self.queries.items()}
            n = next(iter(part.values())).shape[0]
        else:
            part = self.queries[rows]
            n = part.shape[0]
        return ReadySamples(self.model, (n, self.shape[1]), part)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"ReadySamples({len(self)} samples for {type(self.model).__name__})"


def score(model: Any, X: Any, prepared: Any) -> NDArray:
    """Return the scores of samples, ready or not, for prepared candidates."""
    if isinstance(X, ReadySamples):
        return score_queries(model, X.queries, prepared)
    return model._score(X, prepared)


def queries_of(model: Any, X: Any) -> Any:
    """Return what a model turns samples into before it compares them with any candidate."""
    return model._queries(X) if _has_queries(model) else X


def score_queries(model: Any, queries: Any, prepared: Any) -> NDArray:
    """Return the scores of what `queries_of` returned."""
    return (model._score_queries if _has_queries(model) else model._score)(queries, prepared)


def _has_queries(model: Any) -> bool:
    """Say whether the class that scores can do it in two steps; its subclasses may score anew."""
    owner = next(kind for kind in type(model).__mro__ if "_score" in vars(kind))
    return "_score_queries" in vars(owner)


def made_ready(model: Any, X: Any) -> ReadySamples:
    """Return features made ready for a model; all of them are in memory in that form."""
    rows = model._ready_rows(X)
    whole = rows[:] if isinstance(rows, LazyRows) else rows
    return ReadySamples(model, rows.shape, queries_of(model, whole))
