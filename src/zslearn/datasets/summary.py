"""The table that describes a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zslearn.datasets.dataset import ZeroShotDataset

_HEADER = ("data set", "instances", "semantic space", "dimension", "seen/unseen")


def summarize(dataset: ZeroShotDataset) -> str:
    """Lay out a data set as the paper's Table 1 does, then name its features and source."""
    table = [_HEADER, *_table_rows(dataset)]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADER))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    notes = (("features", dataset.features), ("source", dataset.source))
    return "\n".join(lines + [f"{title}: {text}" for title, text in notes if text])


def _table_rows(dataset: ZeroShotDataset) -> list[tuple[str, ...]]:
    """Return one row of cells for each semantic space; shared facts appear in the first."""
    counts = ", ".join(
        f"{len(split.seen)}/{len(split.unseen)} ({name})" for name, split in dataset.splits.items()
    )
    first = (dataset.name, str(len(dataset.y)), counts)
    rows: list[tuple[str, ...]] = []
    for space, signatures in dataset.semantics.items():
        name, instances, splits = first if not rows else ("", "", "")
        rows.append((name, instances, space, str(signatures.vectors.shape[1]), splits))
    return rows
