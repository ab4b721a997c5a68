"""Accuracy over many splits of the classes, with paired differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy import stats

from zslearn.reproduce.specification import RANDOM
from zslearn.reproduce.tables.selection import (
    Row,
    cell,
    failures,
    file_name,
    grouped,
    method_title,
    percent,
    select,
)
from zslearn.reproduce.tables.table import Table, best_cells

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
NOTE = (
    "Per-class accuracy in %; every parameter is chosen on the seen classes of the split. Over "
    "random splits: mean ± standard deviation, and the 95 % t-interval of the paired difference "
    "from {} in points."
)


def split_tables(rows: Iterable[Row]) -> list[Table]:
    """Return every method on every split of the classes."""
    chosen = [row for row in _plain(rows) if part_of(row) == PARTS[()]]
    return _tables(chosen, "splits", "Class splits", _method, method_title(REFERENCE))


def part_tables(rows: Iterable[Row]) -> list[Table]:
    """Return prototype regression with parts of it left out."""
    chosen = select(_plain(rows), method=REFERENCE)
    if len({part_of(row) for row in chosen}) < 2:
        return []
    return _tables(chosen, "splits-parts", "Prototype regression", part_of, PARTS[()])


def hard_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the methods where classes, samples or attributes are few or bad."""
    hard = [row for row in select(rows, kind="class-splits") if row.get("parameter_case")]
    cases = [row | {"split": row["parameter_case"]} for row in hard]
    return _tables(cases, "splits-hard", "Hard cases", _method, "")


def split_kind(split: str) -> str:
    """Return what a column holds: random splits belong together, whatever their number."""
    return RANDOM.strip() if split.startswith(RANDOM) else split


def part_of(row: Row) -> str:
    """Return which parts of prototype regression a row left out, in words."""
    return PARTS[tuple(sorted(key for key in _CHANGED if f"parameter_{key}" in row))]


def paired_interval(difference: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % t-interval of the mean of paired differences."""
    half = stats.t.ppf(0.975, len(difference) - 1) * stats.sem(difference)
    mean = np.mean(difference)
    return float(mean - half), float(mean + half)


def accuracies(rows: Iterable[Row]) -> dict[str, float]:
    """Return the accuracy of runs that did not fail, by split."""
    return {row["split"]: row["per_class_accuracy"] for row in rows if row["status"] == "ok"}


def _plain(rows: Iterable[Row]) -> list[Row]:
    return select(rows, kind="class-splits", parameter_case=None)


def _method(row: Row) -> str:
    return method_title(row["method"])


def _tables(
    rows: Sequence[Row], name: str, what: str, label: Callable[[Row], str], reference: str
) -> list[Table]:
    """Return one table for each data set and semantic space: labels down, splits across."""
    made = []
    for (dataset, space), group in grouped(rows, "dataset", "semantics").items():
        kinds = list(dict.fromkeys(split_kind(row["split"]) for row in group))
        labels = dict.fromkeys(label(row) for row in group)
        cells = {text: [row for row in group if label(row) == text] for text in labels}
        base = accuracies(cells.get(reference, []))
        body = [
            (text, *(_cell(mine, kind) for kind in kinds), _difference(accuracies(mine), base))
            for text, mine in cells.items()
        ]
        columns = ("method", *kinds, "difference")
        if not any(line[-1] for line in body):
            columns, body = columns[:-1], [line[:-1] for line in body]
        notes = (
            [NOTE.format(reference)] if "difference" in columns else [NOTE.partition(" Over")[0]]
        )
        notes += [f"failed: {text}" for text in failures(group)]
        best = best_cells(body, range(1, len(kinds) + 1))
        title = f"{what}: {dataset}, {space}"
        made.append(
            Table(file_name(name, dataset, space), title, columns, tuple(body), tuple(notes), best)
        )
    return made


def _cell(rows: Sequence[Row], kind: str) -> str:
    return cell([r for r in rows if split_kind(r["split"]) == kind], "per_class_accuracy", percent)


def _difference(own: dict[str, float], base: dict[str, float]) -> str:
    """Return the interval of the differences over random splits, if there are enough."""
    splits = [split for split in own if split.startswith(RANDOM) and split in base]
    differences = [own[split] - base[split] for split in splits]
    if len(differences) < 3 or not any(differences):
        return ""
    low, high = paired_interval(differences)
    return f"{100 * low:+.1f} … {100 * high:+.1f}"
