"""The paper's Table 5: what training and recognition cost."""

from __future__ import annotations

from collections.abc import Iterable

from zslearn.reproduce.published import find_published
from zslearn.reproduce.tables.selection import Row, method_title, seconds, select
from zslearn.reproduce.tables.table import Table

REFERENCE = "sae-encode"
PAPER_ROWS = 24_295  # training samples of AwA
COLUMNS = (
    "method",
    "training s",
    "× SAE",
    "with search s",
    "test s",
    "× SAE (test)",
    "paper: training s",
    "× SAE (paper)",
    "paper: test s",
)


def cost_tables(rows: Iterable[Row]) -> list[Table]:
    """Return times of each method and their ratio to SAE's, all of one run."""
    return [_table(row) for row in select(rows, kind="cost", status="ok")]


def _table(row: Row) -> Table:
    entries = {entry["method"]: entry for entry in row["series"]["methods"]}
    base = entries.get(REFERENCE, {})
    paper = {
        metric: {v.method: v for v in find_published("AWA1", "standard", metric)}
        for metric in ("fit seconds", "predict seconds")
    }
    same_size = row["parameter_n_train"] == PAPER_ROWS
    columns = COLUMNS if same_size else COLUMNS[:-3]
    lines = (_line(name, entry, base, paper) for name, entry in entries.items())
    body = tuple(line[: len(columns)] for line in lines)
    notes = [
        f"{row['parameter_n_train']:,} training and "
        f"{row['parameter_n_samples'] - row['parameter_n_train']:,} test samples, "
        f"d = {row['parameter_n_features']}, k = {row['parameter_n_dimensions']}, "
        f"{row['parameter_n_seen']}/{row['parameter_n_unseen']} classes, synthetic.",
        "Training: one fit with the parameters the method chose; with search: choosing them by "
        "class-wise cross-validation included."
        + (" The paper's times are from another machine: compare ratios." if same_size else ""),
        f"{row['machine_cores']} cores, {row['machine_threads']} threads, load "
        f"{row.get('machine_load')}, {row['machine_cpu']}.",
    ]
    notes += [f"{n}: {e['error']}" for n, e in entries.items() if e["status"] == "failed"]
    size = row["parameter_n_train"]
    title = f"Cost with {size:,} training samples" + (", as in AwA" if same_size else "")
    return Table(f"cost-{size}", title, columns, body, tuple(notes))


def _line(name: str, entry: Row, base: Row, paper: dict[str, Row]) -> tuple[str, ...]:
    training, test = paper["fit seconds"], paper["predict seconds"]
    cells = [_cell(entry, "fit_seconds"), _ratio(entry, base, "fit_seconds")]
    cells += [_cell(entry, "search_seconds")]
    cells += [_cell(entry, "predict_seconds"), _ratio(entry, base, "predict_seconds")]
    if name in training:
        ratio = training[name].value / training[REFERENCE].value
        cells += [training[name].text, f"{ratio:.1f}", test[name].text]
    else:
        cells += ["", "", ""]
    return (method_title(name), *cells)


def _cell(entry: Row, key: str) -> str:
    return seconds(entry[key]) if entry["status"] == "ok" else "failed"


def _ratio(entry: Row, base: Row, key: str) -> str:
    if entry["status"] != "ok" or base.get("status") != "ok":
        return ""
    return f"{entry[key] / base[key]:.1f}"
