"""One method on one split of the classes, as it is or made harder; paired differences over many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.evaluation import ConventionalProtocol, evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce.specification import RANDOM, Run
from zslearn.reproduce.tables import (
    Row,
    Table,
    best_cells,
    failures,
    file_name,
    grouped,
    method_title,
    select,
    short,
)
from zslearn.signatures import Signatures
from zslearn.zero_shot import make_classifier

FEWER_CLASSES = (20, 50, 100)
FEWER_SAMPLES = (1, 5, 20)
Case = tuple[ClassSplit, Signatures]


def measure(run: Run) -> dict[str, Any]:
    """Fit on the seen classes; "case" makes the problem harder, other options are parameters."""
    options = dict(run.parameters)
    case = options.pop("case", "")
    data = run.data.load()
    split, table = class_split(data, run.split), data.semantics[run.semantics]
    if case:
        cases = harder(data, split, table)
        if case not in cases:
            raise InvalidInputError(f"there is no case {case!r} here; cases: {', '.join(cases)}.")
        split, table = cases[case]
    method = make_classifier(run.method, **options)
    return evaluate(data, method, ConventionalProtocol(split), semantics=table).as_dict()


def class_split(data: ZeroShotDataset, name: str) -> ClassSplit:
    """Return a split by name; "random 3" deals the classes again, with 3 as the seed."""
    if not name.startswith(RANDOM):
        return data.split(name)
    usual = data.split("standard" if "standard" in data.splits else next(iter(data.splits)))
    classes = np.unique(data.y)
    order = np.random.default_rng(int(name.removeprefix(RANDOM))).permutation(classes)
    unseen = order[: len(usual.unseen)]
    return ClassSplit(np.setdiff1d(classes, unseen), unseen)


def harder(data: ZeroShotDataset, split: ClassSplit, table: Signatures) -> dict[str, Case]:
    """Return the problem with fewer seen classes, fewer samples, noisy and missing attributes."""
    rng = np.random.default_rng(0)
    train = data.train_rows(split)
    y = data.y[train]
    classes = np.unique(y)
    cases: dict[str, Case] = {}
    for n in FEWER_CLASSES:
        if n < len(classes):
            kept = rng.permutation(classes)[:n]
            cases[f"{n} seen"] = _trained_on(split, kept, train[np.isin(y, kept)]), table
    for n in FEWER_SAMPLES:
        rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:n] for c in classes])
        cases[f"{n} per class"] = _trained_on(split, classes, train[rows]), table
    vectors = table.vectors
    noise = rng.standard_normal(vectors.shape) * vectors.std(axis=0)
    missing = rng.uniform(size=vectors.shape) < 0.5
    cases["noisy attributes"] = split, _with_vectors(table, vectors + noise)
    cases["half missing"] = split, _with_vectors(table, np.where(missing, 0.0, vectors))
    return cases


def _trained_on(split: ClassSplit, seen: NDArray[Any], train: NDArray[Any]) -> ClassSplit:
    return ClassSplit(seen, split.unseen, train, test_unseen=split.test_unseen)


def _with_vectors(table: Signatures, vectors: NDArray[Any]) -> Signatures:
    return Signatures(table.names, vectors, table.dimensions)


REFERENCE = "prototype-regression"
PARTS = {
    (): "all parts",
    ("power",): "no power transform",
    ("shrinkage",): "no whitening",
    ("bandwidth",): "nearly linear kernel",
    ("power", "shrinkage"): "neither whitening nor power",
    ("n_kernels",): "one kernel",
    ("n_average",): "the best setting alone",
    ("n_average", "n_kernels"): "one kernel, the best setting alone",
}
_CHANGED = ("power", "shrinkage", "bandwidth", "n_kernels", "n_average")
# The space that a column need not name.
USUAL = "attributes"
NOTE = "Per-class accuracy on unseen classes; every parameter is chosen on the seen classes."
INTERVAL = (
    "Means over random splits of the classes; in brackets the 95 % t-interval of the paired "
    "difference from {} in points."
)
Label = Callable[[Row], str]
Column = tuple[str, str, str]  # data set, semantic space, split or case


def split_tables(rows: Iterable[Row]) -> list[Table]:
    """Return every method over random splits, and on the splits that data sets have."""
    plain = select(rows, kind="class-splits", parameter_case=None)
    whole = [row for row in plain if part_of(row) == PARTS[()]]
    main = [row for row in whole if row["semantics"] == USUAL]
    other = [row for row in whole if row["semantics"] != USUAL]
    return [
        *_pivot(_random(main), "splits-random", "Class splits", _method, method_title(REFERENCE)),
        *_pivot(
            _random(other),
            "splits-spaces",
            "Class splits, other semantic spaces",
            _method,
            method_title(REFERENCE),
        ),
        *_pivot(_fixed(whole), "splits-fixed", "Splits of the data sets", _method, ""),
    ]


def part_tables(rows: Iterable[Row]) -> list[Table]:
    """Return prototype regression with parts of it left out."""
    chosen = select(rows, kind="class-splits", parameter_case=None, method=REFERENCE)
    if len({part_of(row) for row in chosen}) < 2:
        return []
    kept = [row for row in _random(chosen) if row["semantics"] == USUAL]
    what = "Prototype regression without some of its parts"
    return [
        *_pivot(kept, "splits-parts-random", what, part_of, PARTS[()]),
        *_pivot(_fixed(chosen), "splits-parts-fixed", what, part_of, ""),
    ]


def hard_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the methods where classes, samples or attributes are few or bad."""
    hard = [row for row in select(rows, kind="class-splits") if row.get("parameter_case")]
    cases = [row | {"split": row["parameter_case"]} for row in hard]
    return [
        table
        for (dataset,), group in grouped(cases, "dataset").items()
        for table in _pivot(
            [row for row in group if row["semantics"] == USUAL],
            file_name("splits-hard", dataset),
            f"Hard cases: {dataset}",
            _method,
            "",
        )
    ]


