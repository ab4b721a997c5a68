"""Segmentation of the Flowers-17 photographs by supervised clustering, over five splits.

    python benchmarks/flowers.py FOLDER --store STORE [--jobs 2] [--out DIR] [--only LEARNER]

FOLDER holds ``images`` and ``labels`` (see `zslearn.datasets.load_flowers17`); STORE is where pixel
features are kept (4.3 GB). Writes flowers.json, a row for each learner, split and reading of the
undefined pixels, and flowers.md, the table made from those rows.

Every photograph is read once for its moments and once for its codes: the moments of all training
pictures of a split are sums of those of the pictures, and every learner is solved from them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from flowers_report import markdown
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from zslearn.cluster import (
    KISSME,
    MLCA,
    EuclideanMapping,
    LDAProjection,
    Statistics,
    sae_path,
)
from zslearn.cluster.two_means import two_means
from zslearn.core.moments import Moments
from zslearn.datasets import ImageSplit, SegmentationDataset, flowers17_splits, load_flowers17
from zslearn.features import PixelStore, extract_pixel_features
from zslearn.metrics import clustering_loss

HEIGHT = 100
READINGS = ("background", "drop")
LAMS = np.logspace(-3, 6, 10)
RIDGES = np.logspace(-6, -2, 5)
FLOWER, BACKGROUND, UNDEFINED = 1, 0, -1


@dataclass(frozen=True)
class Trial:
    """A linear map to judge: which learner, learned on which split and reading.

    `setting` is λ of SAE or the ridge of KISSME, chosen on validation pictures, and None for
    learners that have none; `coef` has shape (k, 135).
    """

    learner: str
    seed: int
    reading: str
    coef: NDArray
    setting: float | None = None


def image_moments(data: SegmentationDataset, store: PixelStore, i: int) -> dict[int, Moments]:
    """Moments of the pixels of one picture, by what the mask says of them."""
    X, mask = store.features(i), data.mask(i, height=HEIGHT).ravel()
    with threadpool_limits(1):
        return {
            label: Moments.of(X[mask == label], mask[mask == label], centered=True)
            for label in np.unique(mask).tolist()
        }


def split_moments(
    data: SegmentationDataset, store: PixelStore, splits: list[ImageSplit], jobs: int
) -> dict[int, dict[int, Moments]]:
    """Moments of the training pictures of each split, by what the masks say, in one pass."""
    images = sorted(set(np.concatenate([split.train for split in splits]).tolist()))
    work = Parallel(n_jobs=jobs, return_as="generator")
    found = work(delayed(image_moments)(data, store, i) for i in images)
    totals: dict[int, dict[int, Moments]] = {split.seed: {} for split in splits}
    for i, parts in zip(images, found, strict=True):
        for split in splits:
            if i in split.train:
                add_to(totals[split.seed], parts)
    return totals


def add_to(total: dict[int, Moments], parts: dict[int, Moments]) -> None:
    for label, part in parts.items():
        total[label] = total[label] + part if label in total else part


def read_as(parts: dict[int, Moments], reading: str) -> Statistics:
    """Statistics of flower against background under one reading of undefined pixels."""
    background = parts[BACKGROUND]
    if reading == "background":
        background = background + replace(parts[UNDEFINED], classes=background.classes)
    return Statistics(background + parts[FLOWER], (background, parts[FLOWER]))


def trials_of(statistics: Statistics, seed: int, reading: str) -> Iterator[Trial]:
    """Every learner, solved from the same statistics."""
    scale = statistics.spread
    standard = statistics.standardized(statistics.total.mean, scale)
    plain = {
        "mlca raw": (MLCA(), statistics, 1.0),
        "mlca centered": (MLCA(center=True), statistics, 1.0),
        "lda": (LDAProjection(), statistics, 1.0),
        "l2": (EuclideanMapping(), statistics, 1.0),
        "l2 z": (EuclideanMapping(), standard, scale),
    }
    for name, (mapping, source, unit) in plain.items():
        yield Trial(name, seed, reading, mapping.fit_statistics(source).coef_ / unit)
    for name, source, unit in (("sae z", standard, scale), ("sae raw", statistics, 1.0)):
        for lam, coef in zip(LAMS.tolist(), sae_path(source, LAMS), strict=True):
            yield Trial(name, seed, reading, coef / unit, lam)
    for ridge in RIDGES.tolist():
        coef = KISSME(ridge=ridge).fit_statistics(statistics).coef_
        yield Trial("kissme", seed, reading, coef, ridge)


def image_losses(
    data: SegmentationDataset, store: PixelStore, i: int, trials: list[Trial]
) -> list[float]:
    """Loss of the 2-means of one picture's codes under each map."""
    X, mask = store.features(i), data.mask(i, height=HEIGHT).ravel()
    # k-means does not see a shift; about the mean, float32 codes keep their digits.
    X = X - X.mean(axis=0)
    rows = {"background": np.ones(len(mask), bool), "drop": mask != UNDEFINED}
    parts = {name: (X[kept], np.maximum(mask[kept], BACKGROUND)) for name, kept in rows.items()}
    losses = np.empty(len(trials))
    with threadpool_limits(1):
        for reading, (pixels, y) in parts.items():
            mine = [n for n, trial in enumerate(trials) if trial.reading == reading]
            for n, codes in zip(mine, all_codes(pixels, [trials[n] for n in mine]), strict=True):
                labels = two_means(codes, restarts=0, rng=np.random.RandomState(0))
                losses[n] = clustering_loss(y, labels)
    return losses.tolist()


