"""Say which figures moved between two results files of `zslearn reproduce`.

    python scripts/compare_results.py BEFORE.jsonl AFTER.jsonl [--points 1] [--write FILE]

Rows are matched by their configuration. Shares are compared in points; times, memory and what a
clock or the machine makes are left out. Runs that only one file has are counted. --write makes one
file of both: every row of AFTER replaces that of BEFORE, whatever version measured it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zslearn.reproduce import ResultsFile
from zslearn.reproduce.tables import latest

NAMED = ("kind", "dataset", "split", "semantics", "protocol", "method", "seed")
FIGURES = ("accuracy", "harmonic", "ausuc", "hit_at", "loss", "index", "reached", "ece", "auroc")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--points", type=float, default=1.0)
    parser.add_argument("--write", type=Path, help="a new file for the rows of both")
    given = parser.parse_args()
    old, new = (ResultsFile(path).rows() for path in (given.before, given.after))
    if given.write:
        given.write.unlink(missing_ok=True)
        both = ResultsFile(given.write)
        with both.held():
            for row in latest([*old, *new]):
                both.add(row)
    before, after = named(latest(old)), named(latest(new))
    moved = compared = 0
    for name in before.keys() & after.keys():
        for key, first in figures(before[name]).items():
            second = figures(after[name]).get(key)
            if second is None:
                continue
            compared += 1
            if abs(second - first) > given.points / 100:
                moved += 1
                print(f"{name}: {key} {first:.3f} before, {second:.3f} after")
    only = len(before.keys() - after.keys()), len(after.keys() - before.keys())
    print(f"{compared} figures compared, {moved} moved by more than {given.points:g} points;")
    print(f"{only[0]} runs only before, {only[1]} only after")


def named(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return rows by their configuration in words."""

    def name(row: dict[str, Any]) -> str:
        options = [f"{k[10:]}={v}" for k, v in sorted(row.items()) if k.startswith("parameter_")]
        return " ".join(
            str(part) for part in (*(row.get(k) for k in NAMED), *options) if part != ""
        )

    return {name(row): row for row in rows}


def figures(row: dict[str, Any]) -> dict[str, float]:
    """Return the entries of a row that are figures."""
    return {
        key: value
        for key, value in row.items()
        if isinstance(value, float) and any(word in key for word in FIGURES)
    }


if __name__ == "__main__":
    main()
