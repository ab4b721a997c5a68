"""Supervised clustering: the paper's Tables 6 and 7 and its Figure 3, and ordinary tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from zslearn.cluster import MAPPINGS, LinearMapping, SupervisedKMeans, make_mapping
from zslearn.datasets import make_subclusters
from zslearn.metrics import clustering_loss
from zslearn.reproduce.plots import COLORS, MARKERS, Plot, new_figure, tidy
from zslearn.reproduce.specification import Run, base_name
from zslearn.reproduce.tables import (
    Row,
    Table,
    best_cells,
    cell,
    failures,
    grouped,
    seconds,
    select,
)

FIRST_SEED = 1000


def measure(run: Run) -> dict[str, Any]:
    """Do one of the kinds: draws of the synthetic data, ordinary tables, points for a picture."""
    programs = {
        "clustering": _draws,
        "clustering-tables": _halves,
        "cluster-picture": _picture,
    }
    return programs[run.kind](run)


def _draws(run: Run) -> dict[str, Any]:
    """Fit on each draw and cluster its test points."""
    options = run.parameters
    settings = dict(options.get("options", {}))
    as_many = settings.pop(AS_MANY, False)
    losses, floor, times = [], [], []
    for draw in range(options["draws"]):
        data = make_subclusters(options["sizes"], random_state=FIRST_SEED + draw + run.seed)
        rows = _as_many(data.y_train) if as_many else slice(None)
        mapping = _mapping(run.method).set_params(**settings)
        model = SupervisedKMeans(mapping, standardize=options["scaling"] == "standardized")
        start = perf_counter()
        model.fit(data.X_train[rows], data.y_train[rows])
        times.append(perf_counter() - start)
        losses.append(clustering_loss(data.y_test, model.cluster(data.X_test)))
        floor.append(clustering_loss(data.y_test, data.bayes_partition(data.X_test)))
    return {
        "clustering_loss": sum(losses) / len(losses),
        "fit_seconds": median(times),
        "series": {"losses": losses, "floor": floor},
    }


# An option of the training rows, beside those of the mapping.
AS_MANY = "as_many_of_each_class"


def _as_many(y: NDArray[Any]) -> NDArray[np.intp]:
    """Return random rows of each class, as many as the smallest has."""
    classes, counts = np.unique(y, return_counts=True)
    order = np.random.default_rng(0).permutation(len(y))
    return np.concatenate([order[y[order] == c][: counts.min()] for c in classes])


# The parameter that a number behind a mapping's name is for.
NUMBERED = {"sae": "lam", "sae-balanced": "lam", "lajugie": "mu"}


def _mapping(name: str) -> LinearMapping:
    """Return a mapping; "sae=0.5" gives its λ as a number, "lajugie=0.001" its μ."""
    base, _, number = name.partition("=")
    return make_mapping(base, **({NUMBERED[base]: float(number)} if number else {}))


# Sweeps of ITML are loops over pairs; 50 of them keep the run short.
OVERRIDES = {"itml": {"max_iter": 50}}
DATA = {
    "digits": sklearn.datasets.load_digits,
    "wine": sklearn.datasets.load_wine,
    "breast cancer": sklearn.datasets.load_breast_cancer,
    "iris": sklearn.datasets.load_iris,
}
Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def _halves(run: Run) -> dict[str, Any]:
    """Fit on one half of the samples, or of the classes, and cluster the other."""
    options = run.parameters
    X, y = DATA[options["table"]](return_X_y=True)
    halve = _halves_of_classes if options.get("new_classes") else _halves_of_samples
    losses, indices = [], []
    for seed in range(run.seed, run.seed + options["splits"]):
        X_train, X_test, y_train, y_test = halve(X, y, seed)
        mapping = make_mapping(run.method, **OVERRIDES.get(run.method, {}))
        labels = SupervisedKMeans(mapping).fit(X_train, y_train).cluster(X_test)
        losses.append(float(clustering_loss(y_test, labels, normalize=True)))
        indices.append(float(adjusted_rand_score(y_test, labels)))
    return {
        "clustering_loss": float(np.mean(losses)),
        "adjusted_rand_index": float(np.mean(indices)),
        "series": {"losses": losses, "adjusted_rand_indices": indices},
    }


def _halves_of_samples(X: NDArray[Any], y: NDArray[Any], seed: int) -> Parts:
    parts: Parts = tuple(train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed))
    return parts


def _halves_of_classes(X: NDArray[Any], y: NDArray[Any], seed: int) -> Parts:
    classes = np.unique(y)
    known = np.isin(y, np.random.RandomState(seed).permutation(classes)[: len(classes) // 2])
    return X[known], X[~known], y[known], y[~known]


POINTS = 600


def _picture(run: Run) -> dict[str, Any]:
    """Cluster the test points of one draw and keep some of them."""
    data = make_subclusters(run.parameters["sizes"], random_state=1000 + run.seed)
    model = SupervisedKMeans(make_mapping(run.method)).fit(data.X_train, data.y_train)
    labels = model.cluster(data.X_test)
    shown = np.linspace(0, len(labels) - 1, POINTS).astype(int)
    return {
        "clustering_loss": clustering_loss(data.y_test, labels),
        "series": {
            "points": np.round(data.X_test[shown], 2),
            "classes": data.y_test[shown],
            "clusters": labels[shown],
        },
    }


SIZES = {"equal": "equal sizes", "1:2:4": "sizes 1:2:4"}


def synthetic_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the losses of every mapping on both sets of synthetic data."""
    chosen = select(rows, kind="clustering", parameter_options=None)
    if not chosen:
        return []
    sizes = [size for size in SIZES if select(chosen, parameter_sizes=size)]
    order = list(MAPPINGS)
    found = dict.fromkeys(row["method"] for row in chosen)
    names = sorted(found, key=lambda name: (order.index(base_name(name)), name))
    body = []
    for name in names:
        for scaling in ("standardized", "raw"):
            mine = select(chosen, method=name, parameter_scaling=scaling)
            parts = [select(mine, parameter_sizes=size) for size in sizes]
            if mine:
                times = (cell(part, "fit_seconds", seconds) for part in parts)
                body.append((_title(name), scaling, *map(_spread, parts), *times))
    columns = ("mapping", "features", *(SIZES[size] for size in sizes))
    columns += tuple(f"fit s, {SIZES[size]}" for size in sizes)
    done = [row for row in chosen if row["status"] == "ok"]
    notes = [_how(done), *failures(chosen)]
    best = best_cells(body, range(2, 2 + len(sizes)), lowest=True)
    title = "Supervised clustering of synthetic data: test loss, lower is better"
    return [Table("clustering", title, columns, tuple(body), tuple(notes), best)]


