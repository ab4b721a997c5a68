"""Write the table of docs/deep.md from what measure_deep.py measured.

python scripts/deep_table.py [--check]
"""

from __future__ import annotations

import json
from typing import Any

import pages
from measure_deep import DATASETS, METHODS, ROWS

from zslearn.zero_shot.registry import find_method

PAGE = pages.ROOT / "docs" / "deep.md"


def table(rows: list[dict[str, Any]]) -> str:
    """One line per method, one column per data set that was measured."""
    names = [name for name in DATASETS if any(row["dataset"] == name for row in rows)]
    lines = ["| method | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for method in METHODS:
        cells = [
            cell([r for r in rows if (r["dataset"], r["method"]) == (name, method)])
            for name in names
        ]
        lines.append(f"| {find_method(method).title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def cell(rows: list[dict[str, Any]]) -> str:
    """Accuracies of the seeds, the steps they took and the CPU time of one."""
    accuracies = ", ".join(pages.short(row["accuracy"]) for row in rows)
    steps = [str(row["n_steps"]) for row in rows if row["n_steps"] is not None]
    seconds = sum(row["cpu_seconds"] for row in rows) / len(rows)
    took = f"{', '.join(steps)} steps; " if steps else ""
    return f"{accuracies} ({took}{seconds:.0f} s)"


if __name__ == "__main__":
    found = json.loads(ROWS.read_text(encoding="utf-8"))
    pages.main(__doc__.splitlines()[0], {PAGE: pages.filled(PAGE, {"deep": table(found)})})
