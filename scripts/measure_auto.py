"""Measure AutoZeroShotClassifier beside the members it judged, and what it expected.

    python scripts/measure_auto.py --data ../shared/data [--splits 5] [--rows 100000] > auto.jsonl

One JSON line per data set and split: the accuracy reached on unseen classes, what was expected, the
seconds of the fit, and the accuracy of every member of the second stage fitted alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from typing import Any

import numpy as np

from zslearn.datasets import load_animals, open_dataset
from zslearn.zero_shot import AutoZeroShotClassifier
from zslearn.zero_shot.auto.portfolio import named_member
from zslearn.zero_shot.search import even_rows

MEMBERS = 8


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
    """Return one row."""
    train, test, unseen = rows_of(dataset, seed, limit)
    X, y = np.asarray(dataset.X[train]), dataset.y[train]
    start, cpu = time.perf_counter(), time.process_time()
    clf = AutoZeroShotClassifier(dataset.signatures).fit(X, y)
    expected = clf.expected_accuracy_
    row = {
        "data": dataset.name,
        "split": "proposed" if seed is None else f"random {seed}",
        "rows": len(y),
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "taken": clf.member_,
        "reached": clf.score(dataset.X[test], dataset.y[test], unseen),
        "expected": [expected.low, expected.accuracy, expected.high] if expected else None,
        "shuffled": clf.shuffled_accuracy_,
    }
    row["alone"] = {}
    for name in clf.leaderboard_["member"][:MEMBERS]:
        fitted = named_member(name).pipeline(dataset.signatures, len(y)).fit(X, y)
        answers = fitted.predict(dataset.X[test], candidates=unseen)
        own = [np.mean(answers[dataset.y[test] == c] == c) for c in unseen]
        row["alone"][name] = float(np.mean(own))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default="animals,AWA1,CUB")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.sets.split(","):
        dataset = opened(name, given.data)
        for seed in [None, *range(1, given.splits + 1)]:
            sys.stdout.write(json.dumps(measured(dataset, seed, given.rows)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
