"""One method in the conventional and the generalized setting by one fit, with its CPU time.

A generator is also measured at every checkpoint of its training: the best of them, taken by its
test accuracy, is what many published figures are. It is a figure of this experiment only; the
estimator chooses on its training classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import process_time
from typing import Any

import numpy as np

from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol, Task, evaluate
from zslearn.metrics import harmonic_mean, per_class_accuracy
from zslearn.reproduce.experiments.class_splits import interval
from zslearn.reproduce.experiments.zero_shot import with_steps
from zslearn.reproduce.published import GENERATIVE, find_published
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import (
    Row,
    Table,
    best_cells,
    by_method,
    cell,
    failures,
    file_name,
    grouped,
    method_title,
    percent,
    select,
)
from zslearn.zero_shot import make_classifier
from zslearn.zero_shot.registry import find_method

Figures = dict[str, float]


def measure(run: Run) -> dict[str, Any]:
    """Fit on the training rows of the generalized protocol and measure both settings."""
    data = run.data.load()
    task = GeneralizedProtocol(run.split, random_state=run.seed).task(data)
    if "deep.generator" in find_method(run.method).module:
        return _generator(run, data, task)
    return _other(run, data, task)


def _generator(run: Run, data: ZeroShotDataset, task: Task) -> dict[str, Any]:
    """Train with every checkpoint kept, and measure the chosen one and the best on the test."""
    table = data.semantics[run.semantics]
    clf: Any = make_classifier(run.method, table, random_state=run.seed)
    clf.set_params(search__keep_stages=True, **run.parameters)
    start = process_time()
    clf.fit(data.X[task.train], data.y[task.train])
    minutes = (process_time() - start) / 60
    stages = {steps: _figures(clf.at_step(steps), data, task) for steps in sorted(clf.stages_)}
    return stages[clf.n_steps_] | {
        "fit_cpu_minutes": minutes,
        "chosen_n_steps": clf.n_steps_,
        "chosen_n_synthetic": clf.n_synthetic_,
        "best_on_test_accuracy": max(one["per_class_accuracy"] for one in stages.values()),
        "best_on_test_harmonic_mean": max(one["harmonic_mean"] for one in stages.values()),
        "series": {"stages": [{"n_steps": steps} | one for steps, one in stages.items()]},
    }


def _figures(clf: Any, data: ZeroShotDataset, task: Task) -> Figures:
    X, y = data.X[task.test], data.y[task.test]
    unseen = np.isin(y, task.unseen)
    alone = clf.predict(X[unseen], task.unseen)
    among = clf.predict(X, task.candidates)
    on_unseen, on_seen = (per_class_accuracy(y[part], among[part]) for part in (unseen, ~unseen))
    return {
        "per_class_accuracy": per_class_accuracy(y[unseen], alone),
        "unseen_accuracy": on_unseen,
        "seen_accuracy": on_seen,
        "harmonic_mean": harmonic_mean(on_seen, on_unseen),
    }


def _other(run: Run, data: ZeroShotDataset, task: Task) -> dict[str, Any]:
    """Measure a method whose balance of seen and unseen classes calibrated stacking chooses."""
    method = with_steps(run.method, run.seed)
    rows = ClassSplit(task.seen, task.unseen, task.train)
    start = process_time()
    alone = evaluate(data, method, ConventionalProtocol(rows), semantics=run.semantics)
    minutes = (process_time() - start) / 60
    protocol = GeneralizedProtocol(run.split, random_state=run.seed)
    among = evaluate(data, method, protocol, semantics=run.semantics).metrics
    both = {
        name: among[f"calibrated_{name}"]
        for name in ("unseen_accuracy", "seen_accuracy", "harmonic_mean")
    }
    accuracy = alone.metrics["per_class_accuracy"]
    return both | {"per_class_accuracy": accuracy, "fit_cpu_minutes": minutes}


COLUMNS = {
    "per_class_accuracy": "T1",
    "unseen_accuracy": "U",
    "seen_accuracy": "S",
    "harmonic_mean": "H",
    "best_on_test_accuracy": "T1, best on test",
    "best_on_test_harmonic_mean": "H, best on test",
}
NOTE = (
    "Per-class accuracy in %, all settings chosen on seen classes: T1 among the unseen classes; U "
    "and S of unseen and seen classes among all, H their harmonic mean (bias of calibrated "
    "stacking; generators balance the two sides by the number of synthesized samples). Best on "
    "test: the checkpoint of the generator that the test samples like best, which many published "
    "figures are. Minutes: CPU time of the fit on one core, choice of settings included."
)
OVER = "Mean ± standard deviation over seeds; one figure is one seed."


def modern_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the methods on all data sets, then a table for each of them."""
    groups = grouped(select(rows, kind="modern"), "dataset", "semantics")
    parts = [_table(dataset, space, group) for (dataset, space), group in groups.items()]
    return [_verdict(groups), *_gains(groups), *_published(groups), *parts] if parts else []