def setting_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the losses of a mapping with settings that its paper does not state."""
    chosen = [row for row in select(rows, kind="clustering") if row.get("parameter_options")]
    if not chosen:
        return []
    body = []
    for row in chosen:
        options = ", ".join(f"{key} = {value}" for key, value in row["parameter_options"].items())
        title = f"{_title(row['method'])}, {SIZES[row['parameter_sizes']]}"
        body.append((title, row["parameter_scaling"], options, _spread([row])))
    columns = ("mapping", "features", "setting", "loss")
    notes = tuple(failures(chosen))
    title = "Settings that the paper does not state: test loss, lower is better"
    return [Table("clustering-settings", title, columns, tuple(body), notes)]


def _title(name: str) -> str:
    base, _, number = name.partition("=")
    letter = "μ" if base == "lajugie" else "λ"
    return MAPPINGS[base].title + (f", {letter} = {number}" if number else "")


def _spread(rows: list[Row]) -> str:
    losses = [loss for row in rows if row["status"] == "ok" for loss in row["series"]["losses"]]
    if not losses:
        return "failed" if rows else ""
    return f"{np.mean(losses):.3f} ± {np.std(losses):.3f}"


def _how(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    floors = {
        row["parameter_sizes"]: f"{np.mean(row['series']['floor']):.3f} ({row['parameter_sizes']})"
        for row in rows
    }
    return (
        f"Mean and deviation over {rows[0]['parameter_draws']} draws of 3,000 balanced test "
        "points; λ of SAE by cross-validation unless it is given, its time included. The partition "
        f"that knows how the data was made has {', '.join(floors.values())}."
    )


HOW = (
    "features standardized on the training half. Clustering loss divided by its largest value "
    "(0 best, 1 unrelated) ± standard error / adjusted Rand index (1 best)."
)


def sample_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the losses where halves of the samples were trained on."""
    chosen = select(rows, kind="clustering-tables", parameter_new_classes=None)
    return _tables(chosen, "clustering-tables", "ordinary tables", "stratified halves")


