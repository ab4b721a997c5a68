"""Supervised clustering of tables that scikit-learn ships."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from zslearn.cluster import MAPPINGS
from zslearn.reproduce.tables.selection import Row, failures, grouped, select
from zslearn.reproduce.tables.table import Table, best_cells

HOW = (
    "features standardized on the training half. Clustering loss divided by its largest value "
    "(0 best, 1 unrelated) ± standard error / adjusted Rand index (1 best)."
)


def sample_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the losses where halves of the samples were trained on."""
    chosen = select(rows, kind="clustering-tables", parameter_new_classes=None)
    return _tables(chosen, "clustering-tables", "ordinary tables", "stratified halves")


def class_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the losses where halves of the classes were trained on."""
    chosen = select(rows, kind="clustering-tables", parameter_new_classes=True)
    return _tables(chosen, "clustering-new-classes", "new classes", "halves of the classes")


def _tables(rows: Sequence[Row], name: str, what: str, halves: str) -> list[Table]:
    if not rows:
        return []
    tables = list(dict.fromkeys(row["parameter_table"] for row in rows))
    groups = grouped(rows, "method", "parameter_table")
    methods = [name for name in MAPPINGS if any(name == row["method"] for row in rows)]
    body = [
        (MAPPINGS[method].title, *(_cell(groups.get((method, table), [])) for table in tables))
        for method in methods
    ]
    splits = max(row["parameter_splits"] for row in rows)
    notes = [f"{splits} random {halves}, {HOW}", *(f"failed: {text}" for text in failures(rows))]
    best = best_cells(
        [[cell.partition(" /")[0] for cell in line] for line in body],
        range(1, len(tables) + 1),
        lowest=True,
    )
    title = f"Supervised clustering of {what}: test loss, lower is better"
    return [Table(name, title, ("mapping", *tables), tuple(body), tuple(notes), best)]


def _cell(rows: Sequence[Row]) -> str:
    done = [row for row in rows if row["status"] == "ok"]
    if not done:
        return "failed" if rows else ""
    losses = done[-1]["series"]["losses"]
    error = f" ± {np.std(losses, ddof=1) / np.sqrt(len(losses)):.3f}" if len(losses) > 1 else ""
    return f"{np.mean(losses):.3f}{error} / {done[-1]['adjusted_rand_index']:.2f}"
