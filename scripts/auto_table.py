"""Write the table of docs/which_method.md from what measure_auto.py measured.

python scripts/auto_table.py [--check]
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pages
from measure_auto import ROWS

from zslearn.zero_shot.registry import RECOMMENDED

FRESH = ROWS.with_name("auto_fresh.jsonl")
UNFAMILIAR = ROWS.with_name("auto_tables.jsonl")
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
    return "\n".join(lines) + (
        f"\n\nIn the mean of {len(rows)} splits {100 * np.mean(losses):.1f} points are lost "
        f"against the best member, {100 * max(losses):.1f} at most; {inside(rows)}\n"
    )


def inside(rows: Rows) -> str:
    """Say how many intervals hold what was reached."""
    return f"{sum(map(covered, rows))} of {len(rows)} intervals hold what was reached."


def fresh_table(rows: Rows) -> str:
    """One line per split that nobody had looked at, beside prototype regression alone."""
    lines = [
        "| data | split | taken | reached | `prototype-regression` | expected | inside |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        low, middle, high = map(pages.short, row["expected"])
        lines.append(
            f"| {row['data']} | {row['split']} | `{row['taken']}` | "
            f"{pages.short(row['reached'])} | {pages.short(row['alone'][RECOMMENDED])} | "
            f"{middle} ({low} to {high}) | {'yes' if covered(row) else 'no'} |"
        )
    gains = [row["reached"] - row["alone"][RECOMMENDED] for row in rows]
    return "\n".join(lines) + (
        f"\n\nIn the mean of {len(rows)} splits `auto` is {100 * np.mean(gains):+.1f} points from "
        f"prototype regression, {100 * min(gains):+.1f} at worst; {inside(rows)}\n"
    )


def unfamiliar_table(rows: Rows) -> str:
    """One line per table, with means over its draws."""
    lines = [
        "| table | taken | reached | `prototype-regression` | best member | inside |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row["data"] for row in rows):
        draws = [row for row in rows if row["data"] == name]
        means = {
            member: np.mean([row["alone"][member] for row in draws])
            for member in draws[0]["alone"]
            if all(row["alone"][member] is not None for row in draws)
        }
        best = max(means, key=means.__getitem__)
        counts = Counter(row["taken"] for row in draws)
        taken = "; ".join(f"`{one}`{f' × {n}' if n > 1 else ''}" for one, n in counts.items())
        reached = float(np.mean([row["reached"] for row in draws]))
        lines.append(
            f"| {name} | {taken} | {pages.short(reached)} | {pages.short(means[RECOMMENDED])} | "
            f"{pages.short(means[best])}, `{best}` | {sum(map(covered, draws))} of {len(draws)} |"
        )
    return "\n".join(lines) + f"\n\n{inside(rows)}\n"


def rows_of(path: Path) -> Rows:
    """Return the lines of a file, the proposed split first and data sets together."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    sets = list(dict.fromkeys(row["data"] for row in rows))
    return sorted(rows, key=lambda row: (sets.index(row["data"]), len(row["split"]), row["split"]))


if __name__ == "__main__":
    page = pages.ROOT / "docs" / "which_method.md"
    tables = {
        "splits": table(rows_of(ROWS)),
        "fresh splits": fresh_table(rows_of(FRESH)),
        "unfamiliar tables": unfamiliar_table(rows_of(UNFAMILIAR)),
    }
    pages.main(__doc__.splitlines()[0], {page: pages.filled(page, tables)})
