"""What a parameter may be, written as data, and the one check that reads it.

A class says it where it declares a parameter (`zslearn._declared`) or, if its constructor is
written by hand, in `parameter_constraints`; `check_parameters` compares an instance with what its
class says, `check_value` a plain argument with one constraint.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import Field
from numbers import Integral, Real
from typing import Any

import numpy as np

from zslearn.exceptions import InvalidInputError

# Seeds of numpy's RandomState, which scikit-learn draws from, are 32 bits long.
_MAX_SEED = 2**32 - 1
# Characters of a wrong value that are shown.
_LONGEST = 100


class Constraint:
    """What a parameter may be: the words that complete "must be ...", and a test."""

    def __init__(self, words: str, allows: Callable[[Any], bool]) -> None:
        self.words = words
        self.allows = allows

    def __repr__(self) -> str:
        return f"<{self.words}>"


class Number(Constraint):
    """A finite number between bounds; a bool is not a number."""

    def __init__(
        self,
        *,
        above: float = -math.inf,
        least: float = -math.inf,
        below: float = math.inf,
        most: float = math.inf,
    ) -> None:
        def allows(value: Any) -> bool:
            return _is_finite(value) and above < value < below and least <= value <= most

        positive = above == 0 and below == most == math.inf
        bounds = _bounds({"above": above, "of at least": least, "below": below, "at most": most})
        super().__init__("a positive number" if positive else f"a number{bounds}", allows)


class Whole(Constraint):
    """A whole number between bounds; a bool is not a number."""

    def __init__(self, least: int, most: float = math.inf) -> None:
        def allows(value: Any) -> bool:
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            return whole and least <= value <= most

        super().__init__(
            f"a whole number{_bounds({'of at least': least, 'at most': most})}", allows
        )


class Flag(Constraint):
    """True or False, and nothing that merely counts as such."""

    def __init__(self) -> None:
        super().__init__("True or False", lambda value: isinstance(value, (bool, np.bool_)))


class Numbers(Constraint):
    """A list or vector of numbers, each of them allowed by `each`."""

    def __init__(self, each: Number | Whole) -> None:
        def allows(value: Any) -> bool:
            try:
                array = np.asarray(value)
            except ValueError:  # lists of different lengths
                return False
            good = array.ndim == 1 and array.size > 0 and array.dtype.kind in "iuf"
            return good and all(map(each.allows, array.flat))

        kind = each.words.removeprefix("a ").replace("number", "numbers", 1)
        super().__init__(f"a list of {kind}", allows)


class Instance(Constraint):
    """An object of a class."""

    def __init__(self, kind: type, words: str) -> None:
        super().__init__(words, lambda value: isinstance(value, kind))


class Group(Instance):
    """A dataclass of settings, each of them with a constraint of its own."""

    def __init__(self, kind: type) -> None:
        super().__init__(kind, f"a {kind.__name__}")
        self.kind = kind


class Either(Constraint):
    """Any of several plain values (words, None, True, False) and constraints."""

    options: list[Constraint]

    def __init__(self, *options: str | bool | Constraint | None) -> None:
        every: list[Constraint] = []
        for one in options:
            one = one if isinstance(one, Constraint) else _exactly(one)
            every += one.options if isinstance(one, Either) else [one]
        self.options = every
        *words, last = (one.words for one in every)
        super().__init__(
            f"{', '.join(words)} or {last}" if words else last,
            lambda value: any(one.allows(value) for one in every),
        )


class Seed(Either):
    """A seed that gives the same numbers at every fit, or None.

    A RandomState is no seed: a fit draws from its seed more than once, a second fit would find
    the state used up, and a saved model could not keep it. See `RandomSource`.
    """

    def __init__(self) -> None:
        super().__init__(None, Whole(0, _MAX_SEED))


class RandomSource(Either):
    """A seed, None or a RandomState, where numbers are drawn from it once."""

    def __init__(self) -> None:
        state = Instance(np.random.RandomState, "a RandomState")
        super().__init__(None, Whole(0, _MAX_SEED), state)


def check_value(name: str, value: object, constraint: Constraint) -> None:
    """Refuse a value that is not allowed, in one line.

    Examples
    --------
    >>> check_value("lam", -1, Either("cv", Number(above=0)))
    Traceback (most recent call last):
    zslearn.exceptions.InvalidInputError: lam must be 'cv' or a positive number; got -1.
    """
    if not constraint.allows(value):
        raise InvalidInputError(f"{name} must be {constraint.words}; got {_shown(value)}.")


_FLAG = Flag()


def check_flags(**values: object) -> None:
    """Refuse arguments that are neither True nor False, by their names.

    Examples
    --------
    >>> check_flags(reject="no")
    Traceback (most recent call last):
    zslearn.exceptions.InvalidInputError: reject must be True or False; got 'no'.
    """
    for name, value in values.items():
        if value is not True and value is not False:
            check_value(name, value, _FLAG)


def check_parameters(owner: object, within: str = "") -> None:
    """Refuse an estimator, splitter or setting with a parameter that is not allowed."""
    for name, constraint in constraints_of(type(owner)).items():
        if hasattr(owner, name):
            check_value(within + name, getattr(owner, name), constraint)
            if isinstance(constraint, Group):
                check_parameters(getattr(owner, name), f"{within}{name}.")


def constraints_of(kind: type) -> dict[str, Constraint]:
    """Constraint of every parameter of a class; its own go before those of its bases."""
    return facts_of(kind, "allowed")


# Where a class with a constructor written by hand tells what a declared one says line by line.
_TABLES = {"allowed": "parameter_constraints", "shape": "learned_shapes"}


def facts_of(kind: type, fact: str) -> dict[str, Any]:
    """Return one fact about every attribute that a class and its bases declare, by attribute.

    Parameters
    ----------
    kind : type
        The class; what it says itself goes before what its bases say.
    fact : {"allowed", "tried", "fallback", "shape"}
        See `zslearn._declared`.

    Returns
    -------
    dict
        Attributes about which nothing is said are left out.
    """
    merged: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        merged |= vars(base).get(_TABLES.get(fact, ""), {})
        own = own_fields(base).items()
        merged |= {name: field.metadata[fact] for name, field in own if fact in field.metadata}
    return merged


def own_fields(kind: type) -> dict[str, Field[Any]]:
    """Return the fields that a dataclass declares itself, in their order."""
    fields = vars(kind).get("__dataclass_fields__", {})
    return {name: fields[name] for name in inspect.get_annotations(kind) if name in fields}


def _exactly(option: str | bool | None) -> Constraint:
    """One plain value and nothing that merely equals it, as 1 equals True."""
    kinds = (type(option), np.str_)
    return Constraint(repr(option), lambda value: type(value) in kinds and value == option)


def _is_finite(value: Any) -> bool:
    """Say whether a value is a number, no bool, and finite as a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an int that no float can hold
        return False


def _bounds(named: Mapping[str, float]) -> str:
    """Bounds in words, such as " above 0 and at most 1"; infinite ones are none."""
    given = {word: bound for word, bound in named.items() if math.isfinite(bound)}
    if given.keys() == {"of at least", "at most"}:
        return " from {} to {}".format(*given.values())
    return "".join(
        f" {'and ' if i else ''}{word} {bound}" for i, (word, bound) in enumerate(given.items())
    )


def _shown(value: object) -> str:
    """Return a value on one line, cut if it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
