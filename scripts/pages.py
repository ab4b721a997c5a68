"""Pages of the documentation with tables that are made from results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "results.jsonl"


def filled(path: Path, tables: dict[str, str]) -> str:
    """Return a page with each table between the marks of its name.

    Parameters
    ----------
    path : Path
        The page; it holds ``<!-- name -->`` and ``<!-- end of name -->`` for every name.
    tables : dict of str
        Markdown by name.
    """
    page = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        before, start, rest = page.partition(f"<!-- {name} -->")
        _, end, after = rest.partition(f"<!-- end of {name} -->")
        if not end:
            sys.exit(f"{path.name} has no place marked <!-- {name} --> <!-- end of {name} -->")
        page = f"{before}{start}\n{table}{end}{after}"
    return page


def main(description: str, pages: dict[Path, str]) -> None:
    """Write pages; with --check only say whether they are as they would be written."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="only say what is out of date")
    check = parser.parse_args().check
    for path, text in pages.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} is out of date; run python scripts/{Path(sys.argv[0]).name}")


def short(share: float) -> str:
    """Write a share with three digits and no zero in front."""
    return f"{share:.3f}".lstrip("0")
