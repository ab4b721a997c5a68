"""Notebooks that run in the reader's browser start by installing the library there."""

from __future__ import annotations

from typing import Any

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
