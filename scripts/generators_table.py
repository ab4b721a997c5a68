"""Write the tables of docs/generators.md from the rows of ``zslearn reproduce modern``.

python scripts/generators_table.py [--check]
"""

from __future__ import annotations

import pages
from pages import RESULTS, ROOT

from zslearn.reproduce import ResultsFile, make_tables
from zslearn.reproduce.tables import Table

PAGE = ROOT / "docs" / "generators.md"


def markdown(table: Table) -> str:
    """Return a heading and the table, without its notes."""
    title = table.title.partition(": ")[2]
    lines = ["| " + " | ".join(table.columns) + " |", "|---|" + "---|" * (len(table.columns) - 1)]
    lines += ["| " + " | ".join(line) + " |" for line in table.rows]
    return f"**{title}**\n\n" + "\n".join(lines) + "\n\n"


if __name__ == "__main__":
    tables = make_tables(ResultsFile(RESULTS).rows(), ["modern"]).get("modern", [])
    text = "\n" + "".join(map(markdown, tables))
    pages.main(__doc__.splitlines()[0], {PAGE: pages.filled(PAGE, {"modern": text})})
