"""Kinds of experiments, each one file with its runs, its tables and its plots.

A module of a kind has ``measure(run)``, which returns one flat row; ``TABLES``, functions that make
tables of rows, by the name of the experiment in `experiments.toml`; and ``plots(rows)`` if there is
something to draw. It is imported when one of its kinds is used.
"""

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
    "clustering-tables": "clustering",
    "cluster-picture": "clustering",
    "large": "large",
    "flowers": "flowers",
    "modern": "modern",
    "deep-pictures": "deep",
    "auto": "auto",
    "words": "words",
    "pictures": "pictures",
    "shots": "few_shot",
    "texts": "few_shot",
    "adapt": "few_shot",
    "novelty": "few_shot",
    "newcomer": "newcomer",
    "promises": "newcomer",
    "commands": "commands",
}


def program(kind: str) -> Any:
    """Return the module of a kind."""
    if kind not in KINDS:
        raise InvalidInputError(f"there is no kind {kind!r}; known: {', '.join(KINDS)}.")
    return importlib.import_module(f"{__name__}.{KINDS[kind]}")


def measure(run: Run) -> dict[str, Any]:
    """Do a run by the program of its kind."""
    outcome: dict[str, Any] = program(run.kind).measure(run)
    return outcome
