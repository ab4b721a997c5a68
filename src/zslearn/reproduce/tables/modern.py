"""Generators of features beside closed-form methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zslearn.reproduce.tables.selection import (
    Row,
    by_method,
    cell,
    failures,
    file_name,
    grouped,
    method_title,
    percent,
    select,
)
from zslearn.reproduce.tables.table import Table, best_cells

COLUMNS = {
    "per_class_accuracy": "T1",
    "unseen_accuracy": "U",
    "seen_accuracy": "S",
    "harmonic_mean": "H",
    "best_on_test_accuracy": "T1, best on test",
    "best_on_test_harmonic_mean": "H, best on test",
}
NOTE = (
    "Per-class accuracy in %, all settings chosen on seen classes: T1 among the unseen classes; U "
    "and S of unseen and seen classes among all, H their harmonic mean (bias of calibrated "
    "stacking; generators balance the two sides by the number of synthesized samples). Best on "
    "test: the checkpoint of the generator that the test samples like best, which many published "
    "figures are. Minutes: CPU time of the fit on one core, choice of settings included."
)
OVER = "Mean ± standard deviation over seeds; one figure is one seed."


def modern_tables(rows: Iterable[Row]) -> list[Table]:
    """Return one table for each data set: methods down, both settings across."""
    groups = grouped(select(rows, kind="modern"), "dataset", "semantics")
    return [_table(dataset, space, group) for (dataset, space), group in groups.items()]


def _table(dataset: str, space: str, group: Sequence[Row]) -> Table:
    body = [
        (
            method_title(name),
            str(len(select(mine, status="ok"))),
            *(cell(mine, key, percent) for key in COLUMNS),
            cell(mine, "fit_cpu_minutes", _minutes),
        )
        for name, mine in by_method(group).items()
    ]
    notes = (NOTE, OVER, *(f"failed: {text}" for text in failures(group)))
    columns = ("method", "seeds", *COLUMNS.values(), "minutes")
    title = f"Generators and closed forms: {dataset}, {space}"
    best = best_cells(body, (2, 5))
    return Table(file_name("modern", dataset, space), title, columns, tuple(body), notes, best)


def _minutes(value: float) -> str:
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"
