"""Measure AutoZeroShotClassifier beside every member on tables nobody looked at before.

    python scripts/measure_tables.py [--draws 4-7] [--out results/auto_tables.jsonl]

One JSON line per table and draw, as measure_auto.py writes them. Lines that are in the file already
are not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

from measure_auto import ROWS, alone, measured, rows_by_split
from unfamiliar_tables import TABLES

TABLE_ROWS = ROWS.with_name("auto_tables.jsonl")
_ALL = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", default="4-7", metavar="FIRST-LAST")
    parser.add_argument("--out", type=Path, default=TABLE_ROWS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    first, last = map(int, given.draws.split("-"))
    done = rows_by_split(given.out)
    for draw in range(first, last + 1):
        for name, make in TABLES.items():
            split = f"draw {draw}"
            if (name, split, _ALL) in done:
                continue
            dataset = make(draw)
            row = {"data": name, "split": split, "limit": _ALL}
            row |= measured(dataset, None, _ALL) | {"alone": alone(dataset, None, _ALL, None)}
            with given.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            sys.stderr.write(f"{name} {split}: {row['taken']} {row['reached']:.3f}\n")


if __name__ == "__main__":
    main()
