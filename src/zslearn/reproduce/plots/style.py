"""How plots look: the colors of Okabe and Ito, which color-blind readers can distinguish."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from zslearn._optional import require

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"
COLORS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
DPI = 130


@dataclass(frozen=True)
class Plot:
    """A picture with its caption.

    Attributes
    ----------
    name : str
        Name of its file.
    experiment : str
        Experiment it belongs to.
    caption : str
        What it shows.
    png : bytes
        The picture.
    """

    name: str
    experiment: str
    caption: str
    png: bytes


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure; no display is needed."""
    require("matplotlib", extra="plot", purpose="Plots")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def drawn(figure: Any) -> bytes:
    """Return a figure as PNG, without the date or version that would make each file differ."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def tidy(axes: Any) -> None:
    """Take away what does not carry data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
