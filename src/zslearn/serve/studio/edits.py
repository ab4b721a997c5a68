"""Edits: what the page asks for, made complete, kept in the project, and applied to the state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from zslearn._files import first_line
from zslearn.encoders import Phrase, describe_classes, read_phrase, text_encoder_of
from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.serve.edit_log import packed, packed_phrases, unpacked, unpacked_phrases
from zslearn.serve.responses import RequestError, refuse
from zslearn.serve.studio.methods import SAE
from zslearn.serve.studio.state import UNDESCRIBED, BoardClass, Example, State, Told, table_of

if TYPE_CHECKING:
    from zslearn.serve.studio.session import Session

# ---- edits: as the page asks for them, then complete, as the project keeps them

Number = Annotated[float, Meta(ge=-1e30, le=1e30)]
Text = Annotated[str, Meta(min_length=1, max_length=2000)]
MOST_CLASSES, MOST_EXAMPLES = 10_000, 2_000


class Wording(Struct, kw_only=True, omit_defaults=True):
    """The texts of a class, and what can be left out of them."""

    texts: list[str]
    phrases: dict[str, Any] | None = None

    @classmethod
    def of(cls, told: Told | None) -> Wording | None:
        """Return what an edit keeps."""
        if told is None:
            return None
        phrases = None if told.phrases is None else packed_phrases(told.phrases)
        return cls(texts=list(told.texts), phrases=phrases)

    def told(self, width: int) -> Told:
        """Return what the class is described by."""
        phrases = None if self.phrases is None else unpacked_phrases(self.phrases, width)
        return Told(tuple(self.texts), phrases)


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
    told: Wording | None = None

    def made(self, session: Session) -> Edit:
        state, row = session.kept, self.row
        name = read_name(state, self.name)
        if row is None and self.like is not None:
            row = read_described(session.view.state, self.like).row.tolist()
        return added(state, name, state.mean_row().tolist() if row is None else row)

    def apply(self, state: State) -> State:
        one = state.classes.get(self.id) or BoardClass(self.id, self.name, UNDESCRIBED)
        row = state.row_of(self.row or ())
        told = None if self.told is None else self.told.told(len(row))
        return state.with_class(replace(one, row=row, added=True, alone=False, told=told))


class _SetRow(Edit, tag="row"):
    """All values of a class."""

    id: int = field(name="class")
    row: list[Number]
    told: Wording | None = None

    def made(self, session: Session) -> Edit:
        return changed(session.kept, read_described(session.kept, self.id), self.row)

    def apply(self, state: State) -> State:
        one, row = state.class_of(self.id), state.row_of(self.row)
        told = None if self.told is None else self.told.told(len(row))
        return state.with_class(replace(one, row=row, changed=True, alone=False, told=told))

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
        return state.without(self.id)


class _Balance(Edit, tag="balance"):
    """What is subtracted from the scores of seen classes."""

    bias: Number
    method: str = ""

    def made(self, session: Session) -> Edit:
        return _Balance(bias=self.bias, method=session.kept.method, what="balance")

    def apply(self, state: State) -> State:
        return replace(state, bias={**state.bias, self.method: self.bias})


class _Reject(Edit, tag="reject"):
    """Answer "none of these" where the model is not sure enough, or not."""

    on: bool
    # Projects of earlier versions have a margin, `threshold`, in its place, which is left out.
    sure: Annotated[float, Meta(ge=-1e30, le=1e30)] | None = None
    method: str = ""

    def made(self, session: Session) -> Edit:
        return _Reject(on=self.on, sure=self.sure, method=session.kept.method, what="rejection")

    def apply(self, state: State) -> State:
        sure = dict(state.sure)
        if self.sure is not None:
            sure[self.method] = self.sure
        return replace(state, reject=self.on, sure=sure)


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


class _Words(Edit, tag="words"):
    """A class, new or not, in a sentence that a text encoder reads, or in words of the table."""

    text: Text
    id: int | None = field(name="class", default=None)
    name: str = ""

    def made(self, session: Session) -> Edit:
        if self.id is not None:
            one = read_described(session.kept, self.id)
            return changed(session.kept, one, *described_row(session, one.name, self.text))
        name = read_name(session.kept, self.name)
        return added(session.kept, name, *described_row(session, name, self.text))


class _Example(Edit, tag="example"):
    """One more example of a class, new or not: a sample of the board, or one that was dropped."""

    id: int | None = field(name="class", default=None)
    name: str = ""
    sample: int | None = None
    dropped: int | None = None

    def made(self, session: Session) -> Edit:
        state = session.kept
        if sum(map(len, state.examples.values())) >= MOST_EXAMPLES:
            raise refuse(f"a project holds at most {MOST_EXAMPLES} examples.")
        one = state.class_called(self.name.strip())
        one = one if self.id is None else read_class(state, self.id)
        number, name = (state.next_id, "") if one is None else (one.id, one.name)
        name = name or read_name(state, self.name)
        example = session.example(self.sample, self.dropped)
        if any(example.key == other.key for other in state.examples.get(number, ())):
            raise refuse(f"{example.title} is an example of {name} already.")
        return _Taught(
            id=number,
            name=name,
            vector=packed(example.vector),
            title=example.title,
            sample=example.sample,
            face=example.face,
            encoder=example.encoder,
            what=f"example of {name}",
        )


class _Taught(Edit, tag="taught"):
    """An example as the project keeps it."""

    id: int = field(name="class")
    name: str
    vector: str
    title: str
    sample: str | None = None
    face: str | None = None
    encoder: str | None = None

    def made(self, session: Session) -> Edit:
        raise refuse("send a sample or a dropped one, not a vector.")

    def apply(self, state: State) -> State:
        one = state.classes.get(self.id) or BoardClass(self.id, self.name, UNDESCRIBED)
        if not one.described:
            one = replace(one, row=state.mean_row(), added=True, alone=True)
        # As long as it is: the session knows how long it must be.
        vector = unpacked(self.vector, 1)[:, 0]
        example = Example(vector, self.title, self.sample, self.face, self.encoder)
        kept = [other for other in state.examples.get(self.id, ()) if other.key != example.key]
        return state.with_class(one).with_examples(self.id, (*kept, example))


class _Forget(Edit, tag="forget"):
    """Take an example of a class back."""

    id: int = field(name="class")
    key: str

    def made(self, session: Session) -> Edit:
        one = read_class(session.kept, self.id)
        if self.key not in {example.key for example in session.kept.examples.get(one.id, ())}:
            raise RequestError(404, f"{one.name} has no such example.")
        return _Forget(id=one.id, key=self.key, what=f"forget an example of {one.name}")

    def apply(self, state: State) -> State:
        one = state.class_of(self.id)
        left = tuple(e for e in state.examples.get(self.id, ()) if e.key != self.key)
        if one.alone and not left and len(state.described) > 1:
            return state.without(self.id)
        return state.with_examples(self.id, left)


Kept = (
    _Add
    | _SetRow
    | _Rename
    | _Delete
    | _Balance
    | _Reject
    | _Lam
    | _Method
    | _Compare
    | _Taught
    | _Forget
)
Wish = Kept | _Set | _Words | _Example


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


def added(state: State, name: str, row: list[float], told: Told | None = None) -> Edit:
    """Return the edit that adds a class."""
    if len(state.classes) >= MOST_CLASSES:
        raise refuse(f"a board holds at most {MOST_CLASSES} classes.")
    waiting = state.waiting(name)
    number = state.next_id if waiting is None else waiting.id
    values = state.row_of(row).tolist()
    return _Add(id=number, name=name, row=values, told=Wording.of(told), what=f"add {name}")


def changed(state: State, one: BoardClass, row: list[float], told: Told | None = None) -> Edit:
    """Return the edit that gives a class another signature."""
    values = state.row_of(row).tolist()
    return _SetRow(id=one.id, row=values, told=Wording.of(told), what=f"change {one.name}")


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


def understood(session: Session, text: str, *, suggest: bool = True) -> Phrase:
    """Return what a text says in words of the class table."""
    state, table = session.kept, session.collection
    seen = [one.name for one in state.described.values() if one.seen]
    known = table_of(state, table.signatures)
    return read_phrase(text, known, seen=seen, groups=table.groups, suggest=suggest)


def described_row(session: Session, name: str, text: str) -> tuple[list[float], Told | None]:
    """Return the signature that words describe, read by the text encoder or in the table."""
    table = session.collection.signatures
    if text_encoder_of(table) is None:
        said = understood(session, text, suggest=False)
        if not said.is_understood:
            said = understood(session, text).checked()
        row: list[float] = said.row.tolist()
        return row, None
    if not text.strip():
        raise refuse("text must be a description.")
    made = describe_classes({name: text}, table)
    return made.vectors[0].tolist(), Told((text,), made.phrases.get(name))
