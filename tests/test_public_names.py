"""Public names: those of `public_names.txt`, no fewer, and each belongs to one class alone.

``python tests/test_public_names.py > tests/public_names.txt`` writes the list anew. A name or a
parameter that leaves it is kept for a release that warns: see CONTRIBUTING.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from pathlib import Path

import pytest

import zslearn
from zslearn.exceptions import ZslearnError

LIST = Path(__file__).with_name("public_names.txt")
#: A program, the old names of others, and a room inside another one.
APART, INNER = {"cli", "features", "semantics"}, ("zslearn.zero_shot.deep",)


def rooms():
    """Yield the rooms with their names, and the package itself."""
    names = [f"zslearn.{room.name}" for room in pkgutil.iter_modules(zslearn.__path__)]
    public = [name for name in names if name.split(".")[1].strip("_") == name.split(".")[1]]
    for name in ("zslearn", *public, *INNER):
        if name.removeprefix("zslearn.") not in APART:
            yield name, importlib.import_module(name)


def public_names(module):
    """Return what a module offers: its ``__all__``, or the classes and functions of its own."""
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
    return sorted(name for name in getattr(module, "__all__", own) if not name.startswith("_"))


def described():
    """Return a line per public name, with the parameters of what can be called."""
    return [
        f"{room}.{name}{parameters(getattr(module, name))}"
        for room, module in rooms()
        for name in public_names(module)
    ]


def parameters(value):
    """Return the names of parameters in parentheses, where there are any of its own."""
    plain = inspect.isclass(value) and issubclass(value, (ZslearnError, Warning))
    if plain or not (inspect.isclass(value) or inspect.isroutine(value)):
        return ""
    try:
        given = inspect.signature(value).parameters.values()
    except ValueError:  # of a class that is written in C
        return ""
    shown = [one for one in given if not one.name.startswith("_")]
    keyword = [f"{one.name}=" for one in shown if one.kind is one.KEYWORD_ONLY]
    others = [one.name for one in shown if one.kind is not one.KEYWORD_ONLY]
    return f"({', '.join([*others, *sorted(keyword)])})"


def test_public_names_and_parameters_are_those_of_the_list():
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    listed, found = LIST.read_text(encoding="utf-8").splitlines(), described()
    gone, new = sorted(set(listed) - set(found)), sorted(set(found) - set(listed))
    assert gone == [], "no longer as listed; old names stay for a release (CONTRIBUTING, Release)"
    assert new == [], "not listed: python tests/test_public_names.py > tests/public_names.txt"


def test_every_old_room_is_in_the_table_of_names_that_changed():
    changelog = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    table = re.search(r"^\| until 0\.2 .*?\n\n", changelog, flags=re.S | re.M).group()
    for room in ("features", "semantics"):
        assert f"`zslearn.{room}" in table
        for name in dir(importlib.import_module(f"zslearn.{room}")):
            with pytest.warns(
                FutureWarning, match=f"zslearn.{room}.{name} is called .* now"
            ) as seen:
                getattr(importlib.import_module(f"zslearn.{room}"), name)
            now = re.search("is called (.*) now", str(seen[0].message)).group(1)
            # A name that only moved is told by its room.
            assert now in (f"zslearn.encoders.{name}", f"zslearn.cluster.{name}") or re.search(
                rf"`[^|]*\b{name}`?[^|]*\|[^|]*{now.rpartition('.')[2]}", table
            ), (name, now)


def test_no_two_public_classes_have_the_same_name():
    places = defaultdict(set)
    for _, module in rooms():
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value):
                places[name].add(f"{value.__module__}.{value.__qualname__}")
    assert len(places) > 80
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


if __name__ == "__main__":
    print("\n".join(described()))  # noqa: T201
