"""Sizes of a data set, as in the paper's Table 1."""

from __future__ import annotations

from typing import Any

from zslearn.exceptions import InvalidInputError
from zslearn.reproduce.specification import Run


def measure(run: Run) -> dict[str, Any]:
    """Count samples, features, dimensions and classes."""
    if run.source is None:
        raise InvalidInputError("a description needs a data set.")
    data = run.source.load()
    splits = {
        name: f"{len(split.seen)}/{len(split.unseen)}"
        for name, split in data.splits.items()
        if name in ("standard", "proposed")
    }
    spaces = {name: space.shape[1] for name, space in data.semantics.items()}
    return {
        "n_samples": len(data.y),
        "n_features": data.X.shape[1],
        "n_classes": len(data.classes),
        "feature_title": data.features,
        "series": {"splits": splits, "spaces": spaces},
    }
