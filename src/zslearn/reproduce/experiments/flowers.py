"""Segmentation of the Flowers-17 photographs by supervised clustering: the paper's Table 8.

Most learners see only the moments of the training pixels, so one pass over the photographs serves
all of them, every λ and both readings of the pixels that the masks leave undefined. ITML and LMNN
learn from rows, and get some pixels of every photograph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.cluster import (
    ITML,
    KISSME,
    LMNN,
    MLCA,
    EuclideanMapping,
    LajugieSpectral,
    LDAProjection,
    Statistics,
    pixel_features,
    sae_path,
)
from zslearn.cluster.kmeans import two_means
from zslearn.datasets import SegmentationDataset, flowers17_splits, load_flowers17
from zslearn.metrics import clustering_loss
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import Row, Table, best_cells, failures, seconds, select, spread

READINGS = ("background", "drop")
UNDEFINED = -1
LAMS = np.logspace(-3, 6, 10)
RIDGES = np.logspace(-6, -2, 5)
# Pixels of each training photograph for learners that need rows: 20,000 of 2 million.
PIXELS_KEPT = 100
Pixels = dict[str, tuple[NDArray[Any], NDArray[Any]]]


@dataclass(frozen=True)
class Trial:
    """A linear map to judge: which learner, under which reading of undefined pixels.

    `setting` is λ of SAE or the ridge of KISSME, chosen on validation photographs, and None for
    learners that have none; `coef` has shape (k, 135). `seconds` are CPU seconds of the learning,
    without the pass over the photographs.
    """

    learner: str
    reading: str
    coef: NDArray[Any]
    setting: float | None = None
    seconds: float = 0.0

    def row(self, loss: float) -> dict[str, Any]:
        """Return what the results file keeps of it."""
        named = ("learner", "reading", "setting", "seconds")
        return {name: getattr(self, name) for name in named} | {"loss": loss}


def measure(run: Run) -> dict[str, Any]:
    """Learn from 200 photographs, choose on 30, cluster the pixels of each of the others."""
    data, height = load_flowers17(run.data.path), run.parameters["height"]
    (split,) = flowers17_splits(len(data), seeds=(run.seed,))
    start = process_time()
    parts = _statistics(_pixels(data, int(i), height) for i in split.train)
    pass_seconds = process_time() - start
    some = _some_rows((_pixels(data, int(i), height) for i in split.train), run.seed)
    trials = [
        trial
        for reading in READINGS
        for trial in (*_trials(parts[reading], reading), *_on_rows(parts, some, reading))
    ]
    to_choose = [trial for trial in trials if trial.setting is not None]
    validation = _mean_losses(data, split.validation, height, to_choose)
    final = [t for t in trials if t.setting is None] + _chosen(to_choose, validation)
    losses = _mean_losses(data, split.test, height, final)
    return {
        "pass_seconds": pass_seconds,
        "n_pixels": int(parts["background"].total.n_samples),
        "series": {
            "test": [t.row(loss) for t, loss in zip(final, losses, strict=True)],
            "validation": [t.row(loss) for t, loss in zip(to_choose, validation, strict=True)],
        },
    }


def _pixels(data: SegmentationDataset, i: int, height: int) -> Pixels:
    """Return features and labels of the pixels of one photograph, by reading."""
    X, mask = pixel_features(data.image(i, height=height)), data.mask(i, height=height).ravel()
    kept = mask != UNDEFINED
    return {"background": (X, np.maximum(mask, 0)), "drop": (X[kept], mask[kept])}


def _statistics(photographs: Iterable[Pixels]) -> dict[str, Statistics]:
    """Add up the statistics of photographs, by reading."""
    totals: dict[str, Statistics] = {}
    for pixels in photographs:
        for reading, (X, y) in pixels.items():
            part = Statistics.of(X, y, by_class=True)
            totals[reading] = totals[reading] + part if reading in totals else part
    return totals


def _trials(statistics: Statistics, reading: str) -> Iterator[Trial]:
    """Yield every learner, solved from the same statistics."""
    scale = statistics.spread
    standard = statistics.standardized(statistics.total.mean, scale)
    plain: dict[str, tuple[Any, Statistics, Any]] = {
        "lajugie": (LajugieSpectral(), standard, scale),
        "mlca": (MLCA(), statistics, 1.0),
        "mlca, centered": (MLCA(center=True), statistics, 1.0),
        "lda": (LDAProjection(), statistics, 1.0),
        "euclidean": (EuclideanMapping(), statistics, 1.0),
        "euclidean, z-scored": (EuclideanMapping(), standard, scale),
    }
    for name, (mapping, source, unit) in plain.items():
        coef, took = _timed(lambda mapping=mapping, source=source: mapping.learn(source).coef_)
        yield Trial(name, reading, coef / unit, seconds=took)
    for name, source, unit in (("sae", standard, scale), ("sae, raw", statistics, 1.0)):
        path, took = _timed(lambda source=source: sae_path(source, LAMS))
        for lam, coef in zip(LAMS.tolist(), path, strict=True):
            yield Trial(name, reading, coef / unit, lam, took)
    for ridge in RIDGES.tolist():
        coef, took = _timed(lambda ridge=ridge: KISSME(ridge=ridge).learn(statistics).coef_)
        yield Trial("kissme", reading, coef, ridge, took)


def _on_rows(parts: dict[str, Statistics], some: Pixels, reading: str) -> Iterator[Trial]:
    """Yield the learners that need rows, on the pixels that were kept of every photograph."""
    scale = parts[reading].spread
    X, y = some[reading]
    for name, mapping in (("itml", ITML()), ("lmnn", LMNN())):
        coef, took = _timed(lambda mapping=mapping: mapping.fit(X / scale, y).coef_)
        yield Trial(name, reading, coef / scale, seconds=took)


def _some_rows(photographs: Iterable[Pixels], seed: int) -> Pixels:
    """Return a few pixels of every photograph, by reading."""
    rng, kept = np.random.RandomState(seed), dict[str, list[Any]]()
    for pixels in photographs:
        for reading, (X, y) in pixels.items():
            rows = rng.permutation(len(y))[:PIXELS_KEPT]
            kept.setdefault(reading, []).append((X[rows], y[rows]))
    return {
        reading: (np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts]))
        for reading, parts in kept.items()
    }


def _timed(learn: Any) -> tuple[Any, float]:
    """Return what a call gives, and the CPU time it took."""
    start = process_time()
    found = learn()
    return found, process_time() - start


def _mean_losses(
    data: SegmentationDataset, images: Iterable[int], height: int, trials: Sequence[Trial]
) -> list[float]:
    """Return the mean loss of each map over photographs."""
    losses = [_losses(_pixels(data, int(i), height), trials) for i in images]
    means: list[float] = np.mean(losses, axis=0).tolist()
    return means


def _losses(pixels: Pixels, trials: Sequence[Trial]) -> list[float]:
    """Return the loss of the 2-means of one photograph's codes under each map."""
    losses = [0.0] * len(trials)
    # k-means ignores a shift; about the mean, float32 codes keep their digits.
    center = pixels["background"][0].mean(axis=0)
    for reading, (X, y) in pixels.items():
        mine = [n for n, trial in enumerate(trials) if trial.reading == reading]
        codes = _all_codes(X - center, [trials[n].coef for n in mine])
        for n, part in zip(mine, codes, strict=True):
            labels = two_means(part, restarts=0, rng=np.random.RandomState(0))
            losses[n] = float(clustering_loss(y, labels))
    return losses


