"""Fill README.md and the pages of docs/ with what `zslearn reproduce` measured.

    python scripts/fill_pages.py [--check] [--results FILE]

A page names what it shows; everything between marks is written from the rows of results/ and of
benchmarks/results/:

    <!-- table: NAME -->                        a table of `zslearn reproduce`, or of benchmarks/;
    <!-- end of table -->                       "NAME, with notes" has its notes as well
    <!-- value: NAME | ROW | COLUMN -->.596<!-- end -->    one cell of it, without its deviation
    <!-- output: STORY -->                      commands with what they printed, of `commands`
    <!-- end of output -->
    ![caption](images/NAME.png)                 a plot of that name; it carries a hash of its rows

With --check nothing is written: it fails if a page, or a plot, is not as it would be written.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from runpy import run_path

from zslearn.reproduce import ResultsFile, Table, make_tables
from zslearn.reproduce.experiments.commands import transcripts
from zslearn.reproduce.plots import Plot, make_plots

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "results.jsonl"
IMAGES = ROOT / "docs" / "images"
TABLE = re.compile(
    r"(<!-- table: ([\w-]+)(, with notes)? -->\n)(.*?)(<!-- end of table -->)", flags=re.S
)
VALUE = re.compile(r"(<!-- value: ([^|>]+) \| ([^|>]+) \| ([^>]+?) -->)(.*?)(<!-- end -->)")
OUTPUT = re.compile(r"(<!-- output: (\w+) -->\n)(.*?)(<!-- end of output -->)", flags=re.S)
PLOT = re.compile(r"\]\((?:docs/)?images/([\w-]+)\.png\)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say what is out of date")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    old = stale(*shown(given.results), write=not given.check)
    if given.check and old:
        sys.exit(f"out of date: {', '.join(old)}; run python scripts/fill_pages.py")


def shown(results: Path) -> tuple[dict[str, Table], dict[str, Plot], dict[str, str]]:
    """Return what pages may show, by name: tables, plots, and what commands printed."""
    rows = ResultsFile(results).rows()
    tables = {table.name: table for some in make_tables(rows).values() for table in some}
    benchmarks = run_path(str(ROOT / "benchmarks" / "tables.py"))["tables"]()
    tables |= {table.name: table for table in benchmarks}
    return tables, {plot.name: plot for plot in make_plots(rows)}, transcripts(rows)


def stale(
    tables: dict[str, Table],
    plots: dict[str, Plot],
    outputs: dict[str, str],
    *,
    write: bool = False,
) -> list[str]:
    """Return the pages and pictures that are not as the rows have them, and write them anew."""
    found = []
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before, tables, outputs, page.name)
        if after != before:
            found.append(page.name)
            if write:
                page.write_text(after, encoding="utf-8")
        for name in PLOT.findall(after):
            path = IMAGES / f"{name}.png"
            if name in plots and not is_current(path, plots[name]):
                found.append(path.name)
                if write:
                    path.write_bytes(plots[name].png())
    return found


def pages() -> list[Path]:
    """Return the pages that may hold marks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def filled(page: str, tables: dict[str, Table], outputs: dict[str, str], title: str) -> str:
    """Return a page with every table, value and output as the rows have it."""

    def table_of(name: str) -> Table:
        if name not in tables:
            sys.exit(f"{title} shows {name!r}, which the rows do not make")
        return tables[name]

    def value_of(name: str, row: str, column: str) -> str:
        try:
            cell = table_of(name).cell(row, column)
        except (StopIteration, ValueError):
            sys.exit(f"{title}: {name} has no row {row!r} with a column {column!r}")
        return re.split(r" [±(]", cell)[0]

    def lines_of(name: str, notes: str | None) -> str:
        table = table_of(name)
        told = "".join(f"- {note}\n" for note in table.notes)
        return table.markdown(bare=True) + "\n" + (f"\n{told}" if notes and told else "")

    def output_of(story: str) -> str:
        if story not in outputs:
            sys.exit(f"{title} shows what the commands of {story!r} print, which no row has")
        return f"```console\n{outputs[story]}```\n"

    page = TABLE.sub(lambda m: m[1] + lines_of(m[2], m[3]) + m[5], page)
    page = VALUE.sub(lambda m: m[1] + value_of(m[2], m[3], m[4]) + m[6], page)
    page = OUTPUT.sub(lambda m: m[1] + output_of(m[2]) + m[4], page)
    left = sum(
        page.count(f"<!-- {kind}:") - len(mark.findall(page))
        for kind, mark in (("table", TABLE), ("value", VALUE), ("output", OUTPUT))
    )
    if left:
        sys.exit(f"{title} has {left} marks without an end")
    if re.search(r"^<!-- value:", page, flags=re.M):
        sys.exit(f"{title}: a line that begins with a mark of a value would not be Markdown")
    return page


def is_current(path: Path, plot: Plot) -> bool:
    """Say whether a picture was drawn from the rows of its plot."""
    return path.is_file() and f"Source\0{plot.source}".encode() in path.read_bytes()


if __name__ == "__main__":
    main()
