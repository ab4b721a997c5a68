"""What a person changed: a state that edits turn into the next one, always in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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
        Its signature, in the units of the class table.
    seen : bool
        Whether the model was trained on samples of it.
    label : str or None
        The label of its samples, if there are any.
    described : bool
        Whether it was added here.
    changed : bool
        Whether its signature is another one than in the class table.
    """

    id: int
    name: str
    row: FloatArray
    seen: bool = False
    label: str | None = None
    described: bool = False
    changed: bool = False


@dataclass(frozen=True, eq=False)
class State:
    """Everything that edits change.

    Attributes
    ----------
    classes : mapping of int to BoardClass
        By their numbers, in the order they were added.
    labels : frozenset of str
        The labels that samples have.
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
    labels: frozenset[str]
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

    def free_label(self, name: str) -> str | None:
        """Return the label of that name if no class stands for it."""
        taken = {one.label for one in self.classes.values()}
        return name if name in self.labels and name not in taken else None

    def undescribed(self) -> list[str]:
        """Return the labels that no class stands for."""
        return sorted(self.labels - {str(one.label) for one in self.classes.values()})

    def with_class(self, one: BoardClass) -> State:
        """Return the state with a class added or exchanged."""
        return replace(self, classes=MappingProxyType({**self.classes, one.id: one}))


def begin(
    table: Mapping[str, FloatArray], seen: Iterable[str], labels: Iterable[str], method: str
) -> State:
    """Return the state before any edit: the classes of a table, numbered in its order."""
    known, own = set(seen), frozenset(labels)
    classes = {
        number: BoardClass(number, name, row, name in known, name if name in own else None)
        for number, (name, row) in enumerate(table.items())
    }
    return State(MappingProxyType(classes), own, len(classes), method)


def applied(state: State, edit: Mapping[str, Any]) -> State:
    """Return the state after an edit that was checked when it was made."""
    return _EDITS[edit["op"]](state, edit)


def replayed(state: State, edits: Iterable[Mapping[str, Any]]) -> State:
    """Return the state after many edits."""
    for edit in edits:
        state = applied(state, edit)
    return state


def _add(state: State, edit: Mapping[str, Any]) -> State:
    name, row = edit["name"], np.array(edit["row"], dtype=np.float64)
    one = BoardClass(edit["class"], name, row, label=state.free_label(name), described=True)
    return replace(state.with_class(one), next_id=max(state.next_id, one.id + 1))


def _row(state: State, edit: Mapping[str, Any]) -> State:
    one = state.classes[edit["class"]]
    row = np.array(edit["row"], dtype=np.float64)
    return state.with_class(replace(one, row=row, changed=True))


def _rename(state: State, edit: Mapping[str, Any]) -> State:
    one, name = state.classes[edit["class"]], edit["name"]
    return state.with_class(replace(one, name=name, label=one.label or state.free_label(name)))


def _delete(state: State, edit: Mapping[str, Any]) -> State:
    left = {number: one for number, one in state.classes.items() if number != edit["class"]}
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