def all_codes(X: NDArray, trials: list[Trial]) -> list[NDArray]:
    """Codes under each map, from one product of matrices."""
    if not trials:
        return []
    stacked = np.concatenate([trial.coef for trial in trials]).astype(X.dtype)
    ends = np.cumsum([len(trial.coef) for trial in trials])[:-1]
    return [np.ascontiguousarray(part) for part in np.split(X @ stacked.T, ends, axis=1)]


def mean_losses(
    data: SegmentationDataset,
    store: PixelStore,
    trials: list[Trial],
    images: dict[int, NDArray],
    jobs: int,
) -> list[float]:
    """Mean loss of each map over the pictures of its split; plain L2 is the same in all of them."""
    wanted = [
        [n for n, t in enumerate(trials) if i in images[t.seed] and t.learner != "l2"]
        for i in range(len(data))
    ]
    shared = [t for t in trials if t.learner == "l2" and t.seed == trials[0].seed]
    work = Parallel(n_jobs=jobs, return_as="generator")
    found = work(
        delayed(image_losses)(data, store, i, [*shared, *(trials[n] for n in wanted[i])])
        for i in range(len(data))
        if wanted[i]
    )
    losses: list[list[float]] = [[] for _ in trials]
    plain = [n for n, t in enumerate(trials) if t.learner == "l2"]
    for i, values in zip((i for i in range(len(data)) if wanted[i]), found, strict=True):
        once = dict(zip((t.reading for t in shared), values, strict=False))
        for n in plain:
            if i in images[trials[n].seed]:
                losses[n].append(once[trials[n].reading])
        for n, value in zip(wanted[i], values[len(shared) :], strict=True):
            losses[n].append(value)
    return [float(np.mean(values)) for values in losses]


def chosen(trials: list[Trial], losses: list[float]) -> list[Trial]:
    """Of the trials that differ in their setting alone, the one with the least validation loss."""
    best: dict[tuple[str, int, str], tuple[float, Trial]] = {}
    for trial, loss in zip(trials, losses, strict=True):
        key = (trial.learner, trial.seed, trial.reading)
        if key not in best or loss < best[key][0]:
            best[key] = (loss, trial)
    return [trial for _, trial in best.values()]


