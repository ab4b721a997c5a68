"""Words of docstrings that end in an underscore are words, not links of reStructuredText."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

# Text in backquotes is left as it is.
QUOTED_OR_WORD = re.compile(r"(`+[^`]+`+_*)|(?<![\w\\])([A-Za-z]\w*)_(?!\w)")


def escaped(line: str) -> str:
    """Return a line with its last underscores of words escaped."""
    return QUOTED_OR_WORD.sub(lambda found: found[1] or f"{found[2]}\\_", line)


def escape(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape the text of a docstring; examples and what they print stay as they are."""
    in_example = False
    for number, line in enumerate(lines):
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if not in_example and not line.lstrip().startswith(".. "):
            lines[number] = escaped(line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after numpydoc."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    return {"parallel_read_safe": True}