def _verdict(groups: dict[tuple[Any, ...], list[Row]]) -> Table:
    """Return T1 and H on every data set, and the longest fit: one line per method."""
    figures = {"T1": "per_class_accuracy", "H": "harmonic_mean"}
    columns = [f"{dataset}, {figure}" for dataset, _ in groups for figure in figures]
    body = []
    for name, mine in by_method([row for group in groups.values() for row in group]).items():
        cells = [
            cell(select(mine, dataset=dataset), key, percent)
            for dataset, _ in groups
            for key in figures.values()
        ]
        longest = max(row.get("fit_cpu_minutes") or 0.0 for row in mine)
        body.append((method_title(name), *cells, f"{longest:.2g}"))
    title = "Generators and closed forms on all data"
    notes = (NOTE.partition(" Best on test")[0], OVER)
    best = best_cells(body, range(1, len(columns) + 1))
    return Table("modern", title, ("method", *columns, "minutes"), tuple(body), notes, best)


# What deep methods are measured against.
BASES = ("sae", "prototype-regression")


def _gains(groups: dict[tuple[Any, ...], list[Row]]) -> list[Table]:
    """Return how far every method is ahead of the closed forms in T1, paired over seeds."""
    columns, found = [], []
    for (dataset, _), group in groups.items():
        reached = {
            name: {row["seed"]: row["per_class_accuracy"] for row in select(mine, status="ok")}
            for name, mine in by_method(group).items()
        }
        for base in BASES:
            columns.append(f"{dataset}: − {method_title(base)}")
            found.append((reached, reached.get(base, {})))
    names = dict.fromkeys(name for reached, _ in found for name in reached)
    body = []
    for name in (one for one in names if one not in BASES):
        cells = []
        for reached, base_of in found:
            own = reached.get(name, {})
            seeds = [seed for seed in own if seed in base_of]
            differences = [own[seed] - base_of[seed] for seed in seeds]
            if len(differences) < 3:
                cells.append("–")
                continue
            mean = 100 * float(np.mean(differences))
            cells.append(f"{mean:+.1f} ({interval(differences)})")
        body.append((method_title(name), *cells))
    if not body:
        return []
    notes = (
        "Differences of T1 in points, mean and 95 % t-interval over seeds on one split: how much "
        "training varies, not how much another choice of unseen classes would.",
    )
    title = "Deep methods against closed forms"
    return [Table("modern-gains", title, ("method", *columns), tuple(body), notes)]


def _published(groups: dict[tuple[Any, ...], list[Row]]) -> list[Table]:
    """Return published values of the generators beside ours, where the split is the same."""
    made = []
    keys = ("per_class_accuracy", "unseen_accuracy", "seen_accuracy", "harmonic_mean")
    for (dataset, space), group in groups.items():
        theirs = [
            find_published(dataset, "proposed", metric, semantics=space, source=GENERATIVE)
            for metric in ("T1", "u", "s", "H")
        ]
        body = []
        for name, mine in by_method(group).items():
            values = [[one.text for one in part if one.method == name] for part in theirs]
            if all(values):
                ours = [cell(mine, key, percent) for key in keys]
                best = [cell(mine, f"best_on_test_{key}", percent) for key in ("accuracy", keys[3])]
                sides = (part[0] for part in values)
                body.append((method_title(name), *sides, *ours, *best))
        if body:
            figures = ("T1", "U", "S", "H")
            columns = ("method", *(f"{one}, published" for one in figures), *figures)
            columns += ("T1, best on test", "H, best on test")
            notes = (f"Published: {theirs[0][0].features}; {theirs[0][0].source}.", OVER)
            title = f"Published and measured: {dataset}, {space}"
            name = file_name("modern-published", dataset)
            made.append(Table(name, title, columns, tuple(body), notes))
    return made


def _table(dataset: str, space: str, group: Sequence[Row]) -> Table:
    body = [
        (
            method_title(name),
            str(len(select(mine, status="ok"))),
            *(cell(mine, key, percent) for key in COLUMNS),
            cell(mine, "fit_cpu_minutes", _minutes),
        )
        for name, mine in by_method(group).items()
    ]
    notes = (NOTE, OVER, *failures(group))
    columns = ("method", "seeds", *COLUMNS.values(), "minutes")
    title = f"Generators and closed forms: {dataset}, {space}"
    best = best_cells(body, (2, 5))
    return Table(file_name("modern", dataset, space), title, columns, tuple(body), notes, best)


def _minutes(value: float) -> str:
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


TABLES = {"modern": modern_tables}