def fit_seconds(data: SegmentationDataset, store: PixelStore, split: ImageSplit) -> dict[str, Any]:
    """CPU seconds of one fit of SAE on one thread: read features, moments, solve."""
    read = moments = 0.0
    total = Moments.empty(store.features(0).shape[1], centered=True)
    with threadpool_limits(1):
        for i in split.train:
            start = time.process_time()
            X = store.features(i)
            y = data.mask(i, height=HEIGHT, undefined="background").ravel()
            middle = time.process_time()
            total += Moments.of(X, y, centered=True)
            read, moments = read + middle - start, moments + time.process_time() - middle
        start = time.process_time()
        statistics = Statistics(total)
        sae_path(statistics.standardized(total.mean, statistics.spread), np.array([100.0]))
    solve = time.process_time() - start
    return {"rows": total.n_samples, "read": read, "moments": moments, "solve": solve}


def run(folder: Path, store_folder: Path, jobs: int, only: list[str]) -> dict[str, Any]:
    start, data = time.perf_counter(), load_flowers17(folder)
    store = extract_pixel_features(
        data.image_files, store_folder, height=HEIGHT, n_jobs=jobs, progress=True
    )
    clock = {"features": time.perf_counter() - start}
    splits = flowers17_splits(len(data))
    parts = split_moments(data, store, splits, jobs)
    clock["moments"] = time.perf_counter() - start - clock["features"]
    before = time.perf_counter()
    trials = [
        trial
        for split in splits
        for reading in READINGS
        for trial in trials_of(read_as(parts[split.seed], reading), split.seed, reading)
        if not only or trial.learner in only
    ]
    clock["solve"] = time.perf_counter() - before
    before = time.perf_counter()
    to_choose = [trial for trial in trials if trial.setting is not None]
    validation = mean_losses(
        data, store, to_choose, {split.seed: split.validation for split in splits}, jobs
    )
    final = [t for t in trials if t.setting is None] + chosen(to_choose, validation)
    tests = {split.seed: split.test for split in splits}
    losses = mean_losses(data, store, final, tests, jobs)
    clock["evaluate"] = time.perf_counter() - before
    return {
        "data": {"images": len(data), "height": HEIGHT, "splits": "200 / 30 / rest, seeds 0..4"},
        "rows": [row(trial, loss) for trial, loss in zip(final, losses, strict=True)],
        "validation": [row(trial, loss) for trial, loss in zip(to_choose, validation, strict=True)],
        "seconds": clock,
        "fit_cpu_seconds": fit_seconds(data, store, splits[0]),
        "machine": machine(jobs),
    }


def row(trial: Trial, loss: float) -> dict[str, Any]:
    return {
        "learner": trial.learner,
        "reading": trial.reading,
        "seed": trial.seed,
        "setting": trial.setting,
        "loss": loss,
    }


def machine(jobs: int) -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "jobs": jobs,
        "load_average": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Put the learners of a new run in place of the same of an old one; times add up."""
    again = {row["learner"] for row in new["rows"]}
    kept = {
        part: [row for row in old[part] if row["learner"] not in again] + new[part]
        for part in ("rows", "validation")
    }
    clock = {part: old["seconds"][part] + new["seconds"][part] for part in new["seconds"]}
    return old | kept | {"seconds": clock, "cpu_seconds": old["cpu_seconds"] + new["cpu_seconds"]}


def cpu_seconds() -> float:
    """CPU seconds of this process and of the workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument(
        "--only", action="append", default=[], help="run this learner, keep other rows of --out"
    )
    options = parser.parse_args()
    result = run(options.folder, options.store, options.jobs, options.only)
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
    result["cpu_seconds"] = cpu_seconds()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.only:
        result = merged(json.loads((options.out / "flowers.json").read_text()), result)
    (options.out / "flowers.json").write_text(json.dumps(result, indent=1) + "\n")
    (options.out / "flowers.md").write_text(markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
