"""Write the table of pictures in docs/deep.md from what measure_deep_pictures.py measured.

python scripts/deep_pictures_table.py [--check]
"""

from __future__ import annotations

import json
from typing import Any

import pages
from measure_deep_pictures import (
    FEATURES,
    PHOTOGRAPHS,
    PIXELS,
    ROWS,
    SHAPES,
    SIDE,
    SMALL,
    TRUNK,
    TRUNK_SIDE,
)

PAGE = pages.ROOT / "docs" / "deep.md"
TITLES = {
    PIXELS: "SAE on pixels",
    SMALL: "`ConvSemanticAutoencoder`",
    TRUNK: f"the same with EfficientNet-Lite0 as its trunk, pictures of {TRUNK_SIDE}",
    FEATURES: f"prototype regression on the means of that trunk, pictures of {TRUNK_SIDE}",
}


def table(rows: list[dict[str, Any]]) -> str:
    """One line per method, and one for chance."""
    lines = [f"| method | shapes, each draw | mean | photographs of {SIDE} |", "|---|---|---|---|"]
    for method, title in TITLES.items():
        drawn, seen = (
            [row for row in rows if (row["data"], row["method"]) == (data, method)]
            for data in (SHAPES, PHOTOGRAPHS)
        )
        if drawn or seen:
            lines.append(f"| {title} | {each(drawn)} | {mean(drawn)} | {each(seen)} |")
    chance = {row["data"]: pages.short(1 / row["n_unseen"]) for row in rows}
    lines.append(f"| chance | | {chance[SHAPES]} | {chance.get(PHOTOGRAPHS, '')} |")
    return "\n".join(lines) + "\n"


def each(rows: list[dict[str, Any]]) -> str:
    """Accuracies and the CPU time of one fit."""
    if not rows:
        return ""
    seconds = sum(row["cpu_seconds"] for row in rows) / len(rows)
    return f"{', '.join(pages.short(row['accuracy']) for row in rows)} ({seconds:.0f} s)"


def mean(rows: list[dict[str, Any]]) -> str:
    return pages.short(sum(row["accuracy"] for row in rows) / len(rows)) if rows else ""


if __name__ == "__main__":
    found = json.loads(ROWS.read_text(encoding="utf-8"))
    pages.main(__doc__.splitlines()[0], {PAGE: pages.filled(PAGE, {"pictures": table(found)})})
