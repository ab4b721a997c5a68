"""SAE on data of ImageNet's size that is written to disk and read block by block."""

from __future__ import annotations

import shutil
import tempfile
from math import sqrt
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.benchmark.specification import Run
from zslearn.datasets import ZeroShotDataset, load_imagenet, make_imagenet_like
from zslearn.scale import fit_batches
from zslearn.zero_shot import SAEClassifier

BLOCK = 4096
HITS = 5


def measure(run: Run) -> dict[str, Any]:
    """Write the data, learn from it and choose λ in one pass, recognise the rest in blocks."""
    sizes = scaled_sizes(run.parameters)
    with tempfile.TemporaryDirectory(prefix="zslearn-large-") as folder:
        _check_room(folder, sizes)
        start = perf_counter()
        place = make_imagenet_like(
            Path(folder) / "data", noise=run.parameters["noise"], random_state=run.seed, **sizes
        )
        written = perf_counter() - start
        return sizes | {"write_seconds": written} | _measured(place)


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


def _check_room(folder: str, sizes: dict[str, Any]) -> None:
    needed, free = 4 * sizes["n_samples"] * sizes["n_features"], shutil.disk_usage(folder).free
    if needed > 0.9 * free:
        raise OSError(
            f"the data takes {needed / 1e9:.1f} GB and {tempfile.gettempdir()} has "
            f"{free / 1e9:.1f} GB free; use a smaller --scale, or set TMPDIR to a larger disk."
        )


def _measured(place: Path) -> dict[str, Any]:
    """One pass over the training rows serves both directions, with the λ of each chosen in it."""
    data = load_imagenet(place)
    split = data.split(next(iter(data.splits)))
    start = perf_counter()
    model = fit_batches(SAEClassifier(data.signatures), place)
    fitted = perf_counter()
    test, candidates = np.sort(data.test_rows(split)), np.asarray(split.unseen)
    decoder = _hits(model, data, test, candidates)
    predicted = perf_counter()
    encoder = _hits(model.set_params(direction="encode"), data, test, candidates)
    return {
        "n_train": len(data.train_rows(split)),
        "n_test": len(test),
        "encoder_hit_at_1": float(np.mean(encoder == 0)),
        "encoder_hit_at_5": float(np.mean(encoder < HITS)),
        "hit_at_1": float(np.mean(decoder == 0)),
        "hit_at_5": float(np.mean(decoder < HITS)),
        "chance": HITS / len(split.unseen),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
        "data_mb": data.X.nbytes / 2**20,
    }


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
