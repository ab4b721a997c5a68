"""Write the tables of docs/your_own_pictures.md from what measure_pictures.py measured.

python scripts/pictures_table.py [--check]
"""

from __future__ import annotations

import json

import numpy as np
import pages
from measure_pictures import ROWS, SHIPPED, VIEWS
from measure_words import METHODS
from words_table import TITLES, Rows

from zslearn.reproduce.tables.class_splits import paired_interval, split_kind


def accuracies(rows: Rows, features: str, per_class: int, method: str) -> dict[str, float]:
    """Accuracy by split."""
    wanted = (features, per_class, method)
    return {
        row["split"]: row["accuracy"]
        for row in rows
        if (row["features"], row["per_class"], row["method"]) == wanted
    }


def against_shipped(rows: Rows) -> str:
    """Compare the features that ship and our own: on the standard split and over random splits."""
    lines = [
        "| method | standard split: shipped | own | random splits: shipped | own | difference |",
        "|---|---|---|---|---|---|",
    ]
    for method in METHODS:
        shipped, own = (accuracies(rows, kind, 60, method) for kind in (SHIPPED, VIEWS[0]))
        cells = [pages.short(found["standard"]) for found in (shipped, own)]
        lines.append(
            f"| {TITLES[method]} | " + " | ".join([*cells, *_compared(own, shipped)]) + " |"
        )
    return "\n".join(lines) + "\n"


def views(rows: Rows) -> str:
    """Averaged views against the middle alone, over random splits, for each number of pictures."""
    lines = ["| views | photographs per class | method | center | averaged | difference |"]
    lines.append("|---|---|---|---|---|---|")
    for per_class in sorted({row["per_class"] for row in rows}, reverse=True):
        for kind in VIEWS[1:]:
            for method in METHODS:
                own = accuracies(rows, kind, per_class, method)
                base = accuracies(rows, VIEWS[0], per_class, method)
                if own and set(own) == set(base):  # measured on all splits
                    cells = [kind, str(per_class), TITLES[method], *_compared(own, base)]
                    lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _compared(own: dict[str, float], base: dict[str, float]) -> list[str]:
    """Return both means over the random splits they share, and the interval of the difference."""
    splits = [split for split in own if split_kind(split) == "random" and split in base]
    means = [pages.short(float(np.mean([found[s] for s in splits]))) for found in (base, own)]
    low, high = paired_interval([own[split] - base[split] for split in splits])
    return [*means, f"{100 * low:+.1f} … {100 * high:+.1f}"]


if __name__ == "__main__":
    measured: Rows = json.loads(ROWS.read_text())
    page = pages.ROOT / "docs" / "your_own_pictures.md"
    tables = {"shipped and own": against_shipped(measured), "views": views(measured)}
    pages.main(__doc__.splitlines()[0], {page: pages.filled(page, tables)})
