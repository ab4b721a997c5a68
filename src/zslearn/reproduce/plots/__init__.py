"""Plots made only from the rows of a results file (extra: plot)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zslearn.reproduce.plots.clusters import cluster_plots
from zslearn.reproduce.plots.curves import curve_plots
from zslearn.reproduce.plots.diagnosis import diagnosis_plots
from zslearn.reproduce.plots.open import open_plots
from zslearn.reproduce.plots.style import Plot
from zslearn.reproduce.tables.selection import Row, latest

__all__ = ["Plot", "make_plots"]


def make_plots(rows: Iterable[Row]) -> Iterator[Plot]:
    """Yield every plot that the rows have data for.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file.

    Yields
    ------
    Plot
    """
    current = latest(rows)
    for draw in (cluster_plots, diagnosis_plots, curve_plots, open_plots):
        yield from draw(current)
