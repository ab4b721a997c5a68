"""Notebooks that run in the reader's browser start by installing the library there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# The button that sphinx-gallery puts under an example.
BUTTON = re.compile(r"^ *\.\. container:: lite-badge\n\n(?: +\S.*\n)+", flags=re.M)
INSTALL = "%pip install -q zslearn matplotlib"


def install_first(notebook: dict[str, Any], name: str) -> None:
    """Put the line that installs the library before the first cell of a notebook."""
    notebook["cells"].insert(
        0,
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": [INSTALL],
        },
    )


def without_button(page: str) -> str:
    """Return the page of an example; one that needs PyTorch, which no browser has, offers none."""
    return BUTTON.sub("", page) if "zero_shot.deep" in page else page


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page before it is read."""

    def read(_: Sphinx, __: str, source: list[str]) -> None:
        source[0] = without_button(source[0])

    app.connect("source-read", read)
    return {"parallel_read_safe": True}
