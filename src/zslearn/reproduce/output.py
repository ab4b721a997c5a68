"""Files made from the results file: tables in four forms, plots, the report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from zslearn._files import replacing
from zslearn.reproduce.tables import Table
from zslearn.reproduce.tables.selection import Row


def write_tables(tables: Mapping[str, Sequence[Table]], folder: str | os.PathLike[str]) -> None:
    """Write every table as CSV and LaTeX, and all of them as one Markdown page.

    Parameters
    ----------
    tables : mapping of str to sequence of Table
        What `make_tables` returned.
    folder : path-like
        Where to; made if it is not there.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for table in (table for some in tables.values() for table in some):
        write_text(place / f"{table.name}.csv", table.csv())
        write_text(place / f"{table.name}.tex", table.latex() + "\n")
    pages = [table.markdown() for some in tables.values() for table in some]
    write_text(place / "tables.md", "\n\n".join(pages) + "\n")


def write_plots(rows: Iterable[Row], folder: str | os.PathLike[str]) -> list[Path]:
    """Draw every plot that the rows have data for; needs matplotlib.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file.
    folder : path-like
        Where to; made if it is not there.

    Returns
    -------
    list of Path
        The pictures.
    """
    from zslearn.reproduce.plots import make_plots

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = []
    for plot in make_plots(rows):
        with replacing(place / f"{plot.name}.png") as file:
            file.write(plot.png)
        written.append(place / f"{plot.name}.png")
    return written


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())


def write_report(rows: Iterable[Row], path: str | os.PathLike[str], *, plots: bool = True) -> None:
    """Write the report as one HTML file.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file.
    path : path-like
        The file.
    plots : bool, default=True
        Whether to draw plots, which needs matplotlib.
    """
    from zslearn.reproduce.report import render_report

    kept = list(rows)
    pictures = []
    if plots:
        from zslearn.reproduce.plots import make_plots

        pictures = list(make_plots(kept))
    write_text(Path(path), render_report(kept, pictures))
