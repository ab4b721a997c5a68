"""The paper's picture of supervised clustering."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from zslearn.cluster import MAPPINGS
from zslearn.reproduce.plots.style import COLORS, MARKERS, Plot, drawn, new_figure, tidy
from zslearn.reproduce.tables.selection import Row, select


def cluster_plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield the true classes and what k-means finds after each mapping."""
    done = {row["method"]: row for row in select(rows, kind="cluster-picture", status="ok")}
    if not done:
        return
    any_row = next(iter(done.values()))
    panels = [("true classes", any_row["series"], "classes")]
    panels += [
        (f"{MAPPINGS[name].title}: loss {done[name]['clustering_loss']:.2f}", series, "clusters")
        for name in ("euclidean", "mlca", "sae", *done)
        if name in done and (series := done[name]["series"])
    ]
    panels = list({title: (title, *rest) for title, *rest in panels}.values())
    figure = new_figure(3.0 * len(panels), 5.0)
    grid = figure.subplots(2, len(panels), sharex=True, sharey=True)
    for column, (title, series, key) in enumerate(panels):
        points, labels = np.array(series["points"]), np.array(series[key])
        labels = _matched(labels, np.array(series["classes"]))
        upper = points[:, 1] > points[:, 1].mean()
        for axes, part in zip(grid[:, column], (upper, ~upper), strict=True):
            _scatter(axes, points[part], labels[part])
        grid[0, column].set_title(title, fontsize=10)
        grid[1, column].set(xlabel="first feature")
    for axes, part in zip(grid[:, 0], ("near 60", "near 0"), strict=True):
        axes.set(ylabel=f"third feature\n(second feature {part})")
    yield Plot(
        "figure-clusters",
        "figure-clusters",
        "Synthetic data whose classes are each split in two parts that lie 60 apart along the "
        "second feature (upper and lower row): the true classes, and the clusters that k-means "
        "finds after each mapping, colored by the class they hold most of.",
        drawn(figure),
    )


def _matched(labels: Any, classes: Any) -> Any:
    """Rename clusters so that as many points as possible carry their class."""
    counts = np.array(
        [[np.sum((labels == a) & (classes == b)) for b in range(3)] for a in range(3)]
    )
    _, names = linear_sum_assignment(-counts)
    return names[labels]


def _scatter(axes: Any, points: Any, labels: Any) -> None:
    for i, label in enumerate(range(3)):
        mine = points[labels == label]
        axes.scatter(
            mine[:, 0], mine[:, 2], s=12, color=COLORS[i], marker=MARKERS[i], alpha=0.7, lw=0
        )
    tidy(axes)
