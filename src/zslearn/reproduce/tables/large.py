"""Large scale: the sizes of ImNet-1 and ImNet-2 on synthetic data."""

from __future__ import annotations

from collections.abc import Iterable

from zslearn.reproduce.tables.selection import (
    Row,
    failures,
    megabytes,
    percent,
    seconds,
    select,
)
from zslearn.reproduce.tables.table import Table

NOTES = (
    "Synthetic features, linear in the signature plus noise: accuracies say that the programs "
    "work at this size, not how well a method does on ImageNet, so no published value is "
    "shown next to them. Data is read from disk block by block, in one pass that also chooses λ; "
    "fit s is the time for all of this.",
    "Scale 1 is the size of the paper's data; at a smaller scale rows shrink with it, features and "
    "dimensions with its square root, noise with its fourth root, classes stay. test s is the time "
    "of reading everything and recognizing the unseen classes in both directions.",
)


def large_tables(rows: Iterable[Row]) -> list[Table]:
    """Return hit@5, times and memory by setting and scale."""
    chosen = select(rows, kind="large")
    if not chosen:
        return []
    columns = (
        "setting",
        "scale",
        "rows × features",
        "seen/unseen",
        "encoder",
        "decoder",
        "fit s",
        "test s",
        "data MB",
        "peak MB",
    )
    body = tuple(_line(row) for row in chosen)
    notes = (*NOTES, *(f"failed: {text}" for text in failures(chosen)))
    return [
        Table("imnet-like", "Large scale, synthetic: hit@5 (and hit@1) in %", columns, body, notes)
    ]


def _line(row: Row) -> tuple[str, ...]:
    head = (row["parameter_name"], f"{row['parameter_scale']:g}")
    classes = f"{row['parameter_n_seen']}/{row['parameter_n_unseen']}"
    if row["status"] == "failed":
        return (*head, "", classes, "failed", *[""] * 5)
    return (
        *head,
        f"{row['n_samples']:,} × {row['n_features']:,}",
        classes,
        f"{percent(row['encoder_hit_at_5'])} ({percent(row['encoder_hit_at_1'])})",
        f"{percent(row['hit_at_5'])} ({percent(row['hit_at_1'])})",
        seconds(row["fit_seconds"]),
        seconds(row["predict_seconds"]),
        megabytes(row["data_mb"]),
        megabytes(row["peak_memory_mb"] or 0),
    )
