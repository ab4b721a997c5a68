"""Estimators whose parameters and learned attributes are annotated lines of the class.

A line holds all there is to say about a parameter or a learned array::

    gamma: float | str = parameter(default="cv", allowed=Number(above=0), tried=DECADES)
    coef_: NDArray = fitted("k d")

The constructor is made of these lines as `dataclasses` make one, and only stores, which is what
scikit-learn asks of it. Lines and their documentation are inherited.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from typing import Any, Literal, dataclass_transform

from zslearn._parameters import Constraint, Either, facts_of, own_fields
from zslearn.exceptions import InvalidTypeError


def parameter(
    *,
    default: Any = MISSING,
    allowed: Constraint | None = None,
    tried: Sequence[Any] = (),
    fallback: Any = None,
    kw_only: bool = True,
    init: bool = True,
) -> Any:
    """Declare a parameter of the constructor.

    A line that declares a parameter of a base again changes what it names and inherits the rest.

    Parameters
    ----------
    default : object, optional
        Its default; without one it must be given.
    allowed : Constraint, optional
        What it may be; "cv" is allowed besides where values are tried.
    tried : sequence, optional
        Values that "cv" chooses from, those to prefer among equally good ones first; multiples of
        a unit, where the method takes one from the data.
    fallback : object, optional
        What "cv" means without folds to choose by; the first value tried unless given.
    kw_only : bool, default=True
        Whether it must be named in a call.
    init : bool, default=True
        Whether the constructor takes it; if not, it is a constant of the class, which a derived
        class may declare as a parameter.

    Returns
    -------
    dataclasses.Field
    """
    if len(tried):
        allowed = None if allowed is None else Either("cv", allowed)
        fallback = tried[0] if fallback is None else fallback
    facts = {"allowed": allowed, "tried": tuple(tried) or None, "fallback": fallback}
    given = {name: fact for name, fact in facts.items() if fact is not None}
    return dataclasses.field(default=default, kw_only=kw_only, init=init, metadata=given)


def fitted(shape: str | None = None, *, init: Literal[False] = False) -> Any:
    """Declare an attribute that `fit` sets.

    Parameters
    ----------
    shape : str, optional
        What model files are checked against: one letter per axis, where d is the number of
        features, k that of dimensions of signatures, c that of seen classes, and other letters are
        taken as they come; "" is a number, "arrays" a dict of arrays; "names c" are labels;
        "optional ..." may be missing. Without a shape nothing is checked.
    init : False
        Tells type checkers that it is no parameter.

    Returns
    -------
    dataclasses.Field
    """
    return dataclasses.field(init=init, metadata={"shape": shape})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter, fitted))
class Declared:
    """Base of classes whose constructor is made of the parameters they declare.

    An annotated line with a plain value is a parameter too, as in a dataclass, unless it is a
    `ClassVar`. A constructor written by hand is kept, in the class and in those derived from it.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        written, documented = _written_constructor(cls), cls.__doc__
        lines = {name: vars(cls).get(name) for name in inspect.get_annotations(cls)}
        dataclasses.dataclass(
            init=written is None, eq=False, repr=False, match_args=False, kw_only=True
        )(cls)
        if written is None:
            _check_lines(cls, lines)
            _put_nearest_first(cls)
        elif written is not cls:
            _refuse_unused(cls, lines, written)
        # A dataclass without a docstring gets its signature for one; the base's says more.
        cls.__doc__ = documented and _completed(inspect.cleandoc(documented), cls)


def search_space(owner: object, *names: str) -> dict[str, tuple[Any, ...]]:
    """Return the values that "cv" chooses from, by parameter: of some, or of all as declared."""
    tried = facts_of(type(owner), "tried")
    return {name: tried[name] for name in names or tried}


def fallbacks(owner: object) -> dict[str, Any]:
    """Return what "cv" means where there is nothing to choose by, by parameter."""
    return facts_of(type(owner), "fallback")


def _written_constructor(cls: type) -> type | None:
    """Return the class whose constructor, written by hand, is in use; None if one can be made."""
    home = next(base for base in cls.__mro__ if "__init__" in vars(base))
    made = getattr(vars(home).get("__dataclass_params__"), "init", home is object)
    return None if made else home