def _all_codes(X: NDArray[Any], maps: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the codes under each map, from one product of matrices."""
    codes = X @ np.concatenate(maps).T.astype(X.dtype)
    ends = np.cumsum([len(coef) for coef in maps])[:-1]
    return [np.ascontiguousarray(part) for part in np.split(codes, ends, axis=1)]


def _chosen(trials: Sequence[Trial], losses: Sequence[float]) -> list[Trial]:
    """Return the trial with the least loss among those that differ only in their setting."""
    best: dict[tuple[str, str], tuple[float, Trial]] = {}
    for trial, loss in zip(trials, losses, strict=True):
        key = (trial.learner, trial.reading)
        if key not in best or loss < best[key][0]:
            best[key] = (loss, trial)
    return [trial for _, trial in best.values()]


TITLES = {
    "sae": "SAE, features z-scored",
    "sae, raw": "SAE, raw features",
    "mlca": "MLCA, as released (no centering)",
    "mlca, centered": "MLCA, centered",
    "lda": "LDA",
    "kissme": "KISSME, all pairs",
    "lajugie": "Lajugie, spectral form, features z-scored",
    "itml": "ITML, features z-scored, 80 pairs of 20,000 pixels",
    "lmnn": "LMNN, features z-scored, 20,000 pixels",
    "euclidean": "L2, raw features",
    "euclidean, z-scored": "L2, features z-scored",
}
COLUMNS = (
    "learner",
    "undefined = background",
    "undefined left out",
    "λ or ridge",
    "training, CPU s",
)


def flowers_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the loss of each learner."""
    chosen = select(rows, kind="flowers")
    done = [row for row in chosen if row["status"] == "ok"]
    if not done:
        return []
    measured = [entry for row in done for entry in row["series"]["test"]]
    passes = [row["pass_seconds"] for row in done if "pass_seconds" in row]
    took = f", which takes {seconds(float(np.mean(passes)))} s and" if passes else ", which"
    there = {entry["learner"] for entry in measured}
    body = [_line(measured, learner, len(done)) for learner in TITLES if learner in there]
    notes = [
        f"{len(done)} random splits into 200 / 30 / rest photographs of height "
        f"{done[0]['parameter_height']}; loss of 2-means per photograph (0 to 2), mean over the "
        "test photographs, then mean ± standard deviation over the splits. λ of SAE and the ridge "
        "of KISSME are chosen on the 30. Training: CPU time after one pass over the photographs"
        f"{took} serves all learners. Alone, {what_moves_losses(measured)}.",
        *failures(chosen),
    ]
    title = "Flowers-17: clustering loss of pixels, lower is better"
    best = best_cells(body, (1, 2), lowest=True)
    return [Table("flowers", title, COLUMNS, tuple(body), tuple(notes), best)]


def some_splits(entries: Sequence[dict[str, Any]], n_splits: int) -> str:
    """Say on how many splits a learner was measured, if not on all."""
    n = len(select(entries, reading=READINGS[0]))
    return f", {n} of {n_splits} splits" if n < n_splits else ""


def what_moves_losses(measured: Sequence[dict[str, Any]]) -> str:
    """Say by how much the reading of undefined pixels, and centering, change mean losses."""

    def loss(learner: str, reading: str) -> float:
        found = [one["loss"] for one in select(measured, learner=learner, reading=reading)]
        return float(np.mean(found)) if found else np.nan

    def told(gaps: Iterable[float]) -> str:
        known = [abs(gap) for gap in gaps if not np.isnan(gap)]
        return f"by {min(known):.2f} to {max(known):.2f}" if known else "by what was not run"

    readings = (loss(one, READINGS[0]) - loss(one, READINGS[1]) for one in TITLES)
    centered = (loss("mlca", one) - loss("mlca, centered", one) for one in READINGS)
    return (
        f"how undefined pixels are read changes losses {told(readings)}, and centering changes "
        f"that of MLCA {told(centered)}"
    )


def _line(measured: Sequence[dict[str, Any]], learner: str, n_splits: int) -> tuple[str, ...]:
    mine = select(measured, learner=learner)
    losses = (
        [entry["loss"] for entry in select(mine, reading=reading)]
        for reading in ("background", "drop")
    )
    settings = sorted({entry["setting"] for entry in mine if entry["setting"] is not None})
    ends = dict.fromkeys(f"{value:g}" for value in (*settings[:1], *settings[-1:]))
    took = [entry["seconds"] for entry in mine if entry.get("seconds") is not None]
    return (
        TITLES[learner] + some_splits(mine, n_splits),
        *map(spread, losses),
        " to ".join(ends),
        seconds(float(np.mean(took))) if took else "",
    )


TABLES = {"flowers": flowers_tables}
