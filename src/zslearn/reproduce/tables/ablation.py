"""What the reconstruction term and the authors' undocumented steps contribute."""

from __future__ import annotations

from collections.abc import Iterable

from zslearn.reproduce.published import find_published
from zslearn.reproduce.tables.selection import (
    MAIN_SPACES,
    Row,
    cell,
    grouped,
    method_title,
    percent,
    select,
    where,
)
from zslearn.reproduce.tables.table import Table, best_cells

TERMS = ("ridge-fs", "rrzsl", "sae-encode", "sae")
STEPS = (
    "sae-encode",
    "sae-encode+projection",
    "sae-encode+zscore",
    "sae-encode+projection+zscore",
    "legacy_cub",
    "sae",
    "sae+projection",
    "sae+zscore",
    "sae+projection+zscore",
    "legacy_cub-decode",
    "legacy_awa",
    "legacy_imnet2",
)
STEP_NOTES = (
    "Supervised pre-projection: features replaced by ridge scores of the seen classes (ridge 50), "
    "as in the authors' CUB demo; λ is chosen by class-wise cross-validation after it.",
    "Test-batch z-score: scores standardized class by class over all test samples, which assumes "
    "that classes are about equally frequent in the test; it makes a method transductive.",
)


def ablation_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the paper's Table 3 on our features, then the two steps of the demos."""
    chosen = select(rows, kind="zero-shot", protocol="conventional", semantics=MAIN_SPACES)
    groups = list(grouped(chosen, "dataset", "features", "split").values())
    parts = [
        _table(groups, TERMS, "ablation-terms", "Direction of the regression, and both (SAE)"),
        _table(groups, STEPS, "ablation-steps", "The authors' two undocumented steps"),
    ]
    return [table for table in parts if table is not None]


def _table(groups: list[list[Row]], methods: tuple[str, ...], name: str, what: str) -> Table | None:
    wanted = [group for group in groups if select(group, method=methods)]
    if name == "ablation-steps":
        wanted = [g for g in wanted if any("+" in row["method"] for row in g)]
    if not wanted:
        return None
    columns, body = ["method"], [[method_title(method)] for method in methods]
    ours = []
    notes = list(STEP_NOTES) if name == "ablation-steps" else []
    for group in wanted:
        ours.append(len(columns))
        columns.append(_title(group[0]))
        for line, method in zip(body, methods, strict=True):
            line.append(cell(select(group, method=method), "per_class_accuracy", percent))
        if name == "ablation-terms":
            notes += _paper_column(group[0], methods, columns, body)
    body = [line for line in body if any(line[j] for j in ours)]
    if len(body) < 2:
        return None
    best = best_cells(body, ours)
    title = f"{what}: accuracy on unseen classes in %, mean over classes"
    return Table(name, title, tuple(columns), tuple(map(tuple, body)), tuple(notes), best)


def _paper_column(
    row: Row, methods: tuple[str, ...], columns: list[str], body: list[list[str]]
) -> list[str]:
    """Add the paper's values where its split is the same; return what differs."""
    found = find_published(row["dataset"], row["split"], "accuracy", semantics="attributes")
    known = {value.method: value for value in found}
    if not known:
        return []
    columns.append(f"paper, {known['sae'].dataset}" if "sae" in known else "paper")
    for line, method in zip(body, methods, strict=True):
        line.append(known[method].text if method in known else "")
    features = "GoogLeNet, 1024-D"
    return [f"Paper's columns: same split, per sample, {features}. Ours: {where(row)}."]


def _title(row: Row) -> str:
    return f"{row['dataset']} {row['split']}"
