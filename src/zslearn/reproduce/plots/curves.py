"""Seen-unseen curves of the generalized setting."""

from __future__ import annotations

from collections.abc import Iterator

from zslearn.reproduce.plots.style import COLORS, LINES, Plot, drawn, new_figure, tidy
from zslearn.reproduce.tables.selection import (
    MAIN_SPACES,
    Row,
    file_name,
    grouped,
    method_title,
    select,
    where,
)

SHOWN = 7


def curve_plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield one picture for each data set and split, with SAE and the best others."""
    chosen = select(
        rows, kind="zero-shot", protocol="generalized", status="ok", semantics=MAIN_SPACES
    )
    for group in grouped(chosen, "dataset", "features", "split").values():
        first = group[0]
        figure = new_figure(6.8, 4.8)
        axes = figure.subplots()
        for i, row in enumerate(_shown(group)):
            curve = row["series"]["curve"]
            label = f"{method_title(row['method'])}, {row['ausuc']:.3f}"
            color, line = COLORS[i % len(COLORS)], LINES[i % len(LINES)]
            axes.plot(curve["unseen"], curve["seen"], line, color=color, label=label)
            if "calibrated_seen_accuracy" in row:
                point = row["calibrated_unseen_accuracy"], row["calibrated_seen_accuracy"]
                axes.plot(*point, "o", color=color, markeredgecolor="black", markersize=6)
        axes.set(
            xlabel="accuracy on unseen classes",
            ylabel="accuracy on seen classes",
            xlim=(0, 1),
            ylim=(0, 1),
        )
        axes.legend(title="method, area", fontsize=8, title_fontsize=8)
        tidy(axes)
        experiment = "gzsl" if first["split"] == "standard" else "xian"
        yield Plot(
            file_name("curves", first["dataset"], first["split"]),
            experiment,
            "Seen and unseen accuracy for every bias; dots: the bias chosen on seen classes. "
            f"{where(first)}.",
            drawn(figure),
        )


def _shown(group: list[Row]) -> list[Row]:
    """Return both directions of SAE and the best others, best first."""
    ranked = sorted(group, key=lambda row: -row["ausuc"])
    own = [row for row in ranked if row["method"] in ("sae", "sae-encode")]
    others = [row for row in ranked if row not in own][: SHOWN - len(own)]
    return sorted(own + others, key=lambda row: -row["ausuc"])
