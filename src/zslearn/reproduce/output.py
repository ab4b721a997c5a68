"""Files made from the results file: tables in three forms, plots."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from zslearn._files import replacing
from zslearn.reproduce.plots.style import Plot
from zslearn.reproduce.tables import Table


def write_tables(tables: Mapping[str, Sequence[Table]], folder: str | os.PathLike[str]) -> None:
    """Write every table as CSV and LaTeX, and all of them as one Markdown page.

    Parameters
    ----------
    tables : mapping of str to sequence of Table
        What `make_tables` returned.
    folder : path-like
        Target folder; created if missing.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for table in (table for some in tables.values() for table in some):
        write_text(place / f"{table.name}.csv", table.csv())
        write_text(place / f"{table.name}.tex", table.latex() + "\n")
    pages = [table.markdown() for some in tables.values() for table in some]
    write_text(place / "tables.md", "\n\n".join(pages) + "\n")


def write_plots(plots: Iterable[Plot], folder: str | os.PathLike[str]) -> None:
    """Write every plot as a picture.

    Parameters
    ----------
    plots : iterable of Plot
        What `make_plots` returned.
    folder : path-like
        Target folder; created if missing.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for plot in plots:
        with replacing(place / f"{plot.name}.png") as file:
            file.write(plot.png)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())
