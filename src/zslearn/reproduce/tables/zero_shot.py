"""Tables of zero-shot recognition: conventional, generalized, and the survey's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zslearn.reproduce.published import SURVEY, Published, find_published
from zslearn.reproduce.tables.selection import (
    MAIN_SPACES,
    Row,
    by_method,
    cell,
    failures,
    file_name,
    grouped,
    megabytes,
    method_title,
    percent,
    seconds,
    select,
    where,
)
from zslearn.reproduce.tables.table import Table, best_cells, cell_value

PLACE = ("dataset", "features", "split")
SIDES = (
    "u and s: accuracy on unseen and on seen classes when both are candidates; H: their harmonic "
    "mean; H cal.: H with a bias against seen classes, chosen on seen classes only; AUSUC: area "
    "under the curve of all biases."
)


def zsl_tables(rows: Iterable[Row]) -> list[Table]:
    """Return a table of every method for each data set and split (the paper's Table 2)."""
    chosen = [row for row in rows if _is_plain(row) and row["semantics"] in MAIN_SPACES]
    chosen = select(chosen, kind="zero-shot", protocol="conventional")
    tables = []
    for group in grouped(chosen, *PLACE).values():
        first = _facts(group)
        theirs = find_published(
            first["dataset"], first["split"], "accuracy", semantics=first["semantics"]
        )
        known = _by_method(theirs)
        columns = ["method", "per class", "per sample", "hit@5", "fit s", "peak MB"]
        body = [
            [
                method_title(name) + _mark(mine),
                cell(mine, "per_class_accuracy", percent),
                cell(mine, "per_sample_accuracy", percent),
                cell(mine, "hit_at_5", percent),
                cell(mine, "fit_seconds", seconds),
                cell(mine, "peak_memory_mb", megabytes),
                known[name].text if name in known else "",
            ]
            for name, mine in by_method(group).items()
        ]
        notes = [_sizes(first), *_notes(group)]
        if theirs:
            notes += _differences(first, theirs)
            notes += _others("Published only: ", theirs)
        tables.append(
            _table(
                file_name("zsl", first["dataset"], first["split"]),
                f"Unseen classes, accuracy in %: {where(first)}",
                [*columns, "paper"],
                body,
                notes,
                (1, 2, 3),
            )
        )
    return tables


def space_tables(rows: Iterable[Row]) -> list[Table]:
    """Return accuracies by semantic space for data sets that have several."""
    chosen = select(rows, kind="zero-shot", protocol="conventional")
    chosen = [row for row in chosen if _is_plain(row)]
    tables = []
    for group in grouped(chosen, *PLACE).values():
        spaces = list(dict.fromkeys(row["semantics"] for row in group))
        if len(spaces) < 2:
            continue
        first = _facts(group)
        others = {row["method"] for row in group if row["semantics"] not in MAIN_SPACES}
        mine = by_method(row for row in group if row["method"] in others)
        body = [
            [method_title(name)]
            + [cell(select(part, semantics=s), "per_class_accuracy", percent) for s in spaces]
            for name, part in mine.items()
        ]
        tables.append(
            _table(
                file_name("spaces", first["dataset"], first["split"]),
                f"Per-class accuracy in % by semantic space: {where(first)}",
                ["method", *spaces],
                body,
                [_sizes(first, space=False)],
                tuple(range(1, len(spaces) + 1)),
            )
        )
    return tables


def gzsl_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the generalized setting of the paper's Table 4: the area under the curve."""
    chosen = [row for row in rows if _is_plain(row) and row["semantics"] in MAIN_SPACES]
    chosen = select(chosen, kind="zero-shot", protocol="generalized", split="standard")
    tables = []
    for group in grouped(chosen, *PLACE).values():
        first = _facts(group)
        theirs = find_published(first["dataset"], first["split"], "AUSUC")
        known = _by_method(theirs)
        body = [
            [
                method_title(name) + _mark(mine),
                cell(mine, "ausuc", "{:.3f}".format),
                *_sides(mine),
                known[name].text if name in known else "",
            ]
            for name, mine in by_method(group).items()
        ]
        notes = [_sizes(first), "20 % of the samples of each seen class are held out.", SIDES]
        notes += _notes(group) + (_differences(first, theirs) if theirs else [])
        columns = ["method", "AUSUC", "u", "s", "H", "H cal.", "paper"]
        tables.append(
            _table(
                file_name("gzsl", first["dataset"]),
                f"Generalized setting: {where(first)}",
                columns,
                body,
                notes,
                (1, 4, 5),
            )
        )
    return tables


def xian_tables(rows: Iterable[Row]) -> list[Table]:
    """Return T1, u, s and H of the proposed split, every method, next to the survey's."""
    plain = [row for row in rows if _is_plain(row) and row["semantics"] in MAIN_SPACES]
    plain = select(plain, kind="zero-shot", split="proposed")
    tables = []
    for group in grouped(plain, *PLACE).values():
        both = select(group, protocol="generalized")
        if not both:
            continue
        first = _facts(both)
        alone = by_method(select(group, protocol="conventional"))
        survey = {
            metric: _by_method(find_published(first["dataset"], "proposed", metric, source=SURVEY))
            for metric in ("T1", "u", "s", "H")
        }
        body = [
            [
                method_title(name) + _mark(mine),
                cell(alone.get(name, []), "per_class_accuracy", percent),
                *_sides(mine),
                cell(mine, "ausuc", "{:.3f}".format),
                " / ".join(values[name].text for values in survey.values() if name in values),
            ]
            for name, mine in by_method(both).items()
        ]
        notes = [_sizes(first), SIDES, *_notes(both)]
        theirs = list(survey["T1"].values())
        if theirs:
            notes.append(
                f"Survey: T1 / u / s / H of {theirs[0].source}; {_features(first, theirs)} It does "
                "not say which direction of SAE it used."
            )
        columns = ["method", "T1", "u", "s", "H", "H cal.", "AUSUC", "survey"]
        tables.append(
            _table(
                file_name("xian", first["dataset"]),
                f"Proposed split, per-class accuracy in %: {where(first)}",
                columns,
                body,
                notes,
                (1, 4, 5, 6),
            )
        )
    return tables


def _table(
    name: str,
    title: str,
    columns: Sequence[str],
    body: Sequence[Sequence[str]],
    notes: Sequence[str],
    ranked: Sequence[int],
) -> Table:
    """Build a table without its empty columns, best first by the first of those ranked."""
    body = sorted(body, key=lambda row: _rank(row[ranked[0]]), reverse=True)
    best = best_cells(body, ranked)
    kept = [j for j in range(len(columns)) if j == 0 or any(row[j] for row in body)]
    return Table(
        name,
        title,
        tuple(columns[j] for j in kept),
        tuple(tuple(row[j] for j in kept) for row in body),
        tuple(note for note in notes if note),
        frozenset((i, kept.index(j)) for i, j in best if j in kept),
    )


def _rank(cell: str) -> float:
    """Return what a row is sorted by; failed runs come last."""
    value = cell_value(cell)
    return -1.0 if value is None else value


def _is_plain(row: Row) -> bool:
    """Say whether a row is a method by itself, not a step of the ablation."""
    return "+" not in row["method"] and not row["method"].startswith("legacy")


def _facts(group: Sequence[Row]) -> Row:
    """Return a row that holds the sizes: one that did not fail if there is any."""
    return next((row for row in group if row["status"] == "ok"), group[0])


def _sizes(row: Row, *, space: bool = True) -> str:
    if row["status"] != "ok":
        return ""
    named = f"; semantic space: {row['semantics']}" if space else ""
    return (
        f"{row['n_train']} training and {row['n_test']} test samples, {row['n_candidates']} "
        f"candidates, chance {percent(row['chance'])} %{named}."
    )


def _sides(rows: Sequence[Row]) -> list[str]:
    keys = ("unseen_accuracy", "seen_accuracy", "harmonic_mean", "calibrated_harmonic_mean")
    return [cell(rows, key, percent) for key in keys]


def _mark(rows: Sequence[Row]) -> str:
    return " †" if any(row.get("uses_test_batch") for row in rows) else ""


def _notes(group: Sequence[Row]) -> list[str]:
    batch = any(row.get("uses_test_batch") for row in group)
    told = ["† uses the whole test batch at once (transductive)."] if batch else []
    return [*told, *(f"failed: {text}" for text in failures(group))]


def _by_method(values: Iterable[Published]) -> dict[str, Published]:
    return {value.method: value for value in values if value.method}


def _features(row: Row, theirs: Sequence[Published]) -> str:
    named = ", ".join(dict.fromkeys(v.features for v in theirs))
    if row["dataset"].endswith("_demo"):
        return f"features: the authors' own ({named})."
    return f"other features ({named}; ours: {row.get('feature_title') or row['features']})."


def _differences(row: Row, theirs: Sequence[Published]) -> list[str]:
    return [f"Paper: values of its tables for the same split; {_features(row, theirs)}"]


def _others(intro: str, theirs: Sequence[Published]) -> list[str]:
    told = [f"{value.title} {value.text}" for value in theirs if not value.method]
    return [intro + ", ".join(told) + "."] if told else []
