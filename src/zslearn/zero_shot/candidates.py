"""The candidates of a recognizer, made ready for scoring; changes share all other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.core.rows import LazyRows
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
)


def with_row(state: Any, position: int, row: Any) -> Any:
    """Return prepared classes with one row replaced, or added at the end.

    Parameters
    ----------
    state : array, None, or a tuple, dict or dataclass of them
        Arrays of shape (n_classes, ...).
    position : int
        Which row; n_classes adds one.
    row : like `state`
        The same for one class: arrays of shape (1, ...).

    Returns
    -------
    like `state`

    Examples
    --------
    >>> import numpy as np
    >>> with_row((np.array([1, 2, 3]), None), 1, (np.array([7]), None))
    (array([1, 7, 3]), None)
    """

    def exchanged(rows: NDArray[Any], one: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([rows[:position], one, rows[position + 1 :]])

    return _map_arrays(exchanged, state, row)


def without_row(state: Any, position: int) -> Any:
    """Return prepared classes with one row less.

    Parameters
    ----------
    state : array, None, or a tuple, dict or dataclass of them
        Arrays of shape (n_classes, ...).
    position : int
        Which row.

    Returns
    -------
    like `state`

    Examples
    --------
    >>> import numpy as np
    >>> without_row((np.array([1, 2, 3]), None), 1)
    (array([1, 3]), None)
    """
    return _map_arrays(lambda rows, _: np.delete(rows, position, axis=0), state, state)


def _map_arrays(function: Callable[..., NDArray[Any]], first: Any, second: Any) -> Any:
    """Apply a function to the arrays of two states of the same form."""
    if first is None:
        return None
    if isinstance(first, np.ndarray):
        return function(first, second)
    if isinstance(first, tuple):
        pairs = zip(first, second, strict=True)
        return tuple(_map_arrays(function, one, other) for one, other in pairs)
    if isinstance(first, dict):
        return {key: _map_arrays(function, part, second[key]) for key, part in first.items()}
    if is_dataclass(first) and not isinstance(first, type):
        parts = {field.name: getattr(first, field.name) for field in fields(first) if field.init}
        changed = {
            name: _map_arrays(function, part, getattr(second, name))
            for name, part in parts.items()
            if isinstance(part, np.ndarray)
        }
        return replace(first, **changed)
    raise InvalidTypeError(
        f"classes are prepared as arrays, tuples, dicts and dataclasses; got {first!r}."
    )


# Candidates above this number are prepared in blocks whenever they are scored; below, once.
CLASS_BLOCK = 32_768


class Rows(NamedTuple):
    """One row per class: raw signatures, and what a model prepared of them (None if later)."""

    vectors: NDArray
    prepared: Any


class Block(NamedTuple):
    """Candidates that are scored together: the first, how many, and their scores of samples."""

    start: int
    size: int
    scores: Callable[[Any], NDArray]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Classes allowed as answers, as one model scores them.

    Attributes
    ----------
    model : ZeroShotClassifier
        What prepares and scores.
    names : ndarray of shape (n_candidates,)
        Class names.
    base : Rows
        The classes this set began with; never copied by a change.
    changed : Rows or None
        Classes replaced or added since.
    columns : ndarray of shape (n_candidates,) or None
        Place of each candidate among the rows of `base` followed by those of `changed`; None if
        the candidates are the rows of `base`.
    """

    model: Any
    names: NDArray
    base: Rows
    changed: Rows | None = None
    columns: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, model: Any, names: NDArray, vectors: NDArray) -> Candidates:
        """Prepare candidates given by their names and raw signatures."""
        at_once = len(names) <= CLASS_BLOCK or not model.zero_shot_tags.separable
        prepared = model._prepared(names, vectors) if at_once else None
        return cls(model, names, Rows(vectors, prepared))

    @property
    def vectors(self) -> NDArray:
        """Raw signatures of shape (n_candidates, n_dimensions)."""
        return self._vectors(slice(None))

    def place(self, name: Any) -> int | None:
        """Return the number of a candidate, None if it is not one."""
        found = np.flatnonzero(self.names == name)
        return int(found[0]) if len(found) else None

    def vector(self, place: int) -> NDArray:
        """Return the raw signature of a candidate."""
        return self._vectors(slice(place, place + 1))[0]

    def prepared_class(self, place: int) -> Any:
        """Return one candidate, prepared apart from the others."""
        return self.model._prepared(self.names[place : place + 1], self.vector(place)[None])

    def with_class(self, name: Any, vector: NDArray) -> Candidates:
        """Return candidates with one class changed, or added behind the last."""
        place = self.place(name)
        names = np.append(self.names, name) if place is None else self.names
        place = len(self.names) if place is None else place
        if not self.model.zero_shot_tags.separable:
            return Candidates.of(self.model, names, with_row(self.vectors, place, vector[None]))
        new = np.array([name])
        prepared = self.base.prepared is not None
        ready = self.model._prepared(new, vector[None]) if prepared else None
        return self._with_rows(names, place, Rows(vector[None], ready))

    def without(self, place: int) -> Candidates:
        """Return candidates without one of them; a row that was added for it is dropped."""
        left = self.among(np.delete(np.arange(len(self.names)), place))
        n, column = len(self.base.vectors), self._columns[place]
        if column < n or not self.model.zero_shot_tags.separable or self.changed is None:
            return left
        columns = left._columns - (left._columns > column)
        if len(self.changed.vectors) == 1:
            return replace(left, changed=None, columns=columns)
        changed = Rows(*without_row(tuple(self.changed), int(column) - n))
        return replace(left, changed=changed, columns=columns)

    def among(self, places: NDArray[np.intp]) -> Candidates:
        """Return some of the candidates, in the order given."""
        names = self.names[places]
        if not self.model.zero_shot_tags.separable:
            return Candidates.of(self.model, names, self.vectors[places])
        return replace(self, names=names, columns=self._columns[places])

    def blocks(self) -> Iterator[Block]:
        """Yield the candidates with their scores: all at once, or blocks prepared one by one."""
        n = len(self.names)
        if self.base.prepared is not None:
            yield Block(0, n, self._scores)
            return
        for start in range(0, n, CLASS_BLOCK):
            part = slice(start, min(start + CLASS_BLOCK, n))
            prepared = self.model._prepared(self.names[part], self._vectors(part))
            yield Block(start, part.stop - start, partial(score, self.model, prepared=prepared))

    @property
    def _columns(self) -> NDArray[np.intp]:
        return np.arange(len(self.names)) if self.columns is None else self.columns

    def _scores(self, X: Any) -> NDArray:
        scores = score(self.model, X, self.base.prepared)
        if self.changed is not None:
            scores = np.hstack([scores, score(self.model, X, self.changed.prepared)])
        return scores if self.columns is None else scores[:, self.columns]

    def _vectors(self, part: slice) -> NDArray:
        """Raw signatures of some candidates."""
        if self.columns is None:
            return self.base.vectors[part]
        columns, n = self.columns[part], len(self.base.vectors)
        found = self.base.vectors[np.minimum(columns, n - 1)]
        if self.changed is not None:
            found[columns >= n] = self.changed.vectors[columns[columns >= n] - n]
        return found

    def _with_rows(self, names: NDArray, place: int, row: Rows) -> Candidates:
        """Point one candidate at a row of `changed`: its own, or a new one."""
        n, columns = len(self.base.vectors), self._columns
        last = 0 if self.changed is None else len(self.changed.vectors)
        own = place < len(columns) and columns[place] >= n
        target = int(columns[place]) - n if own else last
        changed = row if self.changed is None else Rows(*with_row(tuple(self.changed), target, row))
        columns = with_row(columns, place, np.array([n + target]))
        return replace(self, names=names, changed=changed, columns=columns)


class ReadySamples:
    """Samples as one model scores them; made by ``recognizer.ready(X)``.

    The recognizer that made them takes them in place of features, and so does every one that came
    from it by `replace`, `without` or `among`.

    Parameters
    ----------
    model : ZeroShotClassifier
        The model of the recognizer.
    shape : tuple of int
        Shape of the features they were made of.
    queries : array, or mapping of str to array
        What the model compares with class vectors.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> recognizer = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y).recognizer()
    >>> ready = recognizer.ready(data.X)
    >>> new = recognizer.replace("new", data.signatures.vectors[:2].mean(axis=0))
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
                f"{self!r} were made ready by another recognizer; call ready of this one."
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
