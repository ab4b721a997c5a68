"""One method, calibrated: how honest its probabilities are and how well it rejects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from zslearn.core.confidence import MEASURES, LabeledScores, fit_temperature
from zslearn.core.moments import Moments
from zslearn.core.rows import RowTransform
from zslearn.core.whitening import WithinClassCovariance
from zslearn.datasets import ZeroShotDataset
from zslearn.evaluation import GeneralizedProtocol, OpenProtocol, Task, evaluate
from zslearn.metrics import RejectionCurve, rejection_curve, reliability_curve
from zslearn.model_selection import ClassKFold
from zslearn.reproduce.experiments.class_splits import class_split
from zslearn.reproduce.plots import COLORS, LINES, Plot, new_figure, tidy
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import (
    Row,
    Table,
    best_cells,
    by_method,
    failures,
    file_name,
    grouped,
    method_title,
    percent,
    select,
    short,
    where,
)
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, make_classifier
from zslearn.zero_shot.held_out import LEARNED, RejectionRule, drawn_guests, held_out_folds

CONFIDENCES = (*LEARNED, *MEASURES)
DISTANCE = "distance"
CURVE_POINTS = 100
# What is drawn.
SHOWN_WAYS = ("right", "known", "score", "margin", "probability")
SHOWN_ERRORS = {
    "calibrated_conventional": "calibrated, unseen candidates",
    "calibrated_generalized": "calibrated, all candidates",
    "plain_generalized": "softmax, all candidates",
}
# The unseen classes are dealt to so many parts, each of which is unknown in turn.
PARTS = 3


def measure(run: Run) -> dict[str, Any]:
    """Measure probabilities with all classes known, then every way to reject unknown ones."""
    data = run.data.load()
    split, table = class_split(data, run.split), data.semantics[run.semantics]
    task = GeneralizedProtocol(split, random_state=run.seed).task(data)
    model = make_classifier(run.method, table).fit(data.X[task.train], data.y[task.train])
    # Parameters are chosen once; every way to reject uses the same classifier.
    chosen = model.frozen()
    sides = evaluate(
        data, CalibratedStacking(chosen), OpenProtocol(split, random_state=run.seed)
    ).as_dict()
    stacks = _stacks(data, task, chosen)
    errors, reliability = _probabilities(data, task, model, stacks["right"])
    ways, rejection = _ways(data, task, stacks)
    row = sides | {"split": run.split, "method": run.method}
    return row | errors | ways | {"series": rejection | reliability}


def _stacks(data: ZeroShotDataset, task: Task, chosen: Any) -> dict[str, CalibratedStacking]:
    """Return one fitted calibration for each confidence, all learned on the same folds."""
    X, y = data.X[task.train], data.y[task.train]
    first = CalibratedStacking(chosen).fit(X, y)
    holdout, seed = first.holdout, first.random_state
    deal = ClassKFold(len(first.curves_), shuffle=True, holdout=holdout, random_state=seed)
    unseen = np.setdiff1d(first.signatures_.names, first.seen_classes_)
    folds = list(held_out_folds(chosen, X, y, deal, fill=drawn_guests(unseen, seed)))
    stacks = {}
    for name in CONFIDENCES:
        rule = RejectionRule(name, first.max_rejected, None, seed)
        mixed, found, _ = rule.learn(folds, first.gamma_, first.temperature_)
        threshold = {setting: value for setting, value in found.items() if value is not None}
        stacks[name] = CalibratedStacking(
            chosen,
            gamma=first.gamma_,
            temperature=first.temperature_,
            confidence=mixed or name,
            threshold=threshold,
        ).fit(X, y)
    return stacks


def _probabilities(
    data: ZeroShotDataset, task: Task, model: Any, stack: CalibratedStacking
) -> tuple[dict[str, float], dict[str, dict[str, list[float]]]]:
    """Measure probabilities with all unseen classes known, before and after calibration.

    And with the temperature that suits the test samples best: what one number can reach.
    """
    X, y = data.X[task.test], data.y[task.test]
    on_unseen, every = np.isin(y, task.unseen), np.ones(len(y), dtype=bool)
    settings: dict[str, tuple[Any, dict[str, NDArray[np.bool_]]]] = {
        "unseen": (task.unseen, {"conventional": on_unseen}),
        "all": (
            task.candidates,
            {
                "generalized": every,
                "generalized_unseen": on_unseen,
                "generalized_seen": ~on_unseen,
            },
        ),
    }
    errors, series = {}, {}
    for setting, (names, parts) in settings.items():
        rows = on_unseen if setting == "unseen" else every
        biased = stack.decision_function(X[rows], names)
        truth = np.argmax(y[rows][:, None] == np.asarray(names), axis=1)
        best = fit_temperature([LabeledScores(biased, truth, np.ones(len(truth)))])
        kinds = {
            "plain": model.predict_proba(X[rows], names),
            "calibrated": stack.predict_proba(X[rows], names),
            "best": softmax(biased / best, axis=1),
        }
        for kind, probabilities in kinds.items():
            for part, side in parts.items():
                inside = side[rows]
                curve = reliability_curve(y[rows][inside], probabilities[inside], candidates=names)
                errors[f"ece_{kind}_{part}"] = curve.error
                if f"{kind}_{part}" in SHOWN_ERRORS:
                    series[f"reliability_{kind}_{part}"] = {
                        "confidence": np.round(curve.confidence, 5).tolist(),
                        "accuracy": np.round(curve.accuracy, 5).tolist(),
                        "share": np.round(curve.share, 5).tolist(),
                    }
    return errors, series


def _ways(
    data: ZeroShotDataset, task: Task, stacks: dict[str, CalibratedStacking]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Measure every confidence with each third of the unseen classes unknown in turn."""
    X, y = data.X[task.test], data.y[task.test]
    order = np.random.RandomState(0).permutation(task.unseen)
    lengths = _squared_lengths(stacks["score"], data, task)
    found: dict[str, list[float]] = {}
    series: dict[str, Any] = {}
    for setting, classes in (("unseen", task.unseen), ("all", task.candidates)):
        rows = np.isin(y, classes)
        for unknown in np.array_split(order, PARTS):
            names = np.setdiff1d(classes, unknown)
            known = np.isin(y[rows], names)
            for way in (*CONFIDENCES, DISTANCE):
                recognizer = stacks.get(way, stacks["score"]).recognizer(names.tolist())
                answers = recognizer.predict(X[rows])
                if way == DISTANCE:
                    best = recognizer.scores(X[rows]).max(axis=1)
                    sure = best if lengths is None else 2.0 * best - lengths[rows]
                else:
                    sure = recognizer.confidence(X[rows])
                    rejected = recognizer.rejected(X[rows])
                    _note(found, "known_rejected", way, setting, rejected[known].mean())
                    _note(found, "unknown_rejected", way, setting, rejected[~known].mean())
                curve = rejection_curve(y[rows], answers, sure, candidates=names)
                _note(found, "auroc", way, setting, curve.auroc)
                _note(found, "area", way, setting, curve.area)
                if setting == "all" and way in SHOWN_WAYS:
                    series.setdefault(f"rejection_{way}", _thinned(curve))
    return {key: float(np.mean(values)) for key, values in found.items()}, series


