"""Data of ImageNet's size: SAE reads it from disk block by block; the others read a small one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from copy import deepcopy
from math import sqrt
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets import load_imagenet, make_imagenet_like
from zslearn.evaluation import evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce.experiments.zero_shot import with_steps
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import (
    Row,
    Table,
    failures,
    megabytes,
    percent,
    seconds,
    select,
)
from zslearn.scale import fit_batches, open_source
from zslearn.zero_shot import SAEClassifier

BLOCK = 4096
HITS = 5


def measure(run: Run) -> dict[str, Any]:
    """Write the data, learn from it, recognize what was not learned from."""
    sizes = scaled_sizes(run.parameters)
    with tempfile.TemporaryDirectory(prefix="zslearn-large-") as folder:
        _check_room(folder, sizes)
        start = perf_counter()
        place = make_imagenet_like(Path(folder) / "data", random_state=run.seed, **sizes)
        written = perf_counter() - start
        found = _measured(place) if run.method == "sae" else _in_memory(place, run)
        return sizes | {"write_seconds": written} | found


def scaled_sizes(options: Any) -> dict[str, Any]:
    """Return sizes at a scale: rows with the scale, widths with its square root, classes kept.

    Noise shrinks with the root of the number of features, which keeps the task about as hard.
    """
    scale = options["scale"]
    n_classes = options["n_seen"] + options["n_unseen"]
    return {
        "n_seen": options["n_seen"],
        "n_unseen": options["n_unseen"],
        "n_samples": max(2 * n_classes, round(options["n_samples"] * scale)),
        "n_features": round(options["n_features"] * sqrt(scale)),
        "n_dimensions": round(options["n_dimensions"] * sqrt(scale)),
        "noise": options["noise"] * scale**0.25,
    }


def _check_room(folder: str, sizes: dict[str, Any]) -> None:
    needed, free = 4 * sizes["n_samples"] * sizes["n_features"], shutil.disk_usage(folder).free
    if needed > 0.9 * free:
        raise InvalidInputError(
            f"the data takes {needed / 1e9:.1f} GB and {tempfile.gettempdir()} has "
            f"{free / 1e9:.1f} GB free; use a smaller --scale, or set TMPDIR to a larger disk."
        )


def _measured(place: Path) -> dict[str, Any]:
    """One pass over the training rows serves both directions, with the λ of each chosen in it."""
    data = load_imagenet(place)
    split = data.split(next(iter(data.splits)))
    start = perf_counter()
    decoder = fit_batches(SAEClassifier(data.signatures), place)
    fitted = perf_counter()
    encoder = deepcopy(decoder).set_params(direction="encode")
    ranks = _ranks({"": decoder, "encoder_": encoder}, place, np.sort(np.asarray(split.unseen)))
    predicted = perf_counter()
    hits = {
        f"{way}hit_at_{k}": np.mean(found < k) for way, found in ranks.items() for k in (1, HITS)
    }
    return {
        "n_train": len(data.train_rows(split)),
        "n_test": len(ranks[""]),
        **{name: float(share) for name, share in hits.items()},
        "chance": HITS / len(split.unseen),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
        "data_mb": data.X.nbytes / 2**20,
    }


def _in_memory(place: Path, run: Run) -> dict[str, Any]:
    """Measure a method that reads all at once."""
    data = load_imagenet(place)
    found = evaluate(data, with_steps(run.method, run.seed)).as_dict()
    kept = ("n_train", "n_test", "hit_at_5", "fit_seconds", "predict_seconds")
    return {key: found[key] for key in kept} | {
        "hit_at_1": found["per_sample_accuracy"],
        "chance": HITS * found["chance"],
        "data_mb": data.X.nbytes / 2**20,
    }


def _ranks(
    models: dict[str, SAEClassifier], place: Path, candidates: NDArray[Any]
) -> dict[str, NDArray[np.intp]]:
    """Return how many candidates score above the true class of each of their rows, by model."""
    source = open_source(place)
    ranks: dict[str, list[NDArray[np.intp]]] = {name: [] for name in models}
    for block in source.blocks(BLOCK):
        y = block.y if source.names is None else source.names[block.y]
        used = np.isin(y, candidates)
        if not used.any():
            continue
        X, column = block.X[used], np.searchsorted(candidates, y[used])
        for name, model in models.items():
            scores = model.decision_function(X, candidates=list(candidates))
            own = scores[np.arange(len(X)), column]
            ranks[name].append((scores > own[:, None]).sum(axis=1))
    return {name: np.concatenate(parts) for name, parts in ranks.items()}


NOTES = (
    "Synthetic features, linear in the signature plus noise: accuracies say that the programs "
    "work at this size, not how well a method does on ImageNet, so no published value is "
    "shown next to them. Data is read from disk block by block, in one pass that also chooses λ; "
    "fit s is the time for all of this.",
    "Scale 1 is the size of the paper's data; at a smaller scale rows shrink with it, features and "
    "dimensions with its square root, noise with its fourth root, classes stay. test s is the time "
    "of reading everything and recognizing the unseen classes in both directions.",
)


def large_tables(rows: Iterable[Row]) -> list[Table]:
    """Return hit@5, times and memory of SAE by setting, each at the largest scale."""
    every = select(rows, kind="large", method="sae")
    largest = {row["parameter_name"]: row["parameter_scale"] for row in sorted(every, key=_scale)}
    chosen = [row for row in every if row["parameter_scale"] == largest[row["parameter_name"]]]
    if not chosen:
        return []
    columns = (
        "setting",
        "scale",
        "rows × features",
        "seen/unseen",
        "encoder",
        "decoder",
        "fit s",
        "test s",
        "data MB",
        "peak MB",
    )
    body = tuple(_line(row) for row in chosen)
    notes = (*NOTES, *failures(chosen))
    return [
        Table("imnet-like", "Large scale, synthetic: hit@5 (and hit@1) in %", columns, body, notes)
    ]


def _scale(row: Row) -> float:
    return float(row["parameter_scale"])


def _line(row: Row) -> tuple[str, ...]:
    head = (row["parameter_name"], f"{row['parameter_scale']:g}")
    classes = f"{row['parameter_n_seen']}/{row['parameter_n_unseen']}"
    if row["status"] == "failed":
        return (*head, "", classes, "failed", *[""] * 5)
    return (
        *head,
        f"{row['n_samples']:,} × {row['n_features']:,}",
        classes,
        f"{percent(row['encoder_hit_at_5'])} ({percent(row['encoder_hit_at_1'])})",
        f"{percent(row['hit_at_5'])} ({percent(row['hit_at_1'])})",
        seconds(row["fit_seconds"]),
        seconds(row["predict_seconds"]),
        megabytes(row["data_mb"]),
        megabytes(row["peak_memory_mb"] or 0),
    )


TABLES = {"imnet-like": large_tables}
