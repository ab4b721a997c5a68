"""A close look at SAE on one split: λ, domain shift, confusions, attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.linear_maps import autoencoder_equation
from zslearn.core.moments import Moments
from zslearn.core.nearest import scores, unit_rows
from zslearn.evaluation import ConventionalProtocol, Task
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import per_class_accuracy
from zslearn.reproduce.specification import Run
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

MAP_CLASSES, MAP_SAMPLES = 7, 60


def measure(run: Run) -> dict[str, Any]:
    """Fit SAE with λ by class-wise cross-validation and look at the unseen classes."""
    if run.source is None:
        raise InvalidInputError("a diagnosis needs a data set.")
    data = run.source.load()
    task = ConventionalProtocol(run.split).task(data)
    table = data.semantics[run.semantics]
    model = SAEClassifier(table, direction="both").fit(data.X[task.train], data.y[task.train])
    X_test, y_test = unit_rows(np.asarray(data.X[task.test], np.float64)), data.y[task.test]
    S = unit_rows(table.rows(task.candidates))
    predicted = task.candidates[scores(X_test, S @ model.coef_decode_, "cosine").argmax(axis=1)]
    codes = X_test @ model.coef_encode_.T
    X_train = unit_rows(np.asarray(data.X[task.train], np.float64))
    return {
        "per_class_accuracy": per_class_accuracy(y_test, predicted, classes=task.unseen),
        "feature_title": data.features,
        "series": {
            "lam": _lam_path(model, X_train, data.y[task.train], X_test, y_test, task, S),
            "map": _map(codes, y_test, task, S),
            "confusion": _confusion(y_test, predicted, task),
            "attributes": _attributes(codes, y_test, table),
        },
    }


def _lam_path(
    model: SAEClassifier,
    X: NDArray[Any],
    y: NDArray[Any],
    X_test: NDArray[Any],
    y_test: NDArray[Any],
    task: Task,
    S: NDArray[Any],
) -> dict[str, Any]:
    """Accuracy against λ of both directions, held out and on the unseen classes."""
    found: Any = model.cv_results_
    if found is None:
        raise InvalidInputError("too few seen classes to choose λ; there is no curve to draw.")
    labels = np.searchsorted(model.seen_classes_, y)
    moments = Moments.of(X, labels)
    lams, held_out = _curves(found)
    equation = autoencoder_equation(moments, model.seen_signatures_, float(lams.max()))
    curves: dict[str, list[float]] = {"encode": [], "decode": []}
    for lam in lams:
        W = equation.coef(float(lam))
        for way, answers in (
            ("encode", scores(X_test @ W.T, S, "cosine")),
            ("decode", scores(X_test, S @ W, "cosine")),
        ):
            guess = task.candidates[answers.argmax(axis=1)]
            curves[way].append(per_class_accuracy(y_test, guess, classes=task.unseen))
    return {
        "lams": lams,
        "held_out": held_out,
        "unseen": curves,
        "chosen": dict(model.lam_),
    }


def _curves(found: dict[str, Any]) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """Return the λ tried and the mean accuracy of each direction on held-out classes."""
    ways = np.array([point["direction"] for point in found["params"]])
    lams = np.array([point["lam"] for point in found["params"]])
    means = found["mean_test_score"]
    return lams[ways == "encode"], {way: means[ways == way] for way in ("encode", "decode")}


def _map(codes: NDArray[Any], y: NDArray[Any], task: Task, S: NDArray[Any]) -> dict[str, Any]:
    """Lay encoded samples of a few unseen classes and their signatures on two axes."""
    shown = task.candidates[: min(MAP_CLASSES, len(task.candidates))]
    rows = np.concatenate([np.flatnonzero(y == name)[:MAP_SAMPLES] for name in shown])
    points = np.concatenate([unit_rows(codes[rows]), S[: len(shown)]])
    centered = points - points[: len(rows)].mean(axis=0)
    _, _, axes = np.linalg.svd(centered[: len(rows)], full_matrices=False)
    flat = np.round(centered @ axes[:2].T, 4)
    return {
        "classes": shown.astype(str),
        "labels": y[rows].astype(str),
        "samples": flat[: len(rows)],
        "prototypes": flat[len(rows) :],
    }


def _confusion(y: NDArray[Any], predicted: NDArray[Any], task: Task) -> dict[str, Any]:
    """Share of the samples of each unseen class that was predicted as each of them."""
    order = np.argsort(task.candidates)
    place = order[np.searchsorted(task.candidates[order], y)]
    guess = order[np.searchsorted(task.candidates[order], predicted)]
    counts = np.zeros((len(order), len(order)))
    np.add.at(counts, (place, guess), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return {"classes": task.candidates.astype(str), "shares": np.round(shares, 4)}


def _attributes(codes: NDArray[Any], y: NDArray[Any], table: Signatures) -> dict[str, Any]:
    """Correlation of each encoded dimension with its true value over unseen samples."""
    truth = table.rows(y)
    a, b = codes - codes.mean(axis=0), truth - truth.mean(axis=0)
    norm = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    constant = norm <= 1e-12 * norm.max()
    quality = np.divide((a * b).sum(axis=0), norm, out=np.zeros(len(norm)), where=~constant)
    kept = np.flatnonzero(~constant)
    names = [str(table.dimensions[i]) for i in kept]
    return {"names": names, "correlations": np.round(quality[kept], 4)}
