"""Public classes of all rooms have names of their own."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import defaultdict

import zslearn


def test_no_two_public_classes_have_the_same_name():
    places = defaultdict(set)
    for room in pkgutil.iter_modules(zslearn.__path__):
        module = importlib.import_module(f"zslearn.{room.name}") if room.ispkg else None
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value):
                places[name].add(f"{value.__module__}.{value.__qualname__}")
    assert len(places) > 80
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