def class_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the losses where halves of the classes were trained on."""
    chosen = select(rows, kind="clustering-tables", parameter_new_classes=True)
    return _tables(chosen, "clustering-new-classes", "new classes", "halves of the classes")


def _tables(rows: Sequence[Row], name: str, what: str, halves: str) -> list[Table]:
    if not rows:
        return []
    tables = list(dict.fromkeys(row["parameter_table"] for row in rows))
    groups = grouped(rows, "method", "parameter_table")
    methods = [name for name in MAPPINGS if any(name == row["method"] for row in rows)]
    body = [
        (MAPPINGS[method].title, *(_cell(groups.get((method, table), [])) for table in tables))
        for method in methods
    ]
    splits = max(row["parameter_splits"] for row in rows)
    notes = [f"{splits} random {halves}, {HOW}", *failures(rows)]
    best = best_cells(
        [[cell.partition(" /")[0] for cell in line] for line in body],
        range(1, len(tables) + 1),
        lowest=True,
    )
    title = f"Supervised clustering of {what}: test loss, lower is better"
    return [Table(name, title, ("mapping", *tables), tuple(body), tuple(notes), best)]


def _cell(rows: Sequence[Row]) -> str:
    done = [row for row in rows if row["status"] == "ok"]
    if not done:
        return "failed" if rows else ""
    losses = done[-1]["series"]["losses"]
    error = f" ± {np.std(losses, ddof=1) / np.sqrt(len(losses)):.3f}" if len(losses) > 1 else ""
    return f"{np.mean(losses):.3f}{error} / {done[-1]['adjusted_rand_index']:.2f}"


def plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield the true classes and what k-means finds after each mapping: the paper's Figure 3."""
    found = select(rows, kind="cluster-picture", status="ok")
    if found:
        yield Plot(
            "paper-figure-3",
            "figure-clusters",
            "Synthetic data whose classes are each split in two parts that lie 60 apart along the "
            "second feature (upper and lower row): the true classes, and the clusters that k-means "
            "finds after each mapping, colored by the class they hold most of.",
            partial(_clusters, {row["method"]: row for row in found}),
            found,
        )


def _clusters(done: dict[str, Row]) -> Any:
    """Draw the classes and the clusters of each method in columns."""
    first = next(iter(done.values()))
    panels = [("true classes", first["series"], "classes")]
    panels += [
        (f"{MAPPINGS[name].title}: loss {done[name]['clustering_loss']:.2f}", series, "clusters")
        for name in dict.fromkeys(("euclidean", "mlca", "sae", *done))
        if name in done and (series := done[name]["series"])
    ]
    figure = new_figure(3.0 * len(panels), 5.0)
    grid = figure.subplots(2, len(panels), sharex=True, sharey=True)
    for column, (title, series, key) in enumerate(panels):
        points, labels = np.array(series["points"]), np.array(series[key])
        labels = _matched(labels, np.array(series["classes"]))
        upper = points[:, 1] > points[:, 1].mean()
        for axes, part in zip(grid[:, column], (upper, ~upper), strict=True):
            _scatter(axes, points[part], labels[part])
        grid[0, column].set_title(title, fontsize=10)
        grid[1, column].set(xlabel="first feature")
    for axes, part in zip(grid[:, 0], ("near 60", "near 0"), strict=True):
        axes.set(ylabel=f"third feature\n(second feature {part})")
    return figure


def _matched(labels: Any, classes: Any) -> Any:
    """Rename clusters so that as many points as possible carry their class."""
    counts = np.array(
        [[np.sum((labels == a) & (classes == b)) for b in range(3)] for a in range(3)]
    )
    _, names = linear_sum_assignment(-counts)
    return names[labels]


def _scatter(axes: Any, points: Any, labels: Any) -> None:
    for i, label in enumerate(range(3)):
        mine = points[labels == label]
        axes.scatter(
            mine[:, 0], mine[:, 2], s=12, color=COLORS[i], marker=MARKERS[i], alpha=0.7, lw=0
        )
    tidy(axes)


TABLES = {
    "clustering-equal": synthetic_tables,
    "clustering-settings": setting_tables,
    "clustering-tables": sample_tables,
    "clustering-new-classes": class_tables,
}
