"""Segmentation of flowers: a short form of the paper's Table 8."""

from __future__ import annotations

from collections.abc import Iterable

from zslearn.cluster import LEARNERS
from zslearn.reproduce.published import find_published
from zslearn.reproduce.tables.selection import Row, failures, seconds, select
from zslearn.reproduce.tables.table import Table, best_cells


def flowers_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the loss of each mapping; the paper's values are told, not set beside ours."""
    chosen = select(rows, kind="flowers")
    done = [row for row in chosen if row["status"] == "ok"]
    if not done:
        return []
    body = [
        (
            LEARNERS[row["method"]].title,
            f"{row['clustering_loss']:.3f} ± {row['standard_error']:.3f}",
            seconds(row["fit_seconds"]),
        )
        for row in done
    ]
    paper = find_published("flowers17", "", "clustering loss")
    told = ", ".join(f"{value.title} {value.text}" for value in paper)
    first = done[0]
    notes = [
        f"{first['parameter_train']} training and {first['parameter_test']} test photographs of "
        f"height {first['parameter_height']}, {first['n_pixels']:,} training pixels; loss per "
        "photograph ± standard error. λ of SAE is 100, not searched.",
        "A short form: the full experiment, five splits of all photographs with λ by validation, "
        "is benchmarks/flowers.py. The paper used other splits, a larger height and an unknown "
        f"reading of undefined pixels, so its losses ({told}) cannot be compared with these.",
        *(f"failed: {text}" for text in failures(chosen)),
    ]
    columns = ("mapping", "loss", "fit s")
    title = "Flowers-17: clustering loss of pixels, lower is better"
    best = best_cells(body, (1,), lowest=True)
    return [Table("flowers", title, columns, tuple(body), tuple(notes), best)]
