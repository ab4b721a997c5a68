"""Write the tables of docs/prototype_regression.md from the results of ``zslearn reproduce``.

    python scripts/prototype_table.py [--check]

The results are those of the experiments splits, splits-spaces, splits-parts, splits-hard and
splits-few-seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pages

from zslearn.reproduce import ResultsFile, load_experiments
from zslearn.reproduce.tables.class_splits import (
    PARTS,
    REFERENCE,
    accuracies,
    paired_interval,
    part_of,
    split_kind,
)
from zslearn.reproduce.tables.selection import select

Rows = list[dict[str, Any]]
Column = tuple[str, str, str]  # data set, semantic space, split or case


def measured() -> Rows:
    return select(ResultsFile(pages.RESULTS).rows(), kind="class-splits")


def method_of(row: dict[str, Any]) -> str:
    return str(row["method"])


def pivot(
    rows: Rows, label: Callable[[dict[str, Any]], str], reference: str, columns: dict[str, Column]
) -> str:
    """Methods down, problems across; random splits with paired differences from the reference."""
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for text in dict.fromkeys(label(row) for row in rows):
        cells = [cell(rows, label, reference, text, column) for column in columns.values()]
        lines.append(f"| {text} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cell(
    rows: Rows, label: Callable[[dict[str, Any]], str], reference: str, text: str, column: Column
) -> str:
    """Mean accuracy, and over several splits the 95 % interval of the paired difference."""
    data, space, kind = column
    chosen = [
        row
        for row in select(rows, dataset=data, semantics=space)
        if kind in (split_kind(row["split"]), row.get("parameter_case"))
    ]
    own, base = (
        accuracies(row for row in chosen if label(row) == name) for name in (text, reference)
    )
    if not own or base.keys() != own.keys():
        sys.exit(f"{data}, {space}, {kind}, {text}: some splits are not measured")
    share = pages.short(float(np.mean(list(own.values()))))
    if len(own) < 3 or text == reference:
        return share
    low, high = paired_interval([own[split] - base[split] for split in own])
    return f"{share} ({100 * low:+.1f} … {100 * high:+.1f})"


NAMES = {"CUB": "CUB", "AWA1": "AWA1", "animals": "animals28"}
SPLITS: dict[str, Column] = {
    f"{title}, 10 random": (name, "attributes", "random") for title, name in NAMES.items()
}
FIXED: dict[str, Column] = {
    "CUB": ("CUB", "attributes", "proposed"),
    "CUB, sentences": ("CUB", "sentences", "proposed"),
    "AWA1": ("AWA1", "attributes", "proposed"),
    "AWA1, standard": ("AWA1", "attributes", "standard"),
    "AWA1, words": ("AWA1", "word vectors", "proposed"),
    "AWA1, words, standard": ("AWA1", "word vectors", "standard"),
    "animals": ("animals28", "attributes", "proposed"),
    "animals, standard": ("animals28", "attributes", "standard"),
}
SPACES: dict[str, Column] = {
    "CUB, sentences, 10 random": ("CUB", "sentences", "random"),
    "AWA1, words, 10 random": ("AWA1", "word vectors", "random"),
}
CASES = ("20 seen", "50 seen", "100 seen", "1 per class", "5 per class", "20 per class")
CASES += ("noisy attributes", "half missing")


def hard(rows: Rows, title: str) -> str:
    there = {row["parameter_case"] for row in select(rows, dataset=NAMES[title])}
    kept = [case for case in CASES if case in there]
    columns = {f"{title}: {case}": (NAMES[title], "attributes", case) for case in kept}
    return pivot(rows, method_of, REFERENCE, columns)


def tables() -> dict[str, str]:
    rows = measured()
    cases = [row for row in rows if row.get("parameter_case")]
    plain = select(rows, parameter_case=None)
    whole = PARTS[()]
    main = [row for row in plain if part_of(row) == whole]
    parts = select(plain, method=REFERENCE)
    few = load_experiments()["splits-spaces"].methods
    return {
        "splits": pivot(main, method_of, REFERENCE, SPLITS),
        "spaces": pivot([r for r in main if r["method"] in few], method_of, REFERENCE, SPACES),
        "fixed splits": pivot(main, method_of, REFERENCE, FIXED),
        "ablation": pivot(parts, part_of, whole, SPLITS),
        "fixed ablation": pivot(parts, part_of, whole, FIXED),
        **{f"hard {title}": hard(cases, title) for title in NAMES},
    }


if __name__ == "__main__":
    page = pages.ROOT / "docs" / "prototype_regression.md"
    pages.main(__doc__.splitlines()[0], {page: pages.filled(page, tables())})
