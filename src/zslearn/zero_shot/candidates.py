"""Candidates as a scorer compares them with samples; changes share all other rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn.core.magnitudes import check_finite
from zslearn.core.nearest import SCORE_BYTES, best_columns, row_blocks
from zslearn.core.rows import LazyRows
from zslearn.core.threads import map_blocks
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.zero_shot.scoring import Scorer


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
        # Fields that are no arrays, such as the metric, are those of all classes alike.
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
# Those prepared once are scored by parts of at most this many. A product reads all class vectors
# anew for each block of samples; fewer classes leave room for more samples in a block of scores.
CLASS_PART = 11_000


class ReadySamples:
    """Samples as one scorer compares them; made by ``recognizer.ready(X)``.

    The recognizer that made them takes them in place of features, and so does every one that came
    from it by `replace`, `without` or `among`.

    Parameters
    ----------
    scorer : Scorer
        The scorer of the recognizer.
    shape : tuple of int
        Shape of the features they were made of.
    queries : array, or mapping or tuple of arrays
        What the scorer compares with classes.

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

    __slots__ = ("queries", "scorer", "shape")

    def __init__(self, scorer: Scorer, shape: tuple[int, int], queries: Any) -> None:
        self.scorer = scorer
        self.shape = shape
        self.queries = queries

    def __getitem__(self, rows: Any) -> ReadySamples:
        n = len(np.arange(self.shape[0])[rows])
        return ReadySamples(self.scorer, (n, self.shape[1]), _part(self.queries, rows))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"ReadySamples({len(self)} samples)"


def _part(queries: Any, rows: Any) -> Any:
    """Return some rows of every array of queries."""
    if isinstance(queries, Mapping):
        return {key: _part(query, rows) for key, query in queries.items()}
    if isinstance(queries, tuple):
        return tuple(_part(query, rows) for query in queries)
    return queries[rows]


def kept_queries(queries: Any, X: Any) -> Any:
    """Return queries, with a copy in place of every array that lies in the features of the user.

    Methods that neither rescale nor map samples compare the features themselves.
    """
    if isinstance(queries, Mapping):
        return {key: kept_queries(query, X) for key, query in queries.items()}
    if isinstance(queries, tuple):
        return tuple(kept_queries(query, X) for query in queries)
    if sparse.issparse(queries):
        shared = sparse.issparse(X) and np.may_share_memory(queries.data, X.tocsr().data)
    else:
        # Lists of texts and pictures are mapped; frames show the memory that they hold.
        shared = hasattr(X, "__array__") and np.may_share_memory(queries, np.asarray(X))
    return queries.copy() if shared else queries


def whole_rows(rows: Any) -> Any:
    """Return rows in memory, also those that are normalized when they are used."""
    return rows[:] if isinstance(rows, LazyRows) else rows


class ClassRows(NamedTuple):
    """One row per class: raw signatures, and what a scorer prepared of them (None if later)."""

    vectors: NDArray
    prepared: Any