def _note(found: dict[str, list[float]], key: str, way: str, setting: str, value: Any) -> None:
    found.setdefault(f"{key}_{way}_{setting}", []).append(float(value))


def _squared_lengths(
    stack: CalibratedStacking, data: ZeroShotDataset, task: Task
) -> NDArray[Any] | None:
    """Return ‖z‖² of test samples where prototype regression whitens.

    The distance to a prototype differs by it from the score: ‖z - p‖² = ‖z‖² - 2 (z·p - ‖p‖² / 2).
    A method that compares angles has no length: its best score is its distance.
    """
    model = stack.estimator_
    if not isinstance(model, PrototypeRegression):
        return None
    transform = RowTransform("l2", model.power_)
    moments = Moments.of(transform.apply(data.X[task.train]), data.y[task.train])
    z = transform.apply(data.X[task.test]) - moments.class_means.mean(axis=0)
    (solved,) = WithinClassCovariance.of(moments).solved(z, [model.shrinkage_])
    return np.asarray(np.sum(z * solved, axis=1))


def _thinned(curve: RejectionCurve) -> dict[str, list[float]]:
    """Return points of the curve, evenly along its length."""
    rows = np.unique(np.linspace(0, len(curve.coverage) - 1, CURVE_POINTS).astype(int))
    return {
        "coverage": np.round(curve.coverage[rows], 5).tolist(),
        "accuracy": np.round(curve.accuracy[rows], 5).tolist(),
    }


