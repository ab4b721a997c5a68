"""What a person changed: a state that edits turn into the next one, always in the same way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import numpy as np
from msgspec import Meta, Struct, field
from numpy.typing import NDArray

from zslearn._files import first_line
from zslearn.encoders import describe_classes, text_encoder_of
from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.serve.responses import RequestError, refuse
from zslearn.serve.studio.methods import SAE
from zslearn.serve.studio.phrases import Vocabulary

if TYPE_CHECKING:
    from zslearn.serve.studio.session import Session

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
    bias: Mapping[str, float] = dataclasses.field(default_factory=dict)
    threshold: Mapping[str, float] = dataclasses.field(default_factory=dict)
    lam: Mapping[str, float] = dataclasses.field(default_factory=dict)
    reject: bool = False

    def class_called(self, name: str) -> BoardClass | None:
        """Return the class of that name, if there is one."""
        return next((one for one in self.classes.values() if one.name == name), None)

    @cached_property
    def described(self) -> dict[int, BoardClass]:
        """The classes that samples can be answered with."""
        return {number: one for number, one in self.classes.items() if one.described}

    def class_of(self, number: int) -> BoardClass:
        """Return the class of a number; an edit that names another one cannot be made."""
        if number not in self.classes:
            raise InvalidInputError(f"there is no class {number}.")
        return self.classes[number]

    def row_of(self, values: Sequence[float]) -> FloatArray:
        """Return a signature, or refuse one of another length than those there are."""
        length = len(next(iter(self.described.values())).row)
        if len(values) != length:
            raise InvalidInputError(
                f"row must be a list of {length} numbers, one per dimension; got {len(values)}."
            )
        return np.array(values, dtype=np.float64)

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


# ---- edits: as the page asks for them, then complete, as the project keeps them

Number = Annotated[float, Meta(ge=-1e30, le=1e30)]
Text = Annotated[str, Meta(min_length=1, max_length=2000)]
MOST_CLASSES = 10_000


class Edit(Struct, kw_only=True, tag_field="op", omit_defaults=True):
    """One change.

    Attributes
    ----------
    what : str
        What the undo button says.
    final : bool
        Whether it is kept; a slider that is still being moved is not.
    """

    what: str = ""
    final: bool = True
    # Whether more changes than the signature of one class.
    changes_state: ClassVar[bool] = True

    def made(self, session: Session) -> Edit:
        """Return the edit that was asked for, complete in itself, or refuse it."""
        raise NotImplementedError

    def apply(self, state: State) -> State:
        """Return the state after an edit that is complete."""
        raise NotImplementedError

    def fits(self, session: Session) -> tuple[str, float | None] | None:
        """Return the method and λ that must be fitted first, if there is one."""
        return None

    @property
    def slider(self) -> int | None:
        """The class whose slider is moved, if it is one."""
        return None


class _Add(Edit, tag="add"):
    """A new class: a row, that of another class, or the mean of the training classes."""

    name: str
    id: int = field(name="class", default=-1)
    row: list[Number] | None = None
    like: int | None = None

    def made(self, session: Session) -> Edit:
        state, row = session.kept, self.row
        name = read_name(state, self.name)
        if row is None and self.like is not None:
            row = read_described(session.view.state, self.like).row.tolist()
        if row is None:
            known = [one.row for one in state.described.values() if one.seen]
            known = known or [one.row for one in state.described.values()]
            row = np.mean(known, axis=0).tolist()
        return added(state, name, row)

    def apply(self, state: State) -> State:
        one = state.classes.get(self.id) or BoardClass(self.id, self.name, UNDESCRIBED)
        described = replace(one, row=state.row_of(self.row or ()), added=True)
        return replace(state.with_class(described), next_id=max(state.next_id, one.id + 1))


class _SetRow(Edit, tag="row"):
    """All values of a class."""

    changes_state: ClassVar[bool] = False
    id: int = field(name="class")
    row: list[Number]

    def made(self, session: Session) -> Edit:
        return changed(session.kept, read_described(session.kept, self.id), self.row)

    def apply(self, state: State) -> State:
        one = state.class_of(self.id)
        return state.with_class(replace(one, row=state.row_of(self.row), changed=True))

    @property
    def slider(self) -> int | None:
        return self.id


class _Set(Edit, tag="set"):
    """Some values of a class."""

    id: int = field(name="class")
    changes: dict[int, Number]

    def made(self, session: Session) -> Edit:
        one = read_described(session.kept, self.id)
        row = one.row.copy()
        for index, value in read_changes(self.changes, len(row)).items():
            row[index] = value
        return changed(session.kept, one, row.tolist())

    @property
    def slider(self) -> int | None:
        return self.id


class _Rename(Edit, tag="rename"):
    """Another name."""

    id: int = field(name="class")
    name: str

    def made(self, session: Session) -> Edit:
        one = read_class(session.kept, self.id)
        name = read_name(session.kept, self.name, one.id)
        return _Rename(id=one.id, name=name, what=f"rename {one.name}")

    def apply(self, state: State) -> State:
        return state.with_class(replace(state.class_of(self.id), name=self.name))


class _Delete(Edit, tag="delete"):
    """Take a class off the board."""

    id: int = field(name="class")

    def made(self, session: Session) -> Edit:
        one = read_described(session.kept, self.id)
        if len(session.kept.described) < 2:
            raise refuse("the last class cannot be deleted.")
        return _Delete(id=one.id, what=f"delete {one.name}")

    def apply(self, state: State) -> State:
        one = state.class_of(self.id)
        if one.label is not None:  # its samples are still there, waiting for a description
            return state.with_class(replace(one, row=UNDESCRIBED, added=False, changed=False))
        left = {number: other for number, other in state.classes.items() if number != one.id}
        return replace(state, classes=MappingProxyType(left))


class _Balance(Edit, tag="balance"):
    """What is subtracted from the scores of seen classes."""

    bias: Number
    method: str = ""

    def made(self, session: Session) -> Edit:
        return _Balance(bias=self.bias, method=session.kept.method, what="balance")

    def apply(self, state: State) -> State:
        return replace(state, bias={**state.bias, self.method: self.bias})


class _Reject(Edit, tag="reject"):
    """Answer "none of these" below a threshold, or not."""

    on: bool
    threshold: Number | None = None
    method: str = ""

    def made(self, session: Session) -> Edit:
        method = session.kept.method
        return _Reject(on=self.on, threshold=self.threshold, method=method, what="rejection")

    def apply(self, state: State) -> State:
        threshold = dict(state.threshold)
        if self.threshold is not None:
            threshold[self.method] = self.threshold
        return replace(state, reject=self.on, threshold=threshold)


class _Lam(Edit, tag="lam"):
    """Another λ."""

    value: Annotated[float, Meta(gt=0, le=1e30)]
    method: str = ""

    def made(self, session: Session) -> Edit:
        if session.kept.method not in SAE:
            raise refuse("λ can be chosen for the semantic autoencoder only.")
        return _Lam(value=self.value, method=session.kept.method, what="λ")

    def apply(self, state: State) -> State:
        return replace(state, lam={**state.lam, self.method: self.value})

    def fits(self, session: Session) -> tuple[str, float | None] | None:
        return session.kept.method, self.value


class _Method(Edit, tag="method"):
    """Another method."""

    method: str

    def made(self, session: Session) -> Edit:
        name = read_method(session, self.method)
        return _Method(method=name, what=f"use {session.methods.title(name)}")

    def apply(self, state: State) -> State:
        return replace(state, method=self.method)

    def fits(self, session: Session) -> tuple[str, float | None] | None:
        return self.method, session.kept.lam.get(self.method)


class _Compare(Edit, tag="compare"):
    """A second method beside the first, or none."""

    method: str | None = None

    def made(self, session: Session) -> Edit:
        if self.method is None:
            return _Compare(what="compare nothing")
        name = read_method(session, self.method)
        return _Compare(method=name, what=f"compare {session.methods.title(name)}")

    def apply(self, state: State) -> State:
        return replace(state, compare=self.method)

    def fits(self, session: Session) -> tuple[str, float | None] | None:
        return None if self.method is None else (self.method, session.kept.lam.get(self.method))


class _Phrase(Edit, tag="phrase"):
    """A new class in words of the table."""

    name: str
    text: Text

    def made(self, session: Session) -> Edit:
        name = read_name(session.kept, self.name)
        return added(session.kept, name, phrase_row(session, self.text))


class _Words(Edit, tag="words"):
    """A class, new or not, in words that a text encoder reads, or as a phrase."""

    text: Text
    id: int | None = field(name="class", default=None)
    name: str = ""

    def made(self, session: Session) -> Edit:
        if self.id is not None:
            one = read_described(session.kept, self.id)
            return changed(session.kept, one, described_row(session, one.name, self.text))
        name = read_name(session.kept, self.name)
        return added(session.kept, name, described_row(session, name, self.text))


Kept = _Add | _SetRow | _Rename | _Delete | _Balance | _Reject | _Lam | _Method | _Compare
Wish = Kept | _Set | _Phrase | _Words


def replayed(state: State, edits: Iterable[Mapping[str, Any]]) -> State:
    """Return the state after the edits of a project."""
    for number, edit in enumerate(edits, 1):
        try:
            state = msgspec.convert(edit, Kept).apply(state)
        except (msgspec.ValidationError, InvalidInputError) as error:
            raise InvalidInputError(
                f"edit {number} cannot be made ({first_line(error)}); choose another --project."
            ) from error
    return state


def added(state: State, name: str, row: list[float]) -> Edit:
    """Return the edit that adds a class."""
    if len(state.classes) >= MOST_CLASSES:
        raise refuse(f"a board holds at most {MOST_CLASSES} classes.")
    waiting = state.waiting(name)
    number = state.next_id if waiting is None else waiting.id
    return _Add(id=number, name=name, row=state.row_of(row).tolist(), what=f"add {name}")


def changed(state: State, one: BoardClass, row: list[float]) -> Edit:
    """Return the edit that gives a class another signature."""
    return _SetRow(id=one.id, row=state.row_of(row).tolist(), what=f"change {one.name}")


def read_class(state: State, number: int) -> BoardClass:
    """Return the class of a number, or refuse one that there is not."""
    if number not in state.classes:
        raise RequestError(404, f"there is no class {number!r:.40}.")
    return state.classes[number]


def read_described(state: State, number: int) -> BoardClass:
    """Return a class that has a signature."""
    one = read_class(state, number)
    if not one.described:
        raise refuse(f"{one.name} has no description yet; add one.")
    return one


def read_changes(changes: Mapping[int, float], length: int) -> Mapping[int, float]:
    """Return new values by the number of their dimension, if there are such dimensions."""
    for index in changes:
        if not 0 <= index < length:
            raise refuse(f"there is no dimension {index}; they count from 0 to {length - 1}.")
    return changes


def read_name(state: State, name: str, own: int | None = None) -> str:
    """Return a name that no other class has, or say what is wrong with it."""
    text = name.strip()
    if not 0 < len(text) <= 200 or not text.isprintable():
        raise refuse("a class needs a name of 1 to 200 printable letters.")
    other = state.class_called(text)
    if other is not None and other.id != own and (other.described or own is not None):
        raise refuse(f"there is a class {text!r:.80} already; choose another name.")
    return text


def read_method(session: Session, name: str) -> str:
    """Return a method that is offered, or name the closest one."""
    offered = session.methods.offered
    if name not in offered:
        hint = did_you_mean(name[:80], offered)
        raise refuse(f"there is no method {name!r:.40}.{hint}")
    return name


def vocabulary(session: Session) -> Vocabulary:
    """Return what phrases can speak of now."""
    low, high = session.ranges()
    classes = {one.name: one.row for one in session.kept.described.values()}
    table = session.collection
    return Vocabulary(classes, table.signatures.dimensions, low, high, table.groups)


def phrase_row(session: Session, text: str) -> list[float]:
    """Return the signature that a phrase describes."""
    words = vocabulary(session)
    said = words.read(text)
    if said.like is None and not said.changes:
        raise refuse(
            'nothing of this was understood; write for example "like CLASS, but ATTRIBUTE, not '
            'ATTRIBUTE".'
        )
    row: list[float] = words.row(said).tolist()
    return row


def described_row(session: Session, name: str, text: str) -> list[float]:
    """Return the signature that words describe: by the text encoder, or as a phrase."""
    table = session.collection.signatures
    if text_encoder_of(table) is None:
        return phrase_row(session, text)
    if not text.strip():
        raise refuse("text must be a description.")
    row: list[float] = describe_classes({name: text}, table).vectors[0].tolist()
    return row