def _check_lines(cls: type, lines: Mapping[str, Any]) -> None:
    """Refuse what a dataclass would take for something else than it looks like."""
    for field in dataclasses.fields(cls):
        bare = field.name in lines and lines[field.name] is None
        if bare and field.default is MISSING:
            raise InvalidTypeError(
                f"{cls.__name__}.{field.name} is annotated and has no value; write parameter() if "
                "the constructor takes it, fitted() if fit sets it, or make it a ClassVar."
            )
        # Of several bases a dataclass takes the field that the last one has, its own or inherited;
        # and it does not see a class attribute in place of a parameter.
        declared = (own_fields(base).get(field.name) for base in cls.__mro__)
        nearest = next(one for one in declared if one is not None)
        hidden = field.init and getattr(cls, field.name, MISSING) is not field.default
        if hidden or nearest is not field:
            raise InvalidTypeError(
                f"{cls.__name__}.{field.name} differs from the parameter that a base declares; "
                f"declare it in {cls.__name__} too, {field.name}: ... = parameter(default=...)."
            )


def _refuse_unused(cls: type, lines: Mapping[str, Any], written: type) -> None:
    """Refuse a parameter that an inherited constructor, written by hand, does not take."""
    for name, value in lines.items():
        if isinstance(value, dataclasses.Field) and value.init:
            raise InvalidTypeError(
                f"{cls.__name__} declares the parameter {name}, but {written.__name__} has a "
                f"constructor written by hand; write one in {cls.__name__} too."
            )


def _put_nearest_first(cls: type) -> None:
    """Show a class's own parameters before those of its bases, as its documentation does."""
    order = [name for base in cls.__mro__ for name in own_fields(base)]
    constructor = vars(cls)["__init__"]
    signature = inspect.signature(constructor)
    itself, *taken = signature.parameters.values()
    taken.sort(key=lambda one: (one.kind, order.index(one.name)))
    constructor.__signature__ = signature.replace(parameters=[itself, *taken])


# A section of numpydoc: an underlined title after an empty line.
_TITLE = re.compile(r"\n\n([A-Z][^\n]*)\n-{3,}\n")


def _completed(doc: str, cls: type) -> str:
    """Return a docstring with entries for what a class inherits and does not describe itself."""
    sections = _sections(doc)
    bases = [
        _sections(base.__doc__ or "") for base in cls.__mro__[1:] if issubclass(base, Declared)
    ]
    taken = inspect.signature(cls).parameters
    for title in ("Parameters", "Attributes"):
        own = _entries(sections[title])
        inherited: dict[str, str] = {}  # as the nearest base describes it
        origin: dict[str, int] = {}  # the most distant one, whose docstring brought it
        for distance, base in enumerate(bases):
            entries = _entries(base[title])
            inherited = entries | inherited
            origin |= dict.fromkeys(entries, distance)
        nearest_first = sorted(inherited, key=lambda name: origin[name])
        order = [*taken, *own] if title == "Parameters" else [*own, *nearest_first]
        blocks: dict[tuple[str, str], list[str]] = {}
        for name in order:
            if name in own:
                blocks.setdefault((own[name], ""), [])
            elif name in inherited:
                default = taken[name].default if name in taken else inspect.Parameter.empty
                blocks.setdefault((inherited[name], _shown(default)), []).append(name)
        sections[title] = "\n".join(
            _restated(entry, names, default) if names else entry
            for (entry, default), names in blocks.items()
        )
    return "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{text}" if title else text
        for title, text in sections.items()
        if text
    )


def _sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by title; what comes before them has none."""
    start, *rest = _TITLE.split(doc)
    found = dict(zip(rest[::2], rest[1::2], strict=True))
    return {"": start, "Parameters": "", "Attributes": ""} | found


def _entries(section: str) -> dict[str, str]:
    """Return the entry of every name in a section; several names may share one."""
    entries = re.split(r"\n+(?=\S)", section) if section else []
    heads = (entry.partition("\n")[0].partition(" : ")[0] for entry in entries)
    return {
        name: entry for head, entry in zip(heads, entries, strict=True) for name in head.split(", ")
    }


def _restated(entry: str, names: list[str], default: str) -> str:
    """Return an inherited entry for some of its names, with the default they have here."""
    head, _, text = entry.partition("\n")
    _, colon, kind = head.partition(" : ")
    if default and kind:
        kind = re.sub(r", (optional|default=.*)$", "", kind) + default
    return f"{', '.join(names)}{colon}{kind}\n{text}"


def _shown(default: Any) -> str:
    """Return a default as numpydoc ends the first line of an entry."""
    if default is inspect.Parameter.empty:
        return ""
    if default is None:
        return ", optional"
    return f', default="{default}"' if isinstance(default, str) else f", default={default!r}"
