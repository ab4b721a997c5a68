"""Docstrings inherited from scikit-learn refer to its pages by label; here only the words stay."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

LABELLED = re.compile(r":ref:`([^`<]+?)\s*<[^`>]+>`")


def plain(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Replace references by their words where the docstring is scikit-learn's."""
    if getattr(value, "__module__", "").startswith("sklearn."):
        lines[:] = [LABELLED.sub(r"\1", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after numpydoc."""
    app.connect("autodoc-process-docstring", plain, priority=900)
    return {"parallel_read_safe": True}
