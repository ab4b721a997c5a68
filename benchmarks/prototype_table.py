"""Write the tables of docs/prototype_regression.md from what prototype_regression.py measured.

python benchmarks/prototype_table.py [--check]
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pages
from prototype_regression import ABLATION, OURS, RESULTS, kind_of, paired_interval

Rows = list[dict[str, Any]]


def measured(part: str) -> Rows:
    path = RESULTS / f"prototype_regression_{part}.json"
    rows: Rows = json.loads(path.read_text())
    return rows


def pivot(rows: Rows, reference: str, columns: list[tuple[str, str]], titles: list[str]) -> str:
    """Methods down, problems across; random splits with the paired difference to the reference."""
    lines = ["| | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = [cell(rows, reference, method, *column) for column in columns]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cell(rows: Rows, reference: str, method: str, data: str, kind: str) -> str:
    """Mean accuracy, and over several splits the 95 % interval of the paired difference."""
    chosen = [r for r in rows if r["data"] == data and kind_of(r["split"]) == kind]
    own = {r["split"]: r["accuracy"] for r in chosen if r["method"] == method}
    base = {r["split"]: r["accuracy"] for r in chosen if r["method"] == reference}
    if not own or base.keys() != own.keys():
        sys.exit(f"{data}, {kind}, {method}: some splits are not measured")
    if any(value is None for value in own.values()):
        return "failed"
    text = pages.short(float(np.mean(list(own.values()))))
    if len(own) < 3 or method == reference:
        return text
    low, high = paired_interval([own[split] - base[split] for split in own])
    return f"{text} ({100 * low:+.1f} … {100 * high:+.1f})"


SPLITS = {
    "CUB, 10 random": ("CUB", "random"),
    "AWA1, 10 random": ("AWA1", "random"),
    "animals, 10 random": ("animals", "random"),
}
FIXED = {
    "CUB": ("CUB", "proposed"),
    "CUB, sentences": ("CUB sentences", "proposed"),
    "AWA1": ("AWA1", "proposed"),
    "AWA1, standard": ("AWA1", "standard"),
    "AWA1, words": ("AWA1 word vectors", "proposed"),
    "AWA1, words, standard": ("AWA1 word vectors", "standard"),
    "animals": ("animals", "proposed"),
    "animals, standard": ("animals", "standard"),
}
CASES = ("20 seen", "50 seen", "100 seen", "1 a class", "5 a class", "20 a class")
CASES += ("noisy attributes", "half missing")


def hard(data: str) -> str:
    rows = measured("hard")
    columns = [(data, f"proposed, {case}") for case in CASES]
    there = {(r["data"], r["split"]) for r in rows}
    kept = [column for column in columns if column in there]
    return pivot(rows, OURS, kept, [f"{data}: {kind.split(', ')[1]}" for _, kind in kept])


def tables() -> dict[str, str]:
    main, parts = measured("main"), measured("ablation")
    whole = next(iter(ABLATION))
    return {
        "splits": pivot(main, OURS, list(SPLITS.values()), list(SPLITS)),
        "fixed splits": pivot(main, OURS, list(FIXED.values()), list(FIXED)),
        "ablation": pivot(parts, whole, list(SPLITS.values()), list(SPLITS)),
        "fixed ablation": pivot(parts, whole, list(FIXED.values()), list(FIXED)),
        **{f"hard {data}": hard(data) for data in ("CUB", "AWA1", "animals")},
    }


if __name__ == "__main__":
    page = pages.ROOT / "docs" / "prototype_regression.md"
    pages.main(__doc__.splitlines()[0], {page: pages.filled(page, tables())})
