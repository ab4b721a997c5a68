"""Plots made only from the rows of a results file (extra: plot)."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zslearn._optional import require
from zslearn.reproduce.tables import Row, latest

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"
COLORS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
DPI = 130


# What a second measurement of the same run may change without changing the picture.
_UNSTEADY = ("machine", "version", "second", "memory", "finished", "key", "identity", "warnings")


@dataclass(frozen=True)
class Plot:
    """A picture that is drawn when it is asked for.

    Attributes
    ----------
    name : str
        Name of its file.
    experiment : str
        Experiment it belongs to.
    caption : str
        What it shows.
    draw : callable
        Returns the figure.
    rows : sequence of dict
        What it shows the numbers of.
    """

    name: str
    experiment: str
    caption: str
    draw: Callable[[], Any]
    rows: Sequence[Row]

    @property
    def source(self) -> str:
        """Hash of the numbers it is drawn from; the picture carries it."""
        steady = [
            {key: row[key] for key in sorted(row) if not any(word in key for word in _UNSTEADY)}
            for row in self.rows
        ]
        return hashlib.sha256(json.dumps(steady).encode()).hexdigest()[:20]

    def png(self) -> bytes:
        """Return the picture, without the date or version that would make each file differ."""
        buffer = io.BytesIO()
        told = {"Software": None, "Source": self.source}
        self.draw().savefig(buffer, format="png", dpi=DPI, metadata=told)
        return buffer.getvalue()


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure; no display is needed."""
    require("matplotlib", extra="plot", purpose="Plots")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def tidy(axes: Any) -> None:
    """Take away what does not carry data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


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
    from zslearn.reproduce.experiments import KINDS, program

    current = latest(rows)
    for module in dict.fromkeys(map(program, KINDS)):
        if hasattr(module, "plots"):
            yield from module.plots(current)
