"""The paper's Table 1 for the available data."""

from __future__ import annotations

from collections.abc import Iterable

from zslearn.reproduce.published import SAME_DATA, published_values
from zslearn.reproduce.tables.selection import Row, select
from zslearn.reproduce.tables.table import Table


def description_tables(rows: Iterable[Row]) -> list[Table]:
    """Return sizes of the data sets, next to the paper's."""
    chosen = [row for row in select(rows, kind="description") if row["status"] == "ok"]
    if not chosen:
        return []
    columns = ("data set", "features", "instances", "semantic spaces", "seen/unseen", "paper")
    body = tuple(
        (
            row["dataset"],
            row["feature_title"],
            f"{row['n_samples']:,}",
            ", ".join(f"{name} ({size})" for name, size in row["series"]["spaces"].items()),
            ", ".join(f"{size} ({name})" for name, size in row["series"]["splits"].items()),
            _paper(row["dataset"]),
        )
        for row in chosen
    )
    notes = ("Paper: instances, dimensions of the semantic space, seen/unseen classes.",)
    return [Table("datasets", "Data sets of this run", columns, body, notes)]


def _paper(dataset: str) -> str:
    name = SAME_DATA.get(dataset, dataset)
    told = {
        value.metric: f"{value.value:,.0f}"
        for value in published_values()
        if value.dataset == name and value.source.endswith("Table 1")
    }
    if not told:
        return ""
    classes = f"{told['seen classes']}/{told['unseen classes']}"
    return f"{told['instances']}; {told['dimensions']}; {classes}"
