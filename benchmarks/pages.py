"""Tables of the documentation that are made from results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def main(description: str, page: str, tables: dict[str, str]) -> None:
    """Put tables between their marks in a page; with --check only say whether they are there.

    Parameters
    ----------
    description : str
        First line of the help.
    page : str
        Name of a file in docs/.
    tables : dict of str
        Markdown by the name in its marks, ``<!-- name -->`` and ``<!-- end of name -->``.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    check = parser.parse_args().check
    path = DOCS / page
    old = path.read_text(encoding="utf-8")
    new = old
    for name, table in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = new.partition(start)
        _, found, after = rest.partition(end)
        if not found:
            sys.exit(f"{page} has no place marked {start} {end}")
        new = f"{before}{start}\n{table}{end}{after}"
    if not check:
        path.write_text(new, encoding="utf-8")
    elif new != old:
        sys.exit(f"{page} is out of date; run python benchmarks/{Path(sys.argv[0]).name}")
