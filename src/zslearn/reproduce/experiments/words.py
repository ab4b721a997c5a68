"""What words are worth against attributes: the animals with every kind of signature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from zslearn.datasets import load_animals
from zslearn.encoders import TextEncoder, match_wordnet, read_descriptions
from zslearn.evaluation import ConventionalProtocol, evaluate
from zslearn.reproduce.experiments.class_splits import (
    accuracies,
    against,
    class_split,
)
from zslearn.reproduce.specification import RANDOM, Run
from zslearn.reproduce.tables import (
    Row,
    Table,
    best_cells,
    failures,
    method_title,
    select,
    short,
)
from zslearn.signatures import Signatures
from zslearn.signatures.new_classes import spell_out

TEMPLATES = ("a photo of a {}", "the animal called {}")
METHODS = ("prototype-regression", "sae", "rrzsl", "eszsl")


def measure(run: Run) -> dict[str, Any]:
    """Measure a method on the animals with one kind of signature."""
    animals = load_animals()
    split = class_split(animals, run.split)
    table = _table(run.semantics, run.data.path)
    data = replace(animals, splits={run.split: split})
    row = evaluate(data, run.method, ConventionalProtocol(split), semantics=table).as_dict()
    return {key: value for key, value in row.items() if key not in ("split", "semantics")}


@cache
def _table(kind: str, folder: str) -> Signatures:
    """Return one kind of signature for the 28 classes."""
    animals = load_animals()
    names = [str(name) for name in animals.signatures]
    first, plus, second = kind.partition(" + ")
    if plus:
        parts = (_table(one, folder) for one in (first, second))
        table = next(parts).join(next(parts), names=(first, second)).normalized("l2-block")
    elif kind in animals.semantics:
        table = animals.semantics[kind]
    elif kind.startswith("WordNet"):
        how = "distances" if kind.endswith("distances") else "ancestors"
        table = match_wordnet(names, below="mammal", kind=how).signatures
    elif kind == "word vectors":
        with np.load(Path(folder) / "animals28_effnet_lite2.npz", allow_pickle=False) as file:
            table = Signatures(file["class_names"], file["S_wordvec1000"])
    elif kind == "descriptions":
        table = described_animals()
    else:
        templates = TEMPLATES if kind == "names in a sentence" else ("{}",)
        spoken = {name: spell_out(name) for name in names}
        table = Signatures.from_texts(spoken, TextEncoder(), templates=templates)
    return table.subset(names)


@cache
def described_animals() -> Signatures:
    """Return the names and sentences of the 28 classes, encoded."""
    place = files("zslearn.reproduce").joinpath("data/animal_descriptions.csv")
    with as_file(place) as path:
        return Signatures.from_texts(read_descriptions(path), TextEncoder())


def word_tables(rows: Iterable[Row]) -> list[Table]:
    """Return signatures down and methods across, for two splits and over random ones."""
    mine = select(rows, kind="words")
    if not mine:
        return []
    names = list(dict.fromkeys(row["semantics"] for row in mine))
    notes = tuple(failures(mine))
    made = [_fixed(mine, names, split, notes) for split in ("proposed", "standard")]
    return [*made, _random(mine, names, notes)]


def _fixed(rows: Sequence[Row], names: Sequence[str], split: str, notes: tuple[str, ...]) -> Table:
    body = []
    for semantics in names:
        found = [
            accuracies(select(rows, semantics=semantics, method=method, split=split))
            for method in METHODS
        ]
        if any(found):
            body.append((semantics, *(short(one.get(split)) for one in found)))
    columns = ("signatures", *map(method_title, METHODS))
    best = best_cells(body, range(1, len(columns)))
    title = f"Kinds of signatures for the animals, {split} split"
    return Table(f"words-{split}", title, columns, tuple(body), notes, best)


def _random(rows: Sequence[Row], names: Sequence[str], notes: tuple[str, ...]) -> Table:
    """Means over random splits, with the interval of the paired difference from attributes."""
    dealt = [row for row in rows if row["split"].startswith(RANDOM)]
    body = []
    for semantics in names:
        cells = []
        for method in METHODS:
            own, base = (
                accuracies(select(dealt, semantics=one, method=method))
                for one in (semantics, "attributes")
            )
            cells.append(against(own, base, digits=0) if own and own.keys() == base.keys() else "–")
        body.append((semantics, *cells))
    columns = ("signatures", *map(method_title, METHODS))
    told = (
        "Per-class accuracy on unseen classes; means over random splits; in brackets the 95 % "
        "t-interval of the paired difference from attributes in points.",
        *notes,
    )
    title = "Kinds of signatures for the animals, random splits"
    return Table("words-random", title, columns, tuple(body), told)


TABLES = {"words": word_tables}
