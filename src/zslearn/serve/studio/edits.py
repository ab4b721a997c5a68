"""What a person changed: a state that edits turn into the next one, always in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoardClass:
    """A class on the board.

    Attributes
    ----------
    id : int
        Its number, never given to another class.
    name : str
        What it is called now.
    row : ndarray of shape (n_dimensions,)
        Its signature, in the units of the class table; empty if nobody has described it.
    seen : bool
        Whether the model was trained on samples of it.
    label : str or None
        The label of its samples, if there are any.
    added : bool
        Whether it was described here.
    changed : bool
        Whether its signature is another one than in the class table.
    """

    id: int
    name: str
    row: FloatArray
    seen: bool = False
    label: str | None = None
    added: bool = False
    changed: bool = False

    @property
    def described(self) -> bool:
        """Whether it has a signature, so that samples can be answered with it."""
        return len(self.row) > 0


UNDESCRIBED: FloatArray = np.empty(0)


@dataclass(frozen=True, eq=False)
class State:
    """Everything that edits change.

    Attributes
    ----------
    classes : mapping of int to BoardClass
        By their numbers, in the order they were added.
    next_id : int
        The number of the next class.
    method, compare : str or None
        The methods shown.
    bias, threshold, lam : mapping of str to float
        What was set by hand, for each method.
    reject : bool
        Whether unsure answers become "none of these".
    """

    classes: Mapping[int, BoardClass]
    next_id: int
    method: str
    compare: str | None = None
    bias: Mapping[str, float] = field(default_factory=dict)
    threshold: Mapping[str, float] = field(default_factory=dict)
    lam: Mapping[str, float] = field(default_factory=dict)
    reject: bool = False

    def class_called(self, name: str) -> BoardClass | None:
        """Return the class of that name, if there is one."""
        return next((one for one in self.classes.values() if one.name == name), None)

    @cached_property
    def described(self) -> dict[int, BoardClass]:
        """The classes that samples can be answered with."""
        return {number: one for number, one in self.classes.items() if one.described}

    def waiting(self, name: str) -> BoardClass | None:
        """Return the class of that name if nobody has described it."""
        found = self.class_called(name)
        return None if found is None or found.described else found

    def with_class(self, one: BoardClass) -> State:
        """Return the state with a class added or exchanged."""
        return replace(self, classes=MappingProxyType({**self.classes, one.id: one}))


def begin(
    table: Mapping[str, FloatArray], seen: Iterable[str], labels: Iterable[str], method: str
) -> State:
    """Return the state before any edit: the classes of a table, then labels without a row."""
    known, own = set(seen), set(labels)
    rows = {**table, **{name: UNDESCRIBED for name in sorted(own - set(table))}}
    classes = {
        number: BoardClass(number, name, row, name in known, name if name in own else None)
        for number, (name, row) in enumerate(rows.items())
    }
    return State(MappingProxyType(classes), len(classes), method)


def applied(state: State, edit: Mapping[str, Any]) -> State:
    """Return the state after an edit that was checked when it was made."""
    return _EDITS[edit["op"]](state, edit)


def replayed(state: State, edits: Iterable[Mapping[str, Any]]) -> State:
    """Return the state after many edits."""
    for edit in edits:
        state = applied(state, edit)
    return state


def _add(state: State, edit: Mapping[str, Any]) -> State:
    row = np.array(edit["row"], dtype=np.float64)
    one = state.classes.get(edit["class"]) or BoardClass(edit["class"], edit["name"], UNDESCRIBED)
    added = replace(one, row=row, added=True)
    return replace(state.with_class(added), next_id=max(state.next_id, one.id + 1))


def _row(state: State, edit: Mapping[str, Any]) -> State:
    one = state.classes[edit["class"]]
    row = np.array(edit["row"], dtype=np.float64)
    return state.with_class(replace(one, row=row, changed=True))


def _rename(state: State, edit: Mapping[str, Any]) -> State:
    return state.with_class(replace(state.classes[edit["class"]], name=edit["name"]))


def _delete(state: State, edit: Mapping[str, Any]) -> State:
    one = state.classes[edit["class"]]
    if one.label is not None:  # its samples are still there, waiting for a description
        return state.with_class(replace(one, row=UNDESCRIBED, added=False, changed=False))
    left = {number: other for number, other in state.classes.items() if number != one.id}
    return replace(state, classes=MappingProxyType(left))


def _balance(state: State, edit: Mapping[str, Any]) -> State:
    return replace(state, bias={**state.bias, edit["method"]: edit["bias"]})


def _reject(state: State, edit: Mapping[str, Any]) -> State:
    threshold = dict(state.threshold)
    if edit["threshold"] is not None:
        threshold[edit["method"]] = edit["threshold"]
    return replace(state, reject=edit["on"], threshold=threshold)


def _lam(state: State, edit: Mapping[str, Any]) -> State:
    return replace(state, lam={**state.lam, edit["method"]: edit["value"]})


def _method(state: State, edit: Mapping[str, Any]) -> State:
    return replace(state, method=edit["method"])


def _compare(state: State, edit: Mapping[str, Any]) -> State:
    return replace(state, compare=edit["method"])


_EDITS = {
    "add": _add,
    "row": _row,
    "rename": _rename,
    "delete": _delete,
    "balance": _balance,
    "reject": _reject,
    "lam": _lam,
    "method": _method,
    "compare": _compare,
}
