"""Class tables as pandas frames, and as the tables that notebooks show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.exceptions import InvalidTypeError

_SHOWN = 6


def read_frame(frame: Any) -> tuple[list[Any], NDArray[Any], list[str]]:
    """Return names, vectors and dimensions of a frame whose index names the classes."""
    if not all(hasattr(frame, part) for part in ("index", "columns", "to_numpy")):
        raise InvalidTypeError(
            f"from_frame takes a pandas DataFrame; got {type(frame).__name__}. "
            "Use Signatures(names, vectors) for arrays or from_dict for a dict."
        )
    return frame.index.tolist(), frame.to_numpy(), [str(column) for column in frame.columns]


def read_if_frame(table: Any, make: Callable[[Any], Any]) -> Any:
    """Return what `make` gives of a frame; anything else as it is."""
    return make(table) if hasattr(table, "columns") else table


def make_frame(names: NDArray[Any], vectors: NDArray[np.float64], dimensions: Sequence[str]) -> Any:
    """Return a frame with the classes as its index."""
    pandas = require("pandas", extra="table", purpose="A data frame")
    index = pandas.Index(names.tolist(), name="class")
    return pandas.DataFrame(vectors.copy(), index=index, columns=list(dimensions))


def make_html(
    title: str, names: NDArray[Any], vectors: NDArray[np.float64], dimensions: Sequence[str]
) -> str:
    """Return the first classes and dimensions as an HTML table under a title."""
    wide, long = len(dimensions) > _SHOWN, len(names) > _SHOWN
    head = ["", *dimensions[:_SHOWN], *["…"] * wide]
    rows = [
        [str(name), *(f"{value:.4g}" for value in row[:_SHOWN]), *["…"] * wide]
        for name, row in zip(names[:_SHOWN], vectors, strict=False)
    ]
    rows += [["…"] * len(head)] * long
    return make_html_table(title, head, rows)


def make_html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table under a title."""
    lines = [_line("th", head), *(_line("td", row) for row in rows)]
    return f"<p>{escape(title)}</p><table>{''.join(lines)}</table>"


def _line(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
