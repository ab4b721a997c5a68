"""SAE on data of ImageNet's size that is written to disk and read block by block."""

from __future__ import annotations

import tempfile
from math import sqrt
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.benchmark.specification import Run
from zslearn.core.moments import Moments
from zslearn.core.nearest import unit_rows
from zslearn.datasets import ZeroShotDataset, load_imagenet, make_imagenet_like
from zslearn.zero_shot import make_classifier

BLOCK = 4096
SEARCH_ROWS = 10_000
HITS = 5


def measure(run: Run) -> dict[str, Any]:
    """Write the data, choose λ on a part of it, learn from all blocks, recognise all blocks."""
    sizes = scaled_sizes(run.parameters)
    with tempfile.TemporaryDirectory(prefix="zslearn-large-") as folder:
        start = perf_counter()
        place = make_imagenet_like(
            Path(folder) / "data", noise=run.parameters["noise"], random_state=run.seed, **sizes
        )
        written = perf_counter() - start
        return sizes | {"write_seconds": written} | _measured(load_imagenet(place), run.method)


def scaled_sizes(options: Any) -> dict[str, Any]:
    """Return sizes at a scale: rows with the scale, widths with its square root, classes kept."""
    scale = options["scale"]
    n_classes = options["n_seen"] + options["n_unseen"]
    return {
        "n_seen": options["n_seen"],
        "n_unseen": options["n_unseen"],
        "n_samples": max(2 * n_classes, round(options["n_samples"] * scale)),
        "n_features": round(options["n_features"] * sqrt(scale)),
        "n_dimensions": round(options["n_dimensions"] * sqrt(scale)),
    }


def _measured(data: ZeroShotDataset, method: str) -> dict[str, Any]:
    split = data.split(next(iter(data.splits)))
    train, test = np.sort(data.train_rows(split)), np.sort(data.test_rows(split))
    start = perf_counter()
    model: Any = make_classifier(method, data.signatures)
    rng = np.random.default_rng(0)
    part = np.sort(rng.choice(train, min(SEARCH_ROWS, len(train)), replace=False))
    model.fit(np.asarray(data.X[part]), data.y[part])
    searched = perf_counter()
    fixed: Any = model.frozen()
    fixed.fit_moments(_moments(data, train))
    fitted = perf_counter()
    hits = _hits(fixed, data, test, np.asarray(split.unseen))
    return {
        "n_train": len(train),
        "n_test": len(test),
        "hit_at_1": float(np.mean(hits == 0)),
        "hit_at_5": float(np.mean(hits < HITS)),
        "chance": HITS / len(split.unseen),
        "search_seconds": searched - start,
        "fit_seconds": fitted - searched,
        "predict_seconds": perf_counter() - fitted,
        "data_mb": data.X.nbytes / 2**20,
    }


def _moments(data: ZeroShotDataset, rows: NDArray[Any]) -> Moments:
    """Add up the moments of unit-length features, one block in memory at a time."""
    total: Moments | None = None
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        block = Moments.of(unit_rows(np.asarray(data.X[part])), data.y[part])
        total = block if total is None else total + block
    assert total is not None  # a split has training rows
    return total


def _hits(
    model: Any, data: ZeroShotDataset, rows: NDArray[Any], candidates: NDArray[Any]
) -> NDArray[np.intp]:
    """Return how many candidates score above the true class of each row."""
    order = np.argsort(candidates)
    ranks = []
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        scores = model.decision_function(np.asarray(data.X[part]), candidates=candidates)
        column = order[np.searchsorted(candidates[order], data.y[part])]
        own = scores[np.arange(len(part)), column]
        ranks.append((scores > own[:, None]).sum(axis=1))
    return np.concatenate(ranks)
