"""Write the tables of docs/your_own_words.md from what measure_words.py measured.

python scripts/words_table.py [--check]
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pages
from measure_words import MAIN, METHODS, ROWS

from zslearn.reproduce.tables.class_splits import paired_interval, split_kind

Rows = list[dict[str, Any]]
TITLES = {
    "prototype-regression": "prototype regression",
    "sae": "SAE",
    "rrzsl": "RRZSL",
    "eszsl": "ESZSL",
}


def accuracies(rows: Rows, semantics: str, method: str, kind: str) -> dict[str, float]:
    """Accuracy by split."""
    return {
        row["split"]: row["accuracy"]
        for row in rows
        if (row["semantics"], row["method"], split_kind(row["split"])) == (semantics, method, kind)
    }


def fixed(rows: Rows, split: str) -> str:
    """Signatures down, methods across, for one of the two splits of the data set."""
    lines = ["| signatures | " + " | ".join(TITLES.values()) + " |", "|---|" + "---|" * len(TITLES)]
    for semantics in MAIN:
        found = [accuracies(rows, semantics, method, split)[split] for method in METHODS]
        lines.append(f"| {semantics} | " + " | ".join(map(pages.short, found)) + " |")
    return "\n".join(lines) + "\n"


def random(rows: Rows) -> str:
    """Means over random splits with the interval of the paired difference from attributes.

    A dash stands for what has not been measured on all of them.
    """
    methods = [m for m in METHODS if accuracies(rows, "attributes", m, "random")]
    titles = [TITLES[method] for method in methods]
    lines = ["| signatures | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    for semantics in dict.fromkeys(row["semantics"] for row in rows):
        cells = [_against_attributes(rows, semantics, method) for method in methods]
        lines.append(f"| {semantics} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _against_attributes(rows: Rows, semantics: str, method: str) -> str:
    own = accuracies(rows, semantics, method, "random")
    base = accuracies(rows, "attributes", method, "random")
    if set(own) < set(base):
        return "–"
    found = list(own.values())
    mean = f"{pages.short(float(np.mean(found)))} ± {pages.short(float(np.std(found, ddof=1)))}"
    if semantics == "attributes":
        return mean
    low, high = paired_interval([own[split] - base[split] for split in base])
    return f"{mean} ({100 * low:+.0f} … {100 * high:+.0f})"


if __name__ == "__main__":
    measured: Rows = json.loads(ROWS.read_text())
    page = pages.ROOT / "docs" / "your_own_words.md"
    tables = {
        "proposed split": fixed(measured, "proposed"),
        "standard split": fixed(measured, "standard"),
        "random splits": random(measured),
    }
    pages.main(__doc__.splitlines()[0], {page: pages.filled(page, tables)})
