"""Sizes of the data sets: the paper's Table 1."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from zslearn.datasets.xlsa17 import read_split_file
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import Row, Table, select


def measure(run: Run) -> dict[str, Any]:
    """Count samples, features, dimensions and classes; without features, what the splits list."""
    data = run.data.load()
    splits = {
        name: f"{len(split.seen)}/{len(split.unseen)}"
        for name, split in data.splits.items()
        if name in ("standard", "proposed")
    }
    spaces = {name: space.shape[1] for name, space in data.semantics.items()}
    described = run.data.group == "described"
    return {
        "n_samples": _listed(Path(run.data.path)) if described else len(data.y),
        "n_features": data.X.shape[1],
        "n_classes": len(data.classes),
        "feature_title": "not here" if described else data.features,
        "series": {"splits": splits, "spaces": spaces},
    }


def _listed(folder: Path) -> int:
    """Count the samples that the splits of an xlsa17 data set are made of."""
    rows = read_split_file(folder / "att_splits.mat", "original").rows
    return len(np.unique(np.concatenate(list(rows.values()))))


def description_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the sizes of the data sets that were found."""
    chosen = select(rows, kind="description", status="ok")
    if not chosen:
        return []
    columns = ("data set", "features", "instances", "semantic spaces", "seen/unseen")
    body = tuple(
        (
            row["dataset"],
            row["feature_title"],
            f"{row['n_samples']:,}",
            ", ".join(f"{name} ({size})" for name, size in row["series"]["spaces"].items()),
            ", ".join(f"{size} ({name})" for name, size in row["series"]["splits"].items()),
        )
        for row in chosen
    )
    return [Table("datasets", "Data sets of this run", columns, body)]


TABLES = {"datasets": description_tables}