@dataclass(frozen=True, eq=False)
class Candidates:
    """Classes allowed as answers, as one scorer sees them.

    Attributes
    ----------
    scorer : Scorer
        What prepares and compares.
    names : ndarray of shape (n_candidates,)
        Class names.
    base : ClassRows
        The classes this set began with, prepared in parts; never copied by a change.
    changed : ClassRows or None
        Classes replaced or added since.
    columns : ndarray of shape (n_candidates,) or None
        Place of each candidate among the rows of `base` followed by those of `changed`; None if
        the candidates are the rows of `base`.
    """

    scorer: Scorer
    names: NDArray
    base: ClassRows
    changed: ClassRows | None = None
    columns: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, scorer: Scorer, names: NDArray, vectors: NDArray) -> Candidates:
        """Prepare candidates given by their names and raw signatures."""
        separable, n = scorer.zero_shot_tags.separable, len(names)
        # A row depends on its own class alone, so a block may be prepared when it is asked.
        if separable and n > CLASS_BLOCK:
            return cls(scorer, names, ClassRows(vectors, None))
        # Parts of nearly equal size; a method that looks at all classes at once gets them in one.
        n_parts = math.ceil(n / CLASS_PART) if separable else 1
        bounds = [n * i // n_parts for i in range(n_parts + 1)]
        parts = map(slice, bounds, bounds[1:])
        prepared = [(part, scorer.prepare(names[part], vectors[part])) for part in parts]
        return cls(scorer, names, ClassRows(vectors, prepared))

    @property
    def vectors(self) -> NDArray:
        """Raw signatures of shape (n_candidates, n_dimensions)."""
        return self._vectors(slice(None))

    def place(self, name: Any) -> int | None:
        """Return the number of a candidate, None if it is not one."""
        if np.ndim(name):  # a list with a name is no name
            return None
        found = np.flatnonzero(self.names == name)
        return int(found[0]) if len(found) else None

    def vector(self, place: int) -> NDArray:
        """Return the raw signature of a candidate."""
        return self._vectors(slice(place, place + 1))[0]

    def with_class(self, name: Any, vector: NDArray) -> Candidates:
        """Return candidates with one class changed, or added behind the last."""
        place = self.place(name)
        names = np.append(self.names, name) if place is None else self.names
        place = len(self.names) if place is None else place
        if not self.scorer.zero_shot_tags.separable:
            return Candidates.of(self.scorer, names, with_row(self.vectors, place, vector[None]))
        # The base stays as it is: one row is prepared, and one number points at it.
        new = np.array([name])
        prepared = self.base.prepared is not None
        ready = self.scorer.prepare(new, vector[None]) if prepared else None
        return self._with_rows(names, place, ClassRows(vector[None], ready))

    def without(self, place: int) -> Candidates:
        """Return candidates without one of them; a row that was added for it is dropped."""
        left = self.among(np.delete(np.arange(len(self.names)), place))
        n, column = len(self.base.vectors), self._columns[place]
        if column < n or not self.scorer.zero_shot_tags.separable or self.changed is None:
            return left
        # Rows behind the dropped one move up by one.
        columns = left._columns - (left._columns > column)
        if len(self.changed.vectors) == 1:
            return replace(left, changed=None, columns=columns)
        changed = ClassRows(*without_row(tuple(self.changed), int(column) - n))
        return replace(left, changed=changed, columns=columns)

    def among(self, places: NDArray[np.intp]) -> Candidates:
        """Return some of the candidates, in the order given."""
        names = self.names[places]
        if not self.scorer.zero_shot_tags.separable:
            return Candidates.of(self.scorer, names, self.vectors[places])
        return replace(self, names=names, columns=self._columns[places])

    def scores(self, X: Any) -> NDArray:
        """Return the score of each candidate for samples, ready or not."""
        found = [np.concatenate(parts) for _, parts in self._each_block(X, np.asarray)]
        return found[0] if len(found) == 1 else np.hstack(found)

    def best(self, X: Any, k: int) -> tuple[NDArray[np.intp], NDArray]:
        """Return numbers and scores of the k best candidates of each sample, best first."""
        best: Any = None
        for start, parts in self._each_block(X, partial(best_columns, k=k)):
            places, scores = (
                parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
            )
            # Blocks come in the order of the candidates, so equal scores keep that order.
            places = places + start
            if best is not None:  # the best of those so far and of this block
                places, scores = np.hstack([best[0], places]), np.hstack([best[1], scores])
                order, scores = best_columns(scores, k)
                places = np.take_along_axis(places, order, axis=1)
            best = places, scores
        return best

    def familiarity(self, X: Any, answers: NDArray[np.intp]) -> NDArray | None:
        """Return how familiar samples are with one candidate each, (n_samples, 2), if known."""
        parts = []
        for part, queries in self._represented(X):
            # Only the classes that are somebody's answer.
            places, which = np.unique(answers[part], return_inverse=True)
            vectors = self.vectors[places]
            ratios = self.scorer.familiarity(queries, self.names[places], vectors)
            if ratios is None:
                return None
            parts.append(ratios[:, np.arange(len(which)), which].T)
        return np.concatenate(parts) if parts else np.empty((0, 2))

    def familiarity_table(self, X: Any) -> NDArray | None:
        """Return how familiar samples are with all candidates, (2, n_samples, n_candidates)."""
        parts = []
        for _, queries in self._represented(X):
            ratios = self.scorer.familiarity(queries, self.names, self.vectors)
            if ratios is None:
                return None
            parts.append(ratios.astype(np.float32))
        return np.concatenate(parts, axis=1) if parts else np.empty((2, 0, len(self.names)))

    def _represented(self, X: Any) -> Iterator[tuple[slice, Any]]:
        """Yield parts of the samples, of bounded memory, as the scorer compares them."""
        rows = X if isinstance(X, ReadySamples) else self.scorer.check_rows(X)
        n, n_features = rows.shape
        # A whitened copy, its products and both distances stand beside the samples.
        for part in row_blocks(n, 4 * max(n_features, len(self.names)) * 8, SCORE_BYTES):
            some = rows[part]
            ready = isinstance(some, ReadySamples)
            yield part, some.queries if ready else self.scorer.represent(some)

    def _each_block(
        self, X: Any, work: Callable[[NDArray], Any]
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the place of each block of candidates, and `work` done on its scores.

        Samples come in parts of bounded memory, in threads if that gains time; a transductive
        method gets the batch whole.
        """
        scorer, rows = self.scorer, X
        if not isinstance(X, ReadySamples):
            rows = scorer.check_rows(X)
        elif X.scorer is not scorer:
            raise InvalidInputError(
                f"{X!r} were made ready by another recognizer; call ready of this one."
            )
        n, n_features = rows.shape
        itemsize = getattr(getattr(rows, "dtype", None), "itemsize", 8)
        for block, compare in self._blocks():
            size, parts = block.stop - block.start, [slice(0, n)]
            # A block of scores and the block of rows it is made of both have to fit.
            bytes_per_row = max(size, n_features) * itemsize
            if not scorer.zero_shot_tags.transductive and n * bytes_per_row > SCORE_BYTES:
                parts = list(row_blocks(n, bytes_per_row, SCORE_BYTES))

            def scored(part: slice, compare: Any = compare) -> Any:
                some = rows[part]
                ready = isinstance(some, ReadySamples)
                found = work(compare(some.queries if ready else scorer.represent(some)))
                # Of the best scores alone where only these are wanted: NaN counts as the best.
                check_finite(found[1] if isinstance(found, tuple) else found, "scores", part.start)
                return found

            yield block.start, list(map_blocks(scored, parts, n * size))

    def _blocks(self) -> Iterator[tuple[slice, Callable[[Any], NDArray]]]:
        """Yield the candidates in blocks, with how they are compared with queries."""
        n, compare = len(self.names), self.scorer.compare
        if self.base.prepared is None:  # too many to keep: prepared one block at a time
            for start in range(0, n, CLASS_BLOCK):
                part = slice(start, min(start + CLASS_BLOCK, n))
                prepared = self.scorer.prepare(self.names[part], self._vectors(part))
                yield part, partial(compare, classes=prepared)
        elif self.columns is None:
            for part, prepared in self.base.prepared:
                yield part, partial(compare, classes=prepared)
        else:
            yield slice(0, n), self._compare

    @property
    def _columns(self) -> NDArray[np.intp]:
        return np.arange(len(self.names)) if self.columns is None else self.columns

    def _compare(self, queries: Any) -> NDArray:
        """Scores of candidates that are no longer the rows of `base`."""
        ready = [prepared for _, prepared in self.base.prepared]
        changed = [] if self.changed is None else [self.changed.prepared]
        parts = [self.scorer.compare(queries, some) for some in [*ready, *changed]]
        # All rows are compared and columns taken of the scores, so that no class vector is copied.
        return (np.hstack(parts) if len(parts) > 1 else parts[0])[:, self.columns]

    def _vectors(self, part: slice) -> NDArray:
        """Raw signatures of some candidates."""
        if self.columns is None:
            return self.base.vectors[part]
        columns, n = self.columns[part], len(self.base.vectors)
        # Numbers from n on are rows of `changed`; what stands here for them is overwritten.
        found = self.base.vectors[np.minimum(columns, n - 1)]
        if self.changed is not None:
            found[columns >= n] = self.changed.vectors[columns[columns >= n] - n]
        return found

    def _with_rows(self, names: NDArray, place: int, row: ClassRows) -> Candidates:
        """Point one candidate at a row of `changed`: its own, or a new one."""
        n, columns = len(self.base.vectors), self._columns
        last = 0 if self.changed is None else len(self.changed.vectors)
        # A class that was changed before has a row already, which no other candidate uses.
        own = place < len(columns) and columns[place] >= n
        target = int(columns[place]) - n if own else last
        changed = (
            row if self.changed is None else ClassRows(*with_row(tuple(self.changed), target, row))
        )
        columns = with_row(columns, place, np.array([n + target]))
        return replace(self, names=names, changed=changed, columns=columns)
