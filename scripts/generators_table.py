"""Write the tables of docs/generators.md and docs/deep.md from ``zslearn reproduce modern``.

python scripts/generators_table.py [--check]
"""

from __future__ import annotations

import pages
from pages import RESULTS, ROOT

from zslearn.reproduce import ResultsFile, make_tables
from zslearn.reproduce.tables import Table
from zslearn.reproduce.tables.selection import Row, by_method, cell, method_title, percent, select

PAGE = ROOT / "docs" / "generators.md"
VERDICT = ROOT / "docs" / "deep.md"
DATASETS = ("animals28", "CUB", "AWA1")


def markdown(table: Table) -> str:
    """Return a heading and the table, without its notes."""
    title = table.title.partition(": ")[2]
    lines = ["| " + " | ".join(table.columns) + " |", "|---|" + "---|" * (len(table.columns) - 1)]
    lines += ["| " + " | ".join(line) + " |" for line in table.rows]
    return f"**{title}**\n\n" + "\n".join(lines) + "\n\n"


def verdict(rows: list[Row]) -> str:
    """Return one line per method: T1 and H on every data set, and the longest fit."""
    heads = [f"{name}, {figure}" for name in DATASETS for figure in ("T1", "H")]
    lines = ["| method | " + " | ".join(heads) + " | minutes |", "|---|" + "---|" * 7]
    for method, mine in by_method(rows).items():
        cells = [
            cell(select(mine, dataset=name), key, percent)
            for name in DATASETS
            for key in ("per_class_accuracy", "harmonic_mean")
        ]
        longest = max(row.get("fit_cpu_minutes", 0.0) for row in mine)
        lines.append("| " + " | ".join([method_title(method), *cells, f"{longest:.2g}"]) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = ResultsFile(RESULTS).rows()
    tables = make_tables(found, ["modern"]).get("modern", [])
    text = "\n" + "".join(map(markdown, tables))
    pages.main(
        __doc__.splitlines()[0],
        {
            PAGE: pages.filled(PAGE, {"modern": text}),
            VERDICT: pages.filled(VERDICT, {"verdict": verdict(select(found, kind="modern"))}),
        },
    )
