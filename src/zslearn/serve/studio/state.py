"""What a person changed: the classes on the board, their examples, and the settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures
from zslearn.signatures.phrases import Phrases

FloatArray = NDArray[np.float64]
UNDESCRIBED: FloatArray = np.empty(0)


class Told(NamedTuple):
    """What a class was described by, where a text encoder read it."""

    texts: tuple[str, ...]
    phrases: Phrases | None = None


@dataclass(frozen=True, eq=False)
class Example:
    """A sample that was added to a class.

    Attributes
    ----------
    vector : ndarray of shape (n_features,), float32
        Its features.
    title : str
        What it is called: the name of a sample on the board, or of a file.
    sample : str or None
        Its name among the samples of the studio, if it is one of them.
    face : str or None
        A small picture as a data URI, or the text, of one that is not.
    encoder : str or None
        SHA-256 of what made the vector.
    """

    vector: NDArray[np.float32]
    title: str
    sample: str | None = None
    face: str | None = None
    encoder: str | None = None

    @cached_property
    def key(self) -> str:
        """What it is told from others by."""
        return hashlib.sha256(self.vector.tobytes()).hexdigest()[:16]


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
    alone : bool
        Whether it is known by its examples alone; its row is the mean of the training classes then.
    told : Told or None
        The texts of its description.
    """

    id: int
    name: str
    row: FloatArray
    seen: bool = False
    label: str | None = None
    added: bool = False
    changed: bool = False
    alone: bool = False
    told: Told | None = None

    @property
    def described(self) -> bool:
        """Whether samples can be answered with it."""
        return len(self.row) > 0


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
    bias, sure, lam : mapping of str to float
        What was set by hand, for each method.
    reject : bool
        Whether unsure answers become "none of these".
    examples : mapping of int to tuple of Example
        Of each class that has some.
    """

    classes: Mapping[int, BoardClass]
    next_id: int
    method: str
    compare: str | None = None
    bias: Mapping[str, float] = field(default_factory=dict)
    sure: Mapping[str, float] = field(default_factory=dict)
    lam: Mapping[str, float] = field(default_factory=dict)
    reject: bool = False
    examples: Mapping[int, tuple[Example, ...]] = field(default_factory=dict)

    def class_called(self, name: str) -> BoardClass | None:
        """Return the class of that name, if there is one."""
        return next((one for one in self.classes.values() if one.name == name), None)

    @cached_property
    def described(self) -> dict[int, BoardClass]:
        """The classes that samples can be answered with."""
        return {number: one for number, one in self.classes.items() if one.described}

    @cached_property
    def known(self) -> list[BoardClass]:
        """The described classes that were trained on; all described ones if there are none."""
        every = list(self.described.values())
        return [one for one in every if one.seen] or every

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

    def mean_row(self) -> FloatArray:
        """Return the mean of the training classes, which stands for a class nobody described."""
        mean: FloatArray = np.mean([one.row for one in self.known], axis=0)
        return mean

    def waiting(self, name: str) -> BoardClass | None:
        """Return the class of that name if nobody has described it."""
        found = self.class_called(name)
        return None if found is None or found.described else found

    def with_class(self, one: BoardClass) -> State:
        """Return the state with a class added or exchanged."""
        return replace(
            self,
            classes=MappingProxyType({**self.classes, one.id: one}),
            next_id=max(self.next_id, one.id + 1),
        )

    def with_examples(self, number: int, examples: tuple[Example, ...]) -> State:
        """Return the state with other examples of a class."""
        found = {key: kept for key, kept in self.examples.items() if key != number}
        return replace(self, examples={**found, number: examples} if examples else found)

    def without(self, number: int) -> State:
        """Return the state without a class; one that samples have waits for a description."""
        one, state = self.class_of(number), self.with_examples(number, ())
        if one.label is not None:
            bare = replace(one, row=UNDESCRIBED, added=False, changed=False, alone=False, told=None)
            return state.with_class(bare)
        left = {key: other for key, other in self.classes.items() if key != number}
        return replace(state, classes=MappingProxyType(left))


def begin(table: Signatures, seen: Iterable[str], labels: Iterable[str], method: str) -> State:
    """Return the state before any edit: the classes of a table, then labels without a row."""
    known, own = set(seen), set(labels)
    rows = {str(name): table[name] for name in table}
    told = {str(name): Told(texts, table.phrases.get(name)) for name, texts in table.texts.items()}
    rows |= {name: UNDESCRIBED for name in sorted(own - set(rows))}
    classes = {
        number: BoardClass(
            number,
            name,
            row,
            name in known,
            name if name in own else None,
            told=told.get(name),
        )
        for number, (name, row) in enumerate(rows.items())
    }
    return State(MappingProxyType(classes), len(classes), method)


def table_of(state: State, like: Signatures) -> Signatures:
    """Return the classes on the board as a table."""
    return table_named({one.name: one for one in state.described.values()}, like)


def table_named(classes: Mapping[Any, BoardClass], like: Signatures) -> Signatures:
    """Return classes by their names as a table, without those known by examples alone."""
    rows = {name: one for name, one in classes.items() if not one.alone}
    told = {name: one.told for name, one in rows.items() if one.told is not None}
    return Signatures(
        list(rows),
        np.stack([one.row for one in rows.values()]),
        like.dimensions,
        blocks=like.blocks,
        encoder=like.encoder,
        texts={name: each.texts for name, each in told.items()},
        phrases={name: each.phrases for name, each in told.items() if each.phrases is not None},
    )
