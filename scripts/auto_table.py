"""Write the tables of docs/which_method.md from what measure_auto.py measured.

python scripts/auto_table.py [--check]
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pages
from compare_choices import ROWS as CHOICE_ROWS
from compare_choices import Rows, choices, rows_of

from zslearn.zero_shot.registry import RECOMMENDED

ROWS = pages.ROOT / "results" / "auto.jsonl"
HEAD = [
    "| data | problems | taken | reached | prototype regression | plain leader | best member | "
    "expected | intervals that hold | rejected | CPU s | CPU s of prototype regression |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
]


def mean(values: Any) -> float:
    """Return the mean of numbers."""
    return float(np.mean(list(values)))


def best(row: dict[str, Any]) -> float:
    """Return what the member that is best on the unseen classes reaches, which nobody knows."""
    return max(value for value in row["alone"].values() if value is not None)


def leader(row: dict[str, Any]) -> float:
    """Return what the member that is best on the held-out classes reaches."""
    means = {name: mean(values) for name, values in row["held_out"].items()}
    return float(row["alone"][max(means, key=lambda name: means[name])])


def holds(row: dict[str, Any], among: str = "unseen") -> bool:
    """Say whether the accuracy reached is in the interval that was expected."""
    low, _, high = row[f"expected_{among}"]
    return bool(low - 1e-9 <= row[f"reached_{among}"] <= high + 1e-9)


def line(name: str, rows: Rows, taken: bool = True) -> str:
    """Return one line of the table, with means over problems."""
    counts = Counter(row["taken"] for row in rows).most_common()
    cells = [
        name,
        str(len(rows)),
        "; ".join(f"`{one}` × {n}" for one, n in counts) if taken else "",
        pages.short(mean(row["reached_unseen"] for row in rows)),
        pages.short(mean(row["alone"][RECOMMENDED] for row in rows)),
        pages.short(mean(map(leader, rows))),
        pages.short(mean(map(best, rows))),
        pages.short(mean(row["expected_unseen"][1] for row in rows)),
        f"{sum(map(holds, rows))} of {len(rows)}",
        pages.short(mean(row["rejected_unseen"] for row in rows)),
        f"{mean(row['cpu'] for row in rows):.1f}",
        f"{mean(row['cpu_recommended'] for row in rows):.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def table(rows: Rows) -> str:
    """One line per data set, and one with the means over all problems."""
    names = dict.fromkeys(row["data"] for row in rows)
    lines = [line(name, [row for row in rows if row["data"] == name]) for name in names]
    among_all = sum(holds(row, "all") for row in rows)
    return "\n".join([*HEAD, *lines, line("all", rows, taken=False)]) + (
        f"\n\nWith all classes as candidates {among_all} of {len(rows)} intervals hold; there "
        f"{mean(row['reached_all'] for row in rows):.1%} of the samples of unseen classes are "
        f"recognized and {mean(row['rejected_all'] for row in rows):.1%} rejected.\n"
    )


if __name__ == "__main__":
    page = pages.ROOT / "docs" / "which_method.md"
    tables = {"measured": table(rows_of(ROWS)), "choices": choices(rows_of(CHOICE_ROWS))}
    pages.main(__doc__.splitlines()[0], {page: pages.filled(page, tables)})
