"""Candidates prepared once: what many calls with the same classifier and candidates share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

# Below this size (candidates times features) preparing again costs less than a millisecond or so.
_WORTH_KEEPING = 1_000_000
_SAMPLES = 65_536


@dataclass(frozen=True)
class _Entry:
    """Candidates of one classifier, and everything they were prepared from."""

    state: tuple[Any, ...]
    marks: tuple[float, ...]
    names: NDArray
    prepared: Any


# Outside of the classifiers, so that predicting does not change them, nor saving save it.
_entries: WeakKeyDictionary[Any, _Entry] = WeakKeyDictionary()


def prepared_once(classifier: Any, names: NDArray, prepare: Callable[[], Any]) -> Any:
    """Return what `prepare` returns, from the last call if nothing has changed since.

    The last large set of candidates of each classifier is kept, as long as the classifier lives.
    Whatever is set anew on the classifier, a parameter or a learned array, makes it void.
    """
    if len(names) * getattr(classifier, "n_features_in_", 0) < _WORTH_KEEPING:
        return prepare()
    state = tuple(vars(classifier).values())
    marks = tuple(_mark(value) for value in state)
    entry = _entries.get(classifier)
    if entry is None or not _same(entry, state, marks, names):
        entry = _Entry(state, marks, names, prepare())
        _entries[classifier] = entry
    return entry.prepared


def _same(entry: _Entry, state: tuple[Any, ...], marks: tuple[float, ...], names: NDArray) -> bool:
    if len(entry.state) != len(state) or entry.marks != marks:
        return False
    unchanged = all(old is new for old, new in zip(entry.state, state, strict=True))
    return unchanged and (entry.names is names or np.array_equal(entry.names, names))


def _mark(value: Any) -> float:
    """Return a sum over an array, which tells that it was written to in place."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.size == 0:
        return 0.0
    flat = value.ravel()
    total = float(flat[:: max(1, flat.size // _SAMPLES)].sum())
    return total if np.isfinite(total) else 0.0
