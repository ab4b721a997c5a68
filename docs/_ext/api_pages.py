"""Write the API reference: a page per room with its public names, a page per name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

import zslearn

# The command line has a page of its own; the others hold old names alone.
LEFT_OUT = {"cli", "features", "semantics"}
# A room inside another one, whose names that one does not offer: they need PyTorch.
INNER = {"zero_shot": ("zero_shot.deep",)}
INDEX = """\
:html_theme.sidebar_secondary.remove: true

API reference
=============

Every public name of the library, by room. The ten names used most are also offered by ``zslearn``
itself: {headline}.

.. toctree::
   :hidden:

"""
HEADLINE = [
    name
    for name in zslearn.__all__
    if not name.startswith("_") and not inspect.ismodule(getattr(zslearn, name))
]


def rooms() -> dict[str, Any]:
    """Return the modules that offer public names, by name."""
    names = [room.name for room in pkgutil.iter_modules(zslearn.__path__)]
    public = [name for name in names if not name.startswith("_") and name not in LEFT_OUT]
    every = [inner for name in public for inner in (name, *INNER.get(name, ()))]
    return {name: importlib.import_module(f"zslearn.{name}") for name in every}


def public_names(room: Any) -> list[str]:
    """Return the names that a room offers: its ``__all__``, or its own classes and functions."""
    home = room.__name__
    own = [name for name, value in vars(room).items() if getattr(value, "__module__", "") == home]
    listed = getattr(room, "__all__", own)
    return sorted((name for name in listed if not name.startswith("_")), key=str.lower)


def room_page(room: Any) -> str:
    """Return the page of a room: what it is for, then tables of its names."""
    name = room.__name__
    about = inspect.getdoc(room) or ""
    parts = [name, "=" * len(name), "", about, "", f".. currentmodule:: {name}"]
    kinds: dict[str, list[str]] = {"Classes": [], "Functions": [], "Data": []}
    for each in public_names(room):
        kinds[kind(getattr(room, each))].append(each)
    for title, names in kinds.items():
        if names:
            lines = [f"   {each}" for each in names]
            parts += ["", title, "-" * len(title), "", ".. autosummary::"]
            parts += ["   :toctree: generated", "   :nosignatures:", "", *lines]
    return "\n".join(parts) + "\n"


def kind(value: Any) -> str:
    """Return under which title a name is listed."""
    if inspect.isclass(value):
        return "Classes"
    return "Functions" if inspect.isroutine(value) else "Data"


def write_pages(app: Sphinx, config: Config) -> None:
    """Write all pages into docs/api; a page that has not changed is left alone."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    found = rooms()
    for name, room in found.items():
        write(folder / f"{name}.rst", room_page(room))
    headline = ", ".join(f"``{name}``" for name in HEADLINE)
    listed = "".join(f"   {name}\n" for name in found)
    lines = "\n".join(room_lines(name, room) for name, room in found.items())
    write(folder / "index.rst", f"{INDEX.format(headline=headline)}{listed}\n{lines}")


def room_lines(name: str, room: Any) -> str:
    """Return the part of a room in the index: what it is for, and a line per name."""
    about = (inspect.getdoc(room) or "").partition("\n\n")[0]
    title = f":doc:`{name}`"
    names = [f"   ~{room.__name__}.{each}" for each in public_names(room)]
    head = [title, "-" * len(title), "", about, "", ".. autosummary::", "   :nosignatures:", ""]
    return "\n".join([*head, *names, ""])


def write(path: Path, text: str) -> None:
    """Write a file unless it holds the text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write before Sphinx looks for pages, so that autosummary finds these."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
