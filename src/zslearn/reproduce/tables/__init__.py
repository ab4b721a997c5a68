"""Tables made only from the rows of a results file."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence

from zslearn.reproduce.tables.selection import Row, latest
from zslearn.reproduce.tables.table import Table

__all__ = ["Table", "make_tables"]

MAKERS = {
    "datasets": "description:description_tables",
    "clustering-equal": "clustering:equal_tables",
    "clustering-unequal": "clustering:unequal_tables",
    "ablation": "ablation:ablation_tables",
    "zsl": "zero_shot:zsl_tables",
    "spaces": "zero_shot:space_tables",
    "gzsl": "zero_shot:gzsl_tables",
    "cost": "cost:cost_tables",
    "imnet-like": "large:large_tables",
    "xian": "zero_shot:xian_tables",
    "flowers": "flowers:flowers_tables",
    "clustering-tables": "clustering_tables:sample_tables",
    "clustering-new-classes": "clustering_tables:class_tables",
    "open": "open:open_tables",
    "splits": "class_splits:split_tables",
    "splits-parts": "class_splits:part_tables",
    "splits-hard": "class_splits:hard_tables",
    "modern": "modern:modern_tables",
    "shots": "few_shot:shots_tables",
    "texts": "few_shot:texts_tables",
    "adapt": "few_shot:adapt_tables",
    "novelty": "few_shot:novelty_tables",
}


def make_tables(rows: Iterable[Row], experiments: Sequence[str] = ()) -> dict[str, list[Table]]:
    """Return the tables of experiments.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file.
    experiments : sequence of str, optional
        Names of experiments; all by default.

    Returns
    -------
    dict of str to list of Table
        Tables by experiment, for those that have rows.

    Examples
    --------
    >>> from zslearn.reproduce import make_tables
    >>> make_tables([])
    {}
    """
    current = latest(rows)
    made = {}
    for name in experiments or MAKERS:
        if name in MAKERS:
            module, _, function = MAKERS[name].partition(":")
            room = importlib.import_module(f"zslearn.reproduce.tables.{module}")
            made[name] = getattr(room, function)(current)
    return {name: tables for name, tables in made.items() if tables}
