"""λ sensitivity, projection domain shift, confusions and attributes of SAE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zslearn.reproduce.plots.style import (
    BLUE,
    COLORS,
    MARKERS,
    VERMILION,
    Plot,
    drawn,
    new_figure,
    tidy,
)
from zslearn.reproduce.tables.selection import Row, file_name, select, where

WAYS = {"encode": (BLUE, "encoder"), "decode": (VERMILION, "decoder")}
NAMED_CLASSES = 15
SHOWN_ATTRIBUTES = 12


def diagnosis_plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield four pictures of each split."""
    for row in select(rows, kind="diagnosis", status="ok"):
        for part, draw in (
            ("lam", _lam),
            ("map", _map),
            ("confusion", _confusion),
            ("attributes", _attributes),
        ):
            name = file_name("figure", part, row["dataset"], row["split"])
            figure, caption = draw(row["series"][part])
            yield Plot(name, "figures", f"{caption} {where(row)}.", drawn(figure))


def _lam(series: Row) -> tuple[Any, str]:
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
    return figure, (
        "Accuracy against λ. Solid: unseen classes; dashed: seen classes held out in "
        "cross-validation, with another number of candidates; the marker is the λ that "
        "cross-validation chose, from seen classes only."
    )


def _map(series: Row) -> tuple[Any, str]:
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
    return figure, (
        "Projection domain shift: encoded samples of unseen classes (small) and the signatures "
        "they should lie at (large, black edge); dotted lines lead from the mean of a class to its "
        f"signature. Shown are {len(series['classes'])} unseen classes."
    )


def _confusion(series: Row) -> tuple[Any, str]:
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
    return figure, "Confusions between unseen classes (decoder)."


def _attributes(series: Row) -> tuple[Any, str]:
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
    return figure, (
        "How well the encoder predicts each semantic dimension of unseen samples: correlation "
        "with the true value."
    )


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"
