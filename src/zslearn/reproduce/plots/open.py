"""Reliability diagrams and curves of accuracy against coverage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zslearn.reproduce.plots.style import COLORS, LINES, Plot, drawn, new_figure, tidy
from zslearn.reproduce.tables.open import WAYS
from zslearn.reproduce.tables.selection import (
    Row,
    file_name,
    grouped,
    method_title,
    select,
    where,
)

SHOWN_WAYS = ("right", "known", "score", "margin", "probability")


def open_plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield two pictures for each data set, of the first split and draw of unknown classes."""
    chosen = select(rows, kind="open", status="ok")
    for group in grouped(chosen, "dataset", "semantics").values():
        first = group[0]
        mine = [r for r in group if (r["split"], r["seed"]) == (first["split"], first["seed"])]
        yield _reliability(mine)
        yield _coverage(mine)


def _reliability(rows: list[Row]) -> Plot:
    """Draw probability against accuracy, before and after calibration."""
    settings = {"conventional": "unseen candidates", "generalized": "all candidates"}
    figure = new_figure(9.6, 4.6)
    for axes, (setting, words) in zip(figure.subplots(1, 2), settings.items(), strict=True):
        axes.axline((0, 0), slope=1, color="black", linestyle=":", linewidth=1)
        for i, row in enumerate(rows):
            for kind, line in (("plain", ":"), ("calibrated", "-")):
                curve = row["series"][f"reliability_{kind}_{setting}"]
                error = row[f"ece_{kind}_{setting}"]
                label = f"{method_title(row['method'])}, {kind}, {error:.3f}"
                axes.plot(
                    curve["confidence"], curve["accuracy"], line, color=COLORS[i], label=label
                )
                size = [300 * share for share in curve["share"]]
                axes.scatter(curve["confidence"], curve["accuracy"], size, COLORS[i], alpha=0.5)
        axes.set(xlabel="probability of the answer", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
        axes.set_title(words, fontsize=10)
        axes.legend(title="method, error", fontsize=7, title_fontsize=7, loc="upper left")
        tidy(axes)
    return _plot("reliability", "Probability and accuracy of answers; size: samples.", rows, figure)


def _coverage(rows: list[Row]) -> Plot:
    """Draw accuracy against coverage, one panel for each method."""
    figure = new_figure(4.8 * len(rows), 4.4)
    panels = figure.subplots(1, len(rows), squeeze=False)[0]
    for axes, row in zip(panels, rows, strict=True):
        for i, way in enumerate(SHOWN_WAYS):
            curve = row["series"][f"rejection_{way}"]
            label = f"{WAYS[way]}, {row[f'auroc_{way}']:.3f}"
            line = LINES[i % len(LINES)]
            axes.plot(curve["coverage"], curve["accuracy"], line, color=COLORS[i], label=label)
        axes.set(
            xlabel="share of the samples that gets an answer",
            ylabel="accuracy of the answers",
            xlim=(0, 1),
            ylim=(0, 1),
        )
        axes.set_title(method_title(row["method"]), fontsize=10)
        axes.legend(title="confidence, AUROC", fontsize=7, title_fontsize=7, loc="lower left")
        tidy(axes)
    text = "Accuracy as answers of low confidence are rejected; a third of unseen classes unknown."
    return _plot("coverage", text, rows, figure)


def _plot(name: str, caption: str, rows: list[Row], figure: Any) -> Plot:
    first = rows[0]
    title = file_name(name, first["dataset"], first["semantics"])
    return Plot(title, "open", f"{caption} {where(first)}.", drawn(figure))
