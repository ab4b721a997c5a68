"""Rows of the results file, sorted for tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from zslearn.cluster import MAPPINGS
from zslearn.zero_shot import METHODS
from zslearn.zero_shot.registry import DEEP

Row = dict[str, Any]
_TITLES = {
    "legacy_cub": "SAE (encoder), authors' CUB demo",
    "legacy_cub-decode": "SAE (decoder), authors' CUB demo",
}
_STEPS = {"projection": "supervised pre-projection", "zscore": "test-batch z-score"}
# The first space of a data set: the one of the main tables.
MAIN_SPACES = ("attributes", "signatures", "")


def latest(rows: Iterable[Row]) -> list[Row]:
    """Return one row for each configuration, the last one measured."""
    named = ("kind", "method", "split", "semantics", "protocol", "seed", "dataset", "features")
    found: dict[str, Row] = {}
    for row in rows:
        options = sorted((k, str(v)) for k, v in row.items() if k.startswith("parameter_"))
        found[str([[row.get(name) for name in named], options])] = row
    return list(found.values())


def select(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Return the rows whose entries equal those wanted; a tuple allows several values."""
    return [
        row
        for row in rows
        if all(
            row.get(key) in value if isinstance(value, tuple) else row.get(key) == value
            for key, value in wanted.items()
        )
    ]


def grouped(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows by the values of some entries, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(key) for key in keys), []).append(row)
    return groups


def by_method(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return rows by method, in the order of the registries."""
    order = [*METHODS, *DEEP, *MAPPINGS]
    groups = grouped(rows, "method")
    place = {name: order.index(name) if name in order else len(order) for (name,) in groups}
    return {name: groups[(name,)] for name in sorted(place, key=lambda name: place[name])}


def over_seeds(rows: Iterable[Row]) -> list[Row]:
    """Return one row for runs that differ in their seed alone: numbers become their means."""
    keys = ("kind", "method", "dataset", "features", "split", "semantics", "protocol")
    return [_mean_row(group) for group in grouped(rows, *keys).values()]


def _mean_row(group: Sequence[Row]) -> Row:
    done = [row for row in group if row["status"] == "ok"] or group
    first = done[0]
    numbers = [
        key for key, value in first.items() if isinstance(value, float) and key != "machine_load"
    ]
    means = {
        key: float(np.mean([row[key] for row in done]))
        for key in numbers
        if all(isinstance(row.get(key), float) for row in done)
    }
    return first | means


def method_title(name: str) -> str:
    """Return what tables call a method."""
    base, *steps = name.split("+")
    if name in _TITLES:
        return _TITLES[name]
    known = METHODS | DEEP
    title = known[base].title if base in known else base
    return ", ".join([title, *(f"+ {_STEPS.get(step, step)}" for step in steps)])


def cell(rows: Sequence[Row], key: str, form: Callable[[float], str]) -> str:
    """Return the value of the rows of one method: the mean with its deviation if several."""
    values = [row[key] for row in rows if row["status"] == "ok" and row.get(key) is not None]
    if not values:
        failed = rows and all(row["status"] == "failed" for row in rows)
        return "failed" if failed else ""
    if len(values) == 1:
        return form(values[0])
    return f"{form(float(np.mean(values)))} ± {form(float(np.std(values, ddof=1)))}"


def percent(value: float) -> str:
    """Return a share in percent."""
    return f"{100 * value:.1f}"


def seconds(value: float) -> str:
    """Return a time with two significant digits."""
    return f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def megabytes(value: float) -> str:
    """Return a size in MB."""
    return f"{value:.0f}"


def failures(rows: Iterable[Row]) -> list[str]:
    """Return a note for each run that failed."""
    return [f"{row['method']}: {row['error']}" for row in rows if row["status"] == "failed"]


def where(row: Row) -> str:
    """Return the data set, features and split of a row in words."""
    parts = [row["dataset"], row.get("feature_title") or row["features"]]
    return ", ".join(part for part in (*parts, f"{row['split']} split") if part)


def file_name(*parts: str) -> str:
    """Return a file name made from words."""
    words = "-".join(parts).lower()
    return "".join(letter if letter.isalnum() else "-" for letter in words).strip("-")
