"""Supervised clustering of synthetic data: the paper's Tables 6 and 7."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from zslearn.cluster import MAPPINGS
from zslearn.reproduce.published import find_published
from zslearn.reproduce.specification import base_name
from zslearn.reproduce.tables.selection import (
    Row,
    cell,
    failures,
    grouped,
    seconds,
    select,
)
from zslearn.reproduce.tables.table import Table, best_cells


def equal_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the losses for clusters of the same size."""
    return _tables(rows, "equal", "clusters of the same size")


def unequal_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the losses for clusters of different sizes."""
    return _tables(rows, "1:2:4", "clusters of different sizes (1:2:4)")


def _tables(rows: Iterable[Row], sizes: str, what: str) -> list[Table]:
    chosen = select(rows, kind="clustering", parameter_sizes=sizes)
    if not chosen:
        return []
    losses = {
        v.method: v.text for v in find_published(f"subclusters {sizes}", "", "clustering loss")
    }
    times = {v.method: v.text for v in find_published(f"subclusters {sizes}", "", "fit seconds")}
    groups = grouped(chosen, "method")
    known = list(MAPPINGS)
    order = sorted((name for (name,) in groups), key=lambda name: known.index(base_name(name)))
    columns: tuple[str, ...] = (
        "mapping",
        "loss",
        "loss, raw features",
        "fit s",
        "paper: loss",
        "paper: fit s",
    )
    body: list[tuple[str, ...]] = []
    for name in order:
        mine = groups[(name,)]
        scaled = select(mine, parameter_scaling="standardized")
        body.append(
            (
                _title(name),
                _spread(scaled),
                _spread(select(mine, parameter_scaling="raw")),
                cell(scaled, "fit_seconds", seconds),
                losses.get(name, ""),
                times.get(name, ""),
            )
        )
    facts = next((row for row in chosen if row["status"] == "ok"), None)
    notes = [*_notes(facts), *(f"failed: {text}" for text in failures(chosen))]
    if not any(line[2] for line in body):
        columns, body = (*columns[:2], *columns[3:]), [(*line[:2], *line[3:]) for line in body]
    name = "clustering-" + ("equal" if sizes == "equal" else "unequal")
    best = best_cells(body, (1, 2) if len(columns) > 5 else (1,), lowest=True)
    title = f"Supervised clustering, {what}: test loss, lower is better"
    return [Table(name, title, columns, tuple(body), tuple(notes), best)]


def _title(name: str) -> str:
    base, _, lam = name.partition("=")
    return MAPPINGS[base].title + (f", λ = {lam}" if lam else "")


def _spread(rows: list[Row]) -> str:
    losses = [loss for row in rows if row["status"] == "ok" for loss in row["series"]["losses"]]
    if not losses:
        return "failed" if rows else ""
    return f"{np.mean(losses):.3f} ± {np.std(losses):.3f}"


def _notes(row: Row | None) -> list[str]:
    if row is None:
        return []
    floor = np.mean(row["series"]["floor"])
    return [
        f"Mean and deviation over {row['parameter_draws']} draws of 3,000 balanced test points; "
        f"the partition that knows how the data was made has {floor:.3f}.",
        "Features standardized on the training rows unless stated; the paper does not say what it "
        "did. Its data is described, not published: values are for the same setting, not the same "
        "points. λ of SAE by cross-validation unless it is given, its time included.",
    ]
