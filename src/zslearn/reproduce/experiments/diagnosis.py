"""A close look at SAE on one split: λ, domain shift, confusions, attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.linear_maps import autoencoder_equation
from zslearn.core.moments import Moments
from zslearn.core.nearest import scores, unit_rows
from zslearn.evaluation import ConventionalProtocol, Task
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import per_class_accuracy
from zslearn.reproduce.plots import (
    BLUE,
    COLORS,
    MARKERS,
    VERMILION,
    Plot,
    new_figure,
    tidy,
)
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import Row, file_name, select, where
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

MAP_CLASSES, MAP_SAMPLES = 7, 60


def measure(run: Run) -> dict[str, Any]:
    """Fit SAE with λ by class-wise cross-validation and look at the unseen classes."""
    data = run.data.load()
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


WAYS = {"encode": (BLUE, "encoder"), "decode": (VERMILION, "decoder")}
NAMED_CLASSES = 15
SHOWN_ATTRIBUTES = 12


def plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield four pictures of each split."""
    for row in select(rows, kind="diagnosis", status="ok"):
        for part, (draw, caption) in PICTURES.items():
            name = file_name("figure", part, row["dataset"], row["split"])
            series = row["series"][part]
            yield Plot(name, "figures", f"{caption} {where(row)}.", partial(draw, series), [row])


def _draw_lam(series: Row) -> Any:
    figure = new_figure(7.0, 4.2)
    axes = figure.subplots()
    lams = np.array(series["lams"])
    for way, (color, title) in WAYS.items():
        unseen, held_out = np.array(series["unseen"][way]), np.array(series["held_out"][way])
        axes.semilogx(lams, unseen, color=color, label=f"{title}, unseen classes")
        axes.semilogx(lams, held_out, "--", color=color, label=f"{title}, held-out seen classes")
        nearest = int(np.argmin(np.abs(np.log(lams / series["chosen"][way]))))
        axes.plot(
            lams[nearest],
            unseen[nearest],
            marker="o" if way == "encode" else "s",
            markersize=10,
            color=color,
            markeredgecolor="black",
            linestyle="none",
            label=f"{title}, λ chosen: {unseen[nearest]:.3f} (best {unseen.max():.3f})",
        )
    axes.set(xlabel="λ", ylabel="accuracy, mean over classes", ylim=(0, 1))
    axes.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    tidy(axes)
    return figure


def _draw_map(series: Row) -> Any:
    figure = new_figure(7.0, 5.2)
    axes = figure.subplots()
    samples, labels = np.array(series["samples"]), np.array(series["labels"])
    prototypes = np.array(series["prototypes"])
    for i, name in enumerate(series["classes"]):
        color, marker = COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]
        mine = samples[labels == name]
        axes.scatter(
            *mine.T, s=16, color=color, marker=marker, alpha=0.55, linewidths=0, label=name
        )
        center = mine.mean(axis=0)
        axes.annotate(
            "",
            prototypes[i],
            center,
            arrowprops={"arrowstyle": "-", "color": color, "linestyle": ":", "linewidth": 1.2},
        )
        axes.scatter(
            *prototypes[i], s=170, color=color, marker=marker, edgecolors="black", zorder=3
        )
    axes.set(xlabel="first principal axis", ylabel="second principal axis")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    tidy(axes)
    return figure


def _draw_confusion(series: Row) -> Any:
    classes = series["classes"]
    named = len(classes) <= NAMED_CLASSES
    figure = new_figure(6.4, 5.4)
    axes = figure.subplots()
    shares = np.array(series["shares"])
    picture = axes.imshow(shares, cmap="cividis", vmin=0, vmax=1)
    figure.colorbar(picture, ax=axes, label="share of the samples of a class")
    axes.set(xlabel="answered", ylabel="true class")
    if named:
        axes.set_xticks(range(len(classes)), classes, rotation=45, ha="right", fontsize=8)
        axes.set_yticks(range(len(classes)), classes, fontsize=8)
        for i, j in np.ndindex(*shares.shape):
            if shares[i, j] >= 0.05:
                color = "black" if shares[i, j] > 0.6 else "white"
                axes.text(
                    j,
                    i,
                    f"{shares[i, j]:.2f}"[1:] if shares[i, j] < 1 else "1",
                    ha="center",
                    va="center",
                    fontsize=7,
                    color=color,
                )
    return figure


def _draw_attributes(series: Row) -> Any:
    values, names = np.array(series["correlations"]), np.array(series["names"])
    order = np.argsort(values)
    half = SHOWN_ATTRIBUTES
    kept = order if len(order) <= 2 * half else np.concatenate([order[:half], order[-half:]])
    figure = new_figure(8.4, 4.6)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1])
    left.hist(values, bins=np.linspace(-1, 1, 21), color=BLUE, edgecolor="white")
    left.axvline(np.median(values), color="black", linestyle="--")
    left.set(xlabel="correlation with the true value", ylabel="dimensions")
    left.set_title(f"median {np.median(values):.2f}", fontsize=10)
    colors = [BLUE if value >= 0 else VERMILION for value in values[kept]]
    right.barh(range(len(kept)), values[kept], color=colors)
    right.set_yticks(range(len(kept)), [_short(name) for name in names[kept]], fontsize=7)
    right.axvline(0, color="black", linewidth=0.8)
    right.set(xlabel="correlation", xlim=(-1, 1), xticks=(-1, -0.5, 0, 0.5, 1))
    right.set_title("worst and best" if len(kept) < len(order) else "all", fontsize=10)
    for axes in (left, right):
        tidy(axes)
    return figure


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"


PICTURES: dict[str, tuple[Callable[[Row], Any], str]] = {
    "lam": (
        _draw_lam,
        "Accuracy against λ. Solid: unseen classes; dashed: seen classes held out in "
        "cross-validation, with another number of candidates; the marker is the λ that "
        "cross-validation chose, from seen classes only.",
    ),
    "map": (
        _draw_map,
        "Projection domain shift: encoded samples of some unseen classes (small) and the "
        "signatures they should lie at (large, black edge); dotted lines lead from the mean of a "
        "class to its signature.",
    ),
    "confusion": (_draw_confusion, "Confusions between unseen classes (decoder)."),
    "attributes": (
        _draw_attributes,
        "How well the encoder predicts each semantic dimension of unseen samples: correlation "
        "with the true value.",
    ),
}
# It draws, and has no table.
TABLES: dict[str, Any] = {}
