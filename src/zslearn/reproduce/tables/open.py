"""Calibrated methods: the error of probabilities, and samples of unknown classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zslearn.reproduce.tables.selection import (
    Row,
    by_method,
    cell,
    failures,
    file_name,
    grouped,
    method_title,
    percent,
    select,
)
from zslearn.reproduce.tables.table import Table, best_cells

SETTINGS = {
    "conventional": "conventional",
    "generalized": "generalized",
    "generalized_seen": "seen",
    "generalized_unseen": "unseen",
}
WAYS = {
    "right": "learned: the answer is right",
    "known": "learned: the class is a candidate",
    "score": "best score",
    "lead": "lead over the mean",
    "margin": "margin over the second",
    "probability": "probability of the best",
    "entropy": "entropy",
}
OPEN = {
    "seen_accuracy": "seen",
    "unseen_accuracy": "unseen",
    "unknown_accuracy": "unknown",
    "harmonic_mean": "H",
    "known_rejected": "known rejected",
    "unknown_auroc": "AUROC",
    "coverage_area": "accuracy/coverage",
}
OVER = "Mean ± standard deviation over {} runs: splits of the classes and draws of unknown ones."


def open_tables(rows: Iterable[Row]) -> list[Table]:
    """Return three tables for each data set: open figures, probabilities, ways to reject."""
    made = []
    for (dataset, space), group in grouped(
        select(rows, kind="open"), "dataset", "semantics"
    ).items():
        names = dataset, space
        runs = max(len(mine) for mine in by_method(group).values())
        notes = (OVER.format(runs), *(f"failed: {text}" for text in failures(group)))
        made += [_together(names, group, notes), _probabilities(names, group, notes)]
        made += [_ways(names, name, mine, notes) for name, mine in by_method(group).items()]
    return made


def _together(names: tuple[str, str], group: Sequence[Row], notes: tuple[str, ...]) -> Table:
    """Seen, unseen and unknown classes at once."""
    body = [
        (method_title(name), *(cell(mine, key, percent) for key in OPEN))
        for name, mine in by_method(group).items()
    ]
    told = (
        "In %, per class. A third of the unseen classes is unknown; a rejected sample of another "
        "class counts as wrong, H is the harmonic mean of the three sides; the threshold should "
        "reject 5 % of known samples.",
        *notes,
    )
    columns = ("method", *OPEN.values())
    best = best_cells(body, (1, 2, 3, 4, 6, 7))
    title = f"Seen, unseen and unknown: {names[0]}, {names[1]}"
    return Table(file_name("open", *names), title, columns, tuple(body), told, best)


def _probabilities(names: tuple[str, str], group: Sequence[Row], notes: tuple[str, ...]) -> Table:
    """Return the expected calibration error before and after calibration."""
    body = []
    for name, mine in by_method(group).items():
        for kind, words in (("plain", "softmax"), ("calibrated", "calibrated"), ("floor", "floor")):
            cells = (cell(mine, f"ece_{kind}_{key}", "{:.3f}".format) for key in SETTINGS)
            body.append((f"{method_title(name)}, {words}", *cells))
    told = (
        "Expected calibration error, 15 bins. Generalized: all test samples; seen and unseen: the "
        "two parts of them. Floor: what the calibrated probabilities would show on so many "
        "independent samples if they were the true ones.",
        *notes,
    )
    title = f"Can probabilities be believed: {names[0]}, {names[1]}"
    columns = ("method", *SETTINGS.values())
    return Table(file_name("open-ece", *names), title, columns, tuple(body), told, frozenset())


def _ways(
    names: tuple[str, str], method: str, rows: Sequence[Row], notes: tuple[str, ...]
) -> Table:
    """Confidences by which to reject, side by side."""
    keys = ("auroc", "area", "known_rejected", "unknown_rejected")
    body = [
        (words, *(cell(rows, f"{key}_{way}", percent) for key in keys))
        for way, words in WAYS.items()
    ]
    told = (
        "In %. AUROC of known against unknown samples; mean accuracy over all coverages; known and "
        "unknown samples rejected at the threshold that should reject 5 % of known ones.",
        *notes,
    )
    title = f"Ways to reject, {method_title(method)}: {names[0]}, {names[1]}"
    columns = ("confidence", "AUROC", "accuracy/coverage", "known rejected", "unknown rejected")
    best = best_cells(body, (1, 2))
    return Table(file_name("open-ways", method, *names), title, columns, tuple(body), told, best)