SETTINGS = {
    "conventional": "conventional",
    "generalized": "generalized",
    "generalized_unseen": "its unseen samples",
    "generalized_seen": "its seen samples",
}
KINDS = {
    "plain": "softmax of the scores",
    "calibrated": "calibrated",
    "best": "best temperature",
}
OPEN = {
    "seen_accuracy": "seen",
    "unseen_accuracy": "unseen",
    "unknown_accuracy": "unknown",
    "harmonic_mean": "harmonic mean",
    "unknown_auroc": "AUROC",
}


def open_tables(rows: Iterable[Row]) -> list[Table]:
    """Return open figures, errors of probabilities, and ways to reject in both settings."""
    groups = {
        f"{dataset}, {method_title(name)}": mine
        for (dataset,), group in grouped(select(rows, kind="open"), "dataset").items()
        for name, mine in by_method(group).items()
    }
    if not groups:
        return []
    every = [row for mine in groups.values() for row in mine]
    splits = ", ".join(dict.fromkeys(row["split"] for row in every))
    notes = (f"Means over splits: {splits}.", *failures(every))
    return [
        _sides(groups, notes),
        _errors(groups, notes),
        *_by_way(groups, notes),
    ]


def _mean(rows: Sequence[Row], key: str) -> float | None:
    values = [row[key] for row in rows if row["status"] == "ok" and row.get(key) is not None]
    return float(np.mean(values)) if values else None


def _sides(groups: dict[str, list[Row]], notes: tuple[str, ...]) -> Table:
    """Seen, unseen and unknown classes at once."""
    body = []
    for title, mine in groups.items():
        values = [_mean(mine, key) for key in OPEN]
        body.append((title, *("–" if value is None else percent(value) for value in values)))
    told = (
        "In %, per class. A third of the unseen classes is unknown; a rejected sample of another "
        "class counts as wrong, the harmonic mean is that of the three sides; the threshold "
        "promises to reject at most 5 % of samples of seen classes and 10 % of an unseen one.",
        *notes,
    )
    columns = ("data, method", *OPEN.values())
    return Table("open", "Seen, unseen and unknown classes", columns, tuple(body), told)


def _errors(groups: dict[str, list[Row]], notes: tuple[str, ...]) -> Table:
    """Return the expected calibration error before and after calibration."""
    body = [
        (title, words, *(short(_mean(mine, f"ece_{kind}_{part}")) for part in SETTINGS))
        for title, mine in groups.items()
        for kind, words in KINDS.items()
    ]
    told = (
        "Expected calibration error, 15 bins. Generalized: all test samples among all candidates, "
        "and its two parts. Best temperature: fitted to the test samples themselves.",
        *notes,
    )
    columns = ("data, method", "probabilities", *SETTINGS.values())
    best = frozenset((i, j) for i in range(1, len(body), len(KINDS)) for j in range(2, 6))
    title = "Can probabilities be believed"
    return Table("open-errors", title, columns, tuple(body), told, best)


