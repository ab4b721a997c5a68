"""Write the table of docs/which_method.md from what measure_auto.py measured.

python scripts/auto_table.py [--check]
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pages
from measure_auto import ROWS

Rows = list[dict[str, Any]]


def best_alone(row: dict[str, Any]) -> tuple[str, float]:
    """Return the member that is best on the test classes, and its accuracy."""
    found = {name: value for name, value in row["alone"].items() if value is not None}
    name = max(found, key=found.__getitem__)
    return name, found[name]


def lost(row: dict[str, Any]) -> float:
    """Return what is lost against the best member, negative if something is won."""
    return float(best_alone(row)[1] - row["reached"])


def covered(row: dict[str, Any]) -> bool:
    """Say whether the accuracy reached is in the interval that was expected."""
    low, _, high = row["expected"]
    return bool(low <= row["reached"] <= high)


def table(rows: Rows) -> str:
    """One line per split, and one with the means."""
    lines = [
        "| data | split | taken | reached | best alone | lost | expected | inside |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        name, accuracy = best_alone(row)
        low, middle, high = map(pages.short, row["expected"])
        lines.append(
            f"| {row['data']} | {row['split']} | `{row['taken']}` | "
            f"{pages.short(row['reached'])} | {pages.short(accuracy)}, `{name}` | "
            f"{100 * lost(row):.1f} | "
            f"{middle} ({low} to {high}) | {'yes' if covered(row) else 'no'} |"
        )
    losses = [lost(row) for row in rows]
    inside = sum(map(covered, rows))
    return "\n".join(lines) + (
        f"\n\nIn the mean of {len(rows)} splits {100 * np.mean(losses):.1f} points are lost "
        f"against the best member, {100 * max(losses):.1f} at most; {inside} of {len(rows)} "
        "intervals hold what was reached.\n"
    )


if __name__ == "__main__":
    measured: Rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    page = pages.ROOT / "docs" / "which_method.md"
    text = pages.filled(page, {"splits": table(measured)})
    pages.main(__doc__.splitlines()[0], {page: text})
