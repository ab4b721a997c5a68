"""Measure AutoZeroShotClassifier beside every member of its portfolio, and what it expected.

    ZSLEARN_THREADS=2 python scripts/measure_auto.py --data ../shared/data [--out auto.jsonl]

One JSON line per data set and split: the accuracy reached on unseen classes, what was expected,
the seconds of the fit, and the accuracy of every member fitted alone on the same rows. Lines that
are in the file already are not measured again. Members alone do not depend on the rule by which
`auto` chooses: ``--alone FILE`` takes their figures from lines measured earlier, where they are
there, which is right as long as the code of the members is the same. By default the proposed split
and five random ones of the animals, AWA1 and CUB with all rows, into results/auto.jsonl.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from zslearn.datasets import load_animals, open_dataset
from zslearn.metrics import per_class_accuracy
from zslearn.zero_shot import AutoZeroShotClassifier
from zslearn.zero_shot.auto.judging import FAILURES
from zslearn.zero_shot.auto.portfolio import default_names, named_member
from zslearn.zero_shot.search import even_rows

ROWS = Path(__file__).parents[1] / "results" / "auto.jsonl"


def opened(name: str, data: str) -> Any:
    """Return a data set with its attributes first."""
    if name == "animals":
        return load_animals()
    return open_dataset(f"{data}/xlsa17/{name}", None, "attributes")


def rows_of(dataset: Any, seed: int | None, limit: int) -> tuple[Any, Any, Any]:
    """Return training rows, test rows and unseen classes of the proposed split or a random one."""
    split = dataset.split("proposed")
    if seed is None:
        train, test, unseen = dataset.train_rows(split), dataset.test_rows(split), split.unseen
    else:
        classes = np.sort(np.concatenate([split.seen, split.unseen]))
        order = np.random.default_rng(seed).permutation(classes)
        unseen, seen = order[: len(split.unseen)], order[len(split.unseen) :]
        train, test = dataset.rows(seen), dataset.rows(unseen)
    _, index = np.unique(dataset.y[train], return_inverse=True)
    return train[even_rows(index, limit, np.random.default_rng(0))], test, unseen


def measured(dataset: Any, seed: int | None, limit: int) -> dict[str, Any]:
    """Return what was chosen, reached and expected."""
    train, test, unseen = rows_of(dataset, seed, limit)
    X, y = np.asarray(dataset.X[train]), dataset.y[train]
    start, cpu = time.perf_counter(), time.process_time()
    clf = AutoZeroShotClassifier(dataset.signatures).fit(X, y)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    expected = clf.expected_accuracy_
    return {
        "rows": len(y),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "taken": clf.member_,
        "reached": clf.score(dataset.X[test], dataset.y[test], unseen),
        "expected": [expected.low, expected.accuracy, expected.high] if expected else None,
        "shuffled": clf.shuffled_accuracy_,
        "leaderboard": {row["member"]: row["accuracy"] for row in clf.leaderboard_},
    }


def alone(dataset: Any, seed: int | None, limit: int, names: Any) -> dict[str, float | None]:
    """Return the accuracy of members, all by default, on the same rows; None if one fails."""
    train, test, unseen = rows_of(dataset, seed, limit)
    X, y = np.asarray(dataset.X[train]), dataset.y[train]
    found: dict[str, float | None] = {}
    for name in names or default_names(X.shape[1]):
        try:
            member = named_member(name, table=dataset.signatures)
            fitted = member.pipeline(dataset.signatures, len(y)).fit(X, y)
            answers = fitted.predict(dataset.X[test], candidates=unseen)
            found[name] = per_class_accuracy(dataset.y[test], answers)
        except FAILURES:
            found[name] = None
    return found


def rows_by_split(path: Path | None) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Return the lines of a file, none if it is not there."""
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    return {(row["data"], row["split"], row["limit"]): row for row in map(json.loads, lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default="animals,AWA1,CUB")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, help="first random split; no proposed one then")
    parser.add_argument("--member", action="append", help="member to fit alone; by default all")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=ROWS)
    parser.add_argument("--alone", type=Path, metavar="FILE")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    done = rows_by_split(given.out)
    known = {key: row["alone"] for key, row in rows_by_split(given.alone).items()}
    for name in given.sets.split(","):
        dataset = opened(name, given.data)
        for seed in [*([] if given.first else [None]), *range(given.first or 1, given.splits + 1)]:
            split = "proposed" if seed is None else f"random {seed}"
            key = (name, split, given.rows)
            if key in done:
                continue
            row = {"data": name, "split": split, "limit": given.rows}
            row |= measured(dataset, seed, given.rows)
            row["alone"] = known.get(key) or alone(dataset, seed, given.rows, given.member)
            with given.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            sys.stderr.write(f"{name} {split}: {row['taken']} {row['reached']:.3f}\n")


if __name__ == "__main__":
    main()
