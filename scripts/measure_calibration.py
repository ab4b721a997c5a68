"""Measure calibration and rejection over splits of the classes, and draw the pictures of the page.

    python scripts/measure_calibration.py --data DIR --scores FOLDER --out docs/images

Fits on every split are slow, so the scores of test samples and of the folds are kept in FOLDER and
used again. Prints the tables of docs/calibration.md. With every unseen class as a candidate the
error of probabilities is measured; then each third of the unseen classes is unknown in turn.
The distance to the nearest prototype is the score less the length of the sample: for prototype
regression the lengths are measured as well, for SAE, which compares angles, it is the score.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from zslearn.core.confidence import LabeledScores, confidence_measures, fit_temperature
from zslearn.core.moments import Moments
from zslearn.core.rows import RowTransform
from zslearn.core.whitening import WithinClassCovariance
from zslearn.datasets import ClassSplit, open_dataset
from zslearn.evaluation import GeneralizedProtocol
from zslearn.metrics import (
    RejectionCurveDisplay,
    ReliabilityDisplay,
    expected_calibration_error,
    rejection_curve,
    reliability_curve,
    seen_unseen_curve,
)
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, make_classifier
from zslearn.zero_shot.held_out import (
    HeldOut,
    RejectionRule,
    choose_gamma,
    confidence_of_measures,
    learned_temperatures,
)

DATA = {"animals": "animals", "CUB": "xlsa17/CUB", "AWA1": "xlsa17/AWA1"}
SPLITS = {
    "animals": ("proposed", 1, 2, 3, 4),
    "CUB": ("proposed", 1, 2),
    "AWA1": ("proposed", 1, 2),
}
METHODS = ("prototype-regression", "sae")
WAYS = ("right", "known", "score", "distance", "lead", "margin", "probability", "entropy")
SETTINGS = ("unseen", "all")


def collected(data: Path, name: str, method: str, split: Any) -> dict[str, Any]:
    """Fit on a split and on the folds of its seen classes; return all scores."""
    dataset = open_dataset("animals" if name == "animals" else str(data / DATA[name]))
    usual = dataset.split("proposed")
    if split != "proposed":
        order = np.random.RandomState(split).permutation(np.concatenate([usual.seen, usual.unseen]))
        n = len(usual.unseen)
        usual = ClassSplit(np.sort(order[n:]), np.sort(order[:n]))
    task = GeneralizedProtocol(usual).task(dataset)
    X, y = dataset.X[task.train], dataset.y[task.train]
    model = make_classifier(method, dataset.signatures).fit(X, y)
    classes = np.unique(y)
    found = {
        "test": model.decision_function(dataset.X[task.test], task.candidates),
        "squares": squared_lengths(model, X, y, dataset.X[task.test]),
        "ytest": dataset.y[task.test],
        "cand": task.candidates,
        "seen": task.seen,
        "unseen": task.unseen,
        "classes": classes,
    }
    n_folds = len(CalibratedStacking(model.frozen()).fit(X, y).curves_)
    folds = ClassKFold(n_folds, shuffle=True, holdout=0.2, random_state=0)
    for i, (train, test) in enumerate(folds.split(X, y)):
        fitted = clone(model.frozen()).fit(X[train], y[train])
        found |= {f"s{i}": fitted.decision_function(X[test], classes), f"y{i}": y[test]}
        found[f"seen{i}"] = fitted.seen_classes_
        found[f"squares{i}"] = squared_lengths(fitted, X[train], y[train], X[test])
    return found | {"k": n_folds}


def squared_lengths(model: Any, X: Any, y: Any, rows: Any) -> np.ndarray:
    """Return ‖z‖² of rows where prototype regression whitens; zeros for other methods.

    The distance to a prototype differs by it from the score: ‖z - p‖² = ‖z‖² - 2 (z·p - ‖p‖² / 2).
    """
    if not isinstance(model, PrototypeRegression):
        return np.zeros(len(rows))
    transform = RowTransform("l2", model.power_)
    moments = Moments.of(transform.apply(X), y)
    z = transform.apply(rows) - moments.class_means.mean(axis=0)
    (solved,) = WithinClassCovariance.of(moments).solved(z, [model.shrinkage_])
    return np.sum(z * solved, axis=1)


def with_distances(scores: Any) -> dict[str, Any]:
    """Return negative squared distances to the prototypes in place of scores."""
    shifted = dict(scores)
    for name in ("", *range(int(scores["k"]))):
        key = f"s{name}" if name != "" else "test"
        shifted[key] = 2 * scores[key].astype(float) - scores[f"squares{name}"][:, None]
    return shifted


def folds_of(scores: Any) -> list[HeldOut]:
    """Return the folds as `CalibratedStacking` sees them."""
    classes, made = scores["classes"], []
    for i in range(int(scores["k"])):
        y, values, seen = scores[f"y{i}"], scores[f"s{i}"], scores[f"seen{i}"]
        curve = seen_unseen_curve(y, values, candidates=classes, seen=seen)
        some = slice(None, None, -(-len(y) // 10_000))
        columns = values[some]
        made.append(
            HeldOut(
                curve,
                y[some],
                classes,
                seen,
                lambda names, columns=columns: columns[:, np.searchsorted(classes, names)],
            )
        )
    return made


class Case:
    """One method on one split of one data set, calibrated."""

    def __init__(self, scores: Any) -> None:
        self.scores = scores
        self.y, self.names, self.unseen = scores["ytest"], scores["cand"], scores["unseen"]
        self.plain = scores["test"].astype(float)
        self.folds = folds_of(scores)
        self.gamma = choose_gamma([fold.curve for fold in self.folds]).best_params["gamma"]
        self.biased = self.plain - self.gamma * np.isin(self.names, scores["seen"])
        self.temperature = learned_temperatures(self.folds, self.gamma)
        self.learned: dict[str, Any] = {}
        self.sides = {
            "unseen": np.isin(self.y, self.unseen),
            "all": np.ones(len(self.y), dtype=bool),
        }

    def columns(self, setting: str, unknown: Any = ()) -> np.ndarray:
        """Say which classes are candidates."""
        allowed = np.isin(self.names, self.unseen) if setting == "unseen" else True
        return allowed & ~np.isin(self.names, unknown)

    def probabilities(self, setting: str, kind: str) -> np.ndarray:
        """Return probabilities of the samples of a setting."""
        rows, columns = self.sides[setting], self.columns(setting)
        values = (self.plain if kind == "softmax" else self.biased)[rows][:, columns]
        temperature = 1.0 if kind == "softmax" else self.temperature[setting]
        if kind == "oracle":
            truth = np.argmax(self.y[rows][:, None] == self.names[columns], axis=1)
            temperature = fit_temperature([LabeledScores(values, truth, np.ones(len(truth)))])
        return softmax(values / temperature, axis=1)

    def errors(self) -> dict[str, dict[str, float]]:
        """Return the calibration error of each kind of probabilities in each setting."""
        found: dict[str, dict[str, float]] = {}
        for kind in ("softmax", "calibrated", "oracle"):
            found[kind] = {}
            for setting in SETTINGS:
                rows, names = self.sides[setting], self.names[self.columns(setting)]
                values = self.probabilities(setting, kind)
                y = self.y[rows]
                found[kind][setting] = expected_calibration_error(y, values, candidates=names)
                if setting == "all":
                    for side in (True, False):
                        part = np.isin(y, self.unseen) == side
                        error = expected_calibration_error(y[part], values[part], candidates=names)
                        found[kind]["all, unseen samples" if side else "all, seen samples"] = error
        return found

    @cached_property
    def by_distance(self) -> Case:
        """The same with distances to prototypes as scores."""
        return Case(with_distances(self.scores))

    def rejections(self, way: str, setting: str) -> Iterator[tuple[float, ...]]:
        """Yield what rejection by one confidence leads to, for each third of unknown classes."""
        if way == "distance":
            yield from self.by_distance.rejections("score", setting)
            return
        if way not in self.learned:
            rule = RejectionRule(way, 0.05, None, 0)
            self.learned[way] = rule.learn(self.folds, self.gamma, self.temperature)
        mixed, threshold = self.learned[way]
        order = np.random.RandomState(0).permutation(self.unseen)
        for unknown in np.array_split(order, 3):
            rows, columns = self.sides[setting], self.columns(setting, unknown)
            values, y = self.biased[rows][:, columns], self.y[rows]
            measures = confidence_measures(values, self.temperature[setting])
            confidence = confidence_of_measures(measures, way, mixed.get(setting))
            names = self.names[columns]
            answers = names[values.argmax(axis=1)]
            self.curve = rejection_curve(y, answers, confidence, candidates=names)
            known, rejected = np.isin(y, names), confidence < threshold[setting]
            yield self.curve.auroc, self.curve.area, rejected[known].mean(), rejected[~known].mean()


def cases(data: Path, folder: Path, name: str, method: str) -> Iterator[Case]:
    """Yield the splits of a data set; scores that are not in the folder are made."""
    for split in SPLITS[name]:
        path = folder / f"{name}_{method}_{split}.npz"
        if not path.exists():
            np.savez(path, **collected(data, name, method, split))
        with np.load(path) as scores:
            yield Case(dict(scores))


def draw(shown: dict[tuple[str, str], Case], target: Path) -> None:
    """Draw the reliability and the rejection of the first split of every data set."""
    from matplotlib.figure import Figure

    for name in dict.fromkeys(name for name, _ in shown):
        figure = Figure(figsize=(10, 9), layout="constrained")
        panels = figure.subplots(2, 2)
        for method, row in zip(METHODS, panels, strict=True):
            case = shown[name, method]
            for setting, words in (("unseen", "unseen candidates"), ("all", "all candidates")):
                rows, names = case.sides[setting], case.names[case.columns(setting)]
                curve = reliability_curve(
                    case.y[rows], case.probabilities(setting, "calibrated"), candidates=names
                )
                ReliabilityDisplay(curve, name=f"calibrated, {words}").plot(row[0])
            plain = case.probabilities("all", "softmax")
            curve = reliability_curve(case.y, plain, candidates=case.names)
            ReliabilityDisplay(curve, name="softmax, all candidates").plot(row[0])
            for way in ("right", "known", "score", "probability"):
                next(case.rejections(way, "all"))
                RejectionCurveDisplay(case.curve, name=way).plot(row[1])
            row[0].set_title(f"{name}, {method}: probabilities", fontsize=10)
            row[1].set_title(f"{name}, {method}: rejection, all candidates", fontsize=10)
        figure.savefig(target / f"calibration-{name.lower()}.png", dpi=100)


def main() -> None:
    """Print tables, draw pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", choices=[*DATA], action="append")
    options = parser.parse_args()
    shown: dict[tuple[str, str], Case] = {}
    print("columns: error among unseen and all candidates, of unseen and seen samples; then AUROC,")
    print("accuracy over coverage, share of known and of unknown samples that is rejected")
    for name in options.only or DATA:
        for method in METHODS:
            every = list(cases(options.data, options.scores, name, method))
            shown[name, method] = every[0]
            errors = [case.errors() for case in every]
            for kind in errors[0]:
                cells = [
                    f"{np.mean([error[kind][key] for error in errors]):.3f}"
                    for key in errors[0][kind]
                ]
                print(f"| {name} | {method} | {kind} | {' | '.join(cells)} |", flush=True)
            for setting in SETTINGS:
                for way in WAYS:
                    each = [row for case in every for row in case.rejections(way, setting)]
                    cells = [f"{value:.3f}" for value in np.mean(each, axis=0)]
                    print(
                        f"| {name} | {method} | {setting} | {way} | {' | '.join(cells)} |",
                        flush=True,
                    )
    draw(shown, options.out)


if __name__ == "__main__":
    main()