def split_kind(split: str) -> str:
    """Return what a column holds: random splits belong together, whatever their number."""
    return RANDOM.strip() if split.startswith(RANDOM) else split


def part_of(row: Row) -> str:
    """Return which parts of prototype regression a row left out, in words."""
    return PARTS[tuple(sorted(key for key in _CHANGED if f"parameter_{key}" in row))]


def interval(differences: Sequence[float], digits: int = 1) -> str:
    """Return the 95 % t-interval of the mean of paired differences, in points."""
    half = stats.t.ppf(0.975, len(differences) - 1) * stats.sem(differences)
    ends = (100 * (np.mean(differences) + side * half) for side in (-1, 1))
    return " … ".join(f"{end:+.{digits}f}" for end in ends)


def against(own: dict[str, float], base: dict[str, float], *, digits: int = 1) -> str:
    """Return a mean, and over several splits the interval of its paired difference in points.

    Parameters
    ----------
    own, base : dict of str to float
        Accuracy by split, of one method and of the one it is compared with; the same splits.
    digits : int, default=1
        Of the interval.
    """
    mean = short(float(np.mean(list(own.values()))))
    if own.keys() != base.keys() or len(own) < 3 or own == base:
        return mean
    return f"{mean} ({interval([own[split] - base[split] for split in own], digits)})"


def accuracies(rows: Iterable[Row]) -> dict[str, float]:
    """Return the accuracy of runs that did not fail, by split."""
    return {row["split"]: row["per_class_accuracy"] for row in rows if row["status"] == "ok"}


def _random(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row["split"].startswith(RANDOM)]


def _fixed(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if not row["split"].startswith(RANDOM)]


def _method(row: Row) -> str:
    return method_title(row["method"])


def _pivot(rows: Sequence[Row], name: str, what: str, label: Label, reference: str) -> list[Table]:
    """Methods down, problems across; random splits with paired differences from the reference."""
    if not rows:
        return []
    places = dict.fromkeys(
        (row["dataset"], row["semantics"], split_kind(row["split"])) for row in rows
    )
    order = sorted(places, key=lambda place: (place[0], place[1] != USUAL, place[1]))
    columns, found = [], []
    for dataset, space, kind in order:
        words = [dataset, *([space] if space != USUAL else [])]
        mine = [
            row
            for row in select(rows, dataset=dataset, semantics=space)
            if split_kind(row["split"]) == kind
        ]
        n_splits = len({row["split"] for row in mine})
        words += (
            [f"{n_splits} random"]
            if kind == RANDOM.strip()
            else [kind]
            if kind != "proposed"
            else []
        )
        columns.append(", ".join(words))
        found.append(mine)
    body = []
    for text in dict.fromkeys(label(row) for row in rows):
        own = [accuracies(row for row in mine if label(row) == text) for mine in found]
        base = [accuracies(row for row in mine if label(row) == reference) for mine in found]
        body.append(
            (
                text,
                *(against(one, other) if one else "" for one, other in zip(own, base, strict=True)),
            )
        )
    notes = [NOTE, *([INTERVAL.format(reference)] if reference else [])]
    notes += failures(rows)
    best = best_cells(
        [[c.partition(" ")[0] for c in line] for line in body], range(1, len(columns) + 1)
    )
    return [Table(name, what, ("method", *columns), tuple(body), tuple(notes), best)]


TABLES = {"splits": split_tables, "splits-parts": part_tables, "splits-hard": hard_tables}
