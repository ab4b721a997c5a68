"""Edits as the page sends them: checked, and turned into edits that need nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zslearn.encoders import TextEncoder
from zslearn.exceptions import did_you_mean
from zslearn.serve.models import TEXT_DIMENSIONS, TEXT_ENCODER
from zslearn.serve.responses import RequestError, refuse
from zslearn.serve.studio.edits import BoardClass, State
from zslearn.serve.studio.methods import SAE
from zslearn.serve.studio.phrases import Vocabulary
from zslearn.serve.studio.session import Session
from zslearn.signatures import Signatures

MOST_LETTERS = 200
MOST_TEXT = 2000
MOST_CLASSES = 10_000
LARGEST = 1e30
Request = Mapping[str, Any]
Edit = dict[str, Any]


def read_edit(session: Session, request: Any) -> Edit:
    """Return the edit that a request asks for, complete in itself.

    Parameters
    ----------
    session : Session
        The studio as it is now.
    request : object
        JSON of the page.

    Returns
    -------
    dict
        What `edits.applied` takes, with `what` for the undo button.
    """
    if not isinstance(request, dict) or str(request.get("op")) not in READERS:
        raise refuse(f"op must be one of {', '.join(READERS)}.")
    return READERS[str(request["op"])](session, request)


def read_class(state: State, number: Any) -> BoardClass:
    """Return the class of a number, or refuse one that there is not."""
    if type(number) is not int or number not in state.classes:
        raise RequestError(404, f"there is no class {number!r:.40}.")
    return state.classes[number]


def read_described(state: State, number: Any) -> BoardClass:
    """Return a class that has a signature."""
    one = read_class(state, number)
    if not one.described:
        raise refuse(f"{one.name} has no description yet; add one.")
    return one


def read_row(values: Any, length: int) -> list[float]:
    """Return a signature, or refuse what is none."""
    if not isinstance(values, list) or len(values) != length:
        raise refuse(f"row must be a list of {length} numbers, one per dimension.")
    return [read_number(value, "row") for value in values]


def read_number(value: Any, name: str) -> float:
    """Return a number, or refuse what is none."""
    if type(value) not in (int, float) or not abs(value) <= LARGEST:
        raise refuse(f"{name} must hold numbers only; got {value!r:.40}.")
    return float(value)


def read_changes(changes: Any, length: int) -> dict[int, float]:
    """Return new values by the number of their dimension."""
    if not isinstance(changes, dict) or len(changes) > length:
        raise refuse("changes must be an object of dimension and number.")
    found = {}
    for key, value in changes.items():
        if not (key.isascii() and key.isdigit() and len(key) < 9 and int(key) < length):
            raise refuse(f"there is no dimension {key!r:.40}; they count from 0 to {length - 1}.")
        found[int(key)] = read_number(value, "changes")
    return found


def read_name(state: State, name: Any, own: int | None = None) -> str:
    """Return a name that no other class has, or say what is wrong with it."""
    text = name.strip() if isinstance(name, str) else ""
    if not 0 < len(text) <= MOST_LETTERS or not text.isprintable():
        raise refuse(f"a class needs a name of 1 to {MOST_LETTERS} printable letters.")
    other = state.class_called(text)
    if other is not None and other.id != own and (other.described or own is not None):
        raise refuse(f"there is a class {text!r:.80} already; choose another name.")
    return text


def _length(session: Session) -> int:
    return session.collection.signatures.n_dimensions


def _add(session: Session, request: Request) -> Edit:
    state = session.kept
    name = read_name(state, request.get("name"))
    if request.get("row") is not None:
        row = read_row(request["row"], _length(session))
    elif request.get("like") is not None:
        row = read_described(session.view.state, request["like"]).row.tolist()
    else:
        known = [one.row for one in state.described.values() if one.seen]
        row = np.mean(known or [one.row for one in state.described.values()], axis=0).tolist()
    return added(state, name, row)


def added(state: State, name: str, row: list[float]) -> Edit:
    """Return the edit that adds a class."""
    if len(state.classes) >= MOST_CLASSES:
        raise refuse(f"a board holds at most {MOST_CLASSES} classes.")
    waiting = state.waiting(name)
    number = state.next_id if waiting is None else waiting.id
    return {"op": "add", "class": number, "name": name, "row": row, "what": f"add {name}"}


def changed(one: BoardClass, row: list[float]) -> Edit:
    """Return the edit that gives a class another signature."""
    return {"op": "row", "class": one.id, "row": row, "what": f"change {one.name}"}


def _set(session: Session, request: Request) -> Edit:
    one = read_described(session.kept, request.get("class"))
    row = one.row.copy()
    for index, value in read_changes(request.get("changes"), len(row)).items():
        row[index] = value
    return changed(one, row.tolist())


def _row(session: Session, request: Request) -> Edit:
    one = read_described(session.kept, request.get("class"))
    return changed(one, read_row(request.get("row"), _length(session)))


def _rename(session: Session, request: Request) -> Edit:
    one = read_class(session.kept, request.get("class"))
    name = read_name(session.kept, request.get("name"), one.id)
    return {"op": "rename", "class": one.id, "name": name, "what": f"rename {one.name}"}


def _delete(session: Session, request: Request) -> Edit:
    one = read_described(session.kept, request.get("class"))
    if len(session.kept.described) < 2:
        raise refuse("the last class cannot be deleted.")
    return {"op": "delete", "class": one.id, "what": f"delete {one.name}"}


def _balance(session: Session, request: Request) -> Edit:
    bias = read_number(request.get("bias"), "bias")
    return {"op": "balance", "method": session.kept.method, "bias": bias, "what": "balance"}


def _reject(session: Session, request: Request) -> Edit:
    on, given = request.get("on"), request.get("threshold")
    if not isinstance(on, bool):
        raise refuse("on must be true or false.")
    threshold = None if given is None else read_number(given, "threshold")
    return {
        "op": "reject",
        "method": session.kept.method,
        "on": on,
        "threshold": threshold,
        "what": "rejection",
    }


def _lam(session: Session, request: Request) -> Edit:
    method, value = session.kept.method, read_number(request.get("value"), "value")
    if method not in SAE:
        raise refuse("λ can be chosen for the semantic autoencoder only.")
    if value <= 0:
        raise refuse("λ must be positive.")
    return {"op": "lam", "method": method, "value": value, "what": "λ"}


def _method(session: Session, request: Request) -> Edit:
    name = read_method(session, request.get("method"))
    return {"op": "method", "method": name, "what": f"use {session.methods.title(name)}"}


def _compare(session: Session, request: Request) -> Edit:
    given = request.get("method")
    name = None if given is None else read_method(session, given)
    what = "compare nothing" if name is None else f"compare {session.methods.title(name)}"
    return {"op": "compare", "method": name, "what": what}


def _phrase(session: Session, request: Request) -> Edit:
    name = read_name(session.kept, request.get("name"))
    return added(session.kept, name, phrase_row(session, request.get("text")))


def _words(session: Session, request: Request) -> Edit:
    number = request.get("class")
    one = None if number is None else read_described(session.kept, number)
    row = described_row(session, request.get("text"))
    if one is not None:
        return changed(one, row)
    return added(session.kept, read_name(session.kept, request.get("name")), row)


def read_text(text: Any) -> str:
    """Return a description, or refuse what is none."""
    if not isinstance(text, str) or not text.strip() or len(text) > MOST_TEXT:
        raise refuse(f"text must be a description of 1 to {MOST_TEXT} letters.")
    return text


def vocabulary(session: Session) -> Vocabulary:
    """Return what phrases can speak of now."""
    low, high = session.ranges()
    classes = {one.name: one.row for one in session.kept.described.values()}
    table = session.collection
    return Vocabulary(classes, table.signatures.dimensions, low, high, table.groups)


def phrase_row(session: Session, text: Any) -> list[float]:
    """Return the signature that a phrase describes."""
    words = vocabulary(session)
    said = words.read(read_text(text))
    if said.like is None and not said.changes:
        raise refuse(
            'nothing of this was understood; write for example "like CLASS, but ATTRIBUTE, not '
            'ATTRIBUTE".'
        )
    row: list[float] = words.row(said).tolist()
    return row


def described_row(session: Session, text: Any) -> list[float]:
    """Return the signature that words describe: by the text encoder, or as a phrase."""
    if session.collection.signatures.dimensions != TEXT_DIMENSIONS:
        return phrase_row(session, text)
    table = Signatures.from_texts({"new": read_text(text)}, TextEncoder(TEXT_ENCODER))
    row: list[float] = table.vectors[0].tolist()
    return row


def read_method(session: Session, name: Any) -> str:
    """Return a method that is offered, or name the closest one."""
    offered = session.methods.offered
    if not isinstance(name, str) or name not in offered:
        hint = did_you_mean(str(name)[:80], offered)
        raise refuse(f"there is no method {name!r:.40}.{hint}")
    return name


READERS: dict[str, Callable[[Session, Request], Edit]] = {
    "add": _add,
    "set": _set,
    "row": _row,
    "rename": _rename,
    "delete": _delete,
    "balance": _balance,
    "reject": _reject,
    "lam": _lam,
    "method": _method,
    "compare": _compare,
    "phrase": _phrase,
    "words": _words,
}
