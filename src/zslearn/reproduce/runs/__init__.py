"""Programs of the experiments, one kind per file, each a function from a run to flat entries."""

from __future__ import annotations

import importlib
from typing import Any

from zslearn.exceptions import InvalidInputError
from zslearn.reproduce.specification import Run

KINDS = {
    "description": "description",
    "zero-shot": "zero_shot",
    "diagnosis": "diagnosis",
    "cost": "cost",
    "open": "open",
    "class-splits": "class_splits",
    "clustering": "clustering",
    "clustering-tables": "clustering_tables",
    "cluster-picture": "cluster_picture",
    "large": "large",
    "flowers": "flowers",
    "modern": "modern",
    "shots": "few_shot",
    "texts": "few_shot",
    "adapt": "few_shot",
    "novelty": "few_shot",
}


def execute_kind(run: Run) -> dict[str, Any]:
    """Do a run by the program of its kind."""
    if run.kind not in KINDS:
        raise InvalidInputError(f"there is no kind {run.kind!r}; known: {', '.join(KINDS)}.")
    module = importlib.import_module(f"zslearn.reproduce.runs.{KINDS[run.kind]}")
    outcome: dict[str, Any] = module.measure(run)
    return outcome