def _by_way(groups: dict[str, list[Row]], notes: tuple[str, ...]) -> list[Table]:
    """Confidences by which to reject: how well they rank, and what their threshold rejects."""
    tables = (
        ("open-ways", "all", ("auroc", "area"), "Ways to reject, all candidates: AUROC / area"),
        (
            "open-rejected",
            "all",
            ("known_rejected", "unknown_rejected"),
            "Known / unknown samples rejected, all candidates",
        ),
        (
            "open-ways-unseen",
            "unseen",
            ("auroc", "area"),
            "Ways to reject, unseen classes alone as candidates: AUROC / area",
        ),
    )
    told = (
        "AUROC of known against unknown samples; area: mean accuracy over all coverages; "
        "rejected: at the threshold for at most 5 % of samples of seen classes and 10 % of an "
        "unseen one (none is learned for the distance).",
        *notes,
    )
    made = []
    for name, setting, keys, title in tables:
        body = [
            (
                way,
                *(
                    " / ".join(short(_mean(mine, f"{key}_{way}_{setting}")) for key in keys)
                    for mine in groups.values()
                ),
            )
            for way in (*CONFIDENCES, DISTANCE)
        ]
        made.append(Table(name, title, ("confidence", *groups), tuple(body), told))
    return [*made, _means(groups, notes)]


def _means(groups: dict[str, list[Row]], notes: tuple[str, ...]) -> Table:
    """Return the mean of every confidence over data, methods and settings."""
    body = []
    for way in (*CONFIDENCES, DISTANCE):
        cells = []
        for key in ("auroc", "area"):
            values = [
                _mean(mine, f"{key}_{way}_{setting}")
                for mine in groups.values()
                for setting in ("all", "unseen")
            ]
            known = [value for value in values if value is not None]
            cells.append(short(float(np.mean(known)) if known else None))
        body.append((way, *cells))
    title = "Ways to reject, means over data, methods and both settings"
    columns = ("confidence", "AUROC", "area")
    best = best_cells(body, (1, 2))
    return Table("open-means", title, columns, tuple(body), notes, best)


def plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield one picture for each data set, of the first split: probabilities, and rejection."""
    chosen = select(rows, kind="open", status="ok")
    for group in grouped(chosen, "dataset", "semantics").values():
        first = group[0]
        mine = [r for r in group if (r["split"], r["seed"]) == (first["split"], first["seed"])]
        yield Plot(
            file_name("calibration", first["dataset"]),
            "open",
            "Left: probability and accuracy of answers, the size of a dot is the share of samples; "
            "the number is the calibration error. Right: accuracy as answers of low confidence are "
            "rejected, a third of the unseen classes unknown; the number is the AUROC. "
            f"{where(first)}.",
            partial(_picture, mine),
            mine,
        )


def _picture(rows: Sequence[Row]) -> Any:
    figure = new_figure(10, 4.4 * len(rows))
    panels = figure.subplots(len(rows), 2, squeeze=False)
    for (left, right), row in zip(panels, rows, strict=True):
        _reliability(left, row)
        _coverage(right, row)
    return figure


def _reliability(axes: Any, row: Row) -> None:
    axes.axline((0, 0), slope=1, color="black", linestyle=":", linewidth=1)
    for i, (key, words) in enumerate(SHOWN_ERRORS.items()):
        curve = row["series"][f"reliability_{key}"]
        label = f"{words}, {row[f'ece_{key}']:.3f}"
        axes.plot(curve["confidence"], curve["accuracy"], color=COLORS[i], label=label)
        size = [300 * share for share in curve["share"]]
        axes.scatter(curve["confidence"], curve["accuracy"], size, COLORS[i], alpha=0.5)
    axes.set(xlabel="probability of the answer", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"{method_title(row['method'])}: probabilities", fontsize=10)
    axes.legend(fontsize=7, loc="upper left")
    tidy(axes)


def _coverage(axes: Any, row: Row) -> None:
    for i, way in enumerate(SHOWN_WAYS):
        curve = row["series"][f"rejection_{way}"]
        label = f"{way}, {row[f'auroc_{way}_all']:.3f}"
        line = LINES[i % len(LINES)]
        axes.plot(curve["coverage"], curve["accuracy"], line, color=COLORS[i], label=label)
    axes.set(
        xlabel="share of the samples that gets an answer",
        ylabel="accuracy of the answers",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    axes.set_title(f"{method_title(row['method'])}: rejection, all candidates", fontsize=10)
    axes.legend(fontsize=7, loc="lower left")
    tidy(axes)


TABLES = {"open": open_tables}
