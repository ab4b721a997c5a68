"""What our encoder makes of photographs, against the features that ship, and what views add."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets import ZeroShotDataset, load_animals
from zslearn.encoders import ImageEncoder, Sample, build_store, find_pictures
from zslearn.evaluation import ConventionalProtocol, evaluate
from zslearn.reproduce.experiments.class_splits import accuracies, class_split, interval
from zslearn.reproduce.sources import DataSource, vectors_kept
from zslearn.reproduce.specification import RANDOM, Run
from zslearn.reproduce.tables import Row, Table, failures, method_title, select, short

SHIPPED, CENTER = "shipped", "center"
METHODS = ("prototype-regression", "sae", "rrzsl", "eszsl")


def measure(run: Run) -> dict[str, Any]:
    """Measure a method on one kind of features of the same photographs."""
    data = _features(run.data, run.parameters["views"], run.parameters["per_class"])
    split = class_split(data, run.split)
    return evaluate(data, run.method, ConventionalProtocol(split)).as_dict()


# As many as an experiment has: its runs take them in turn.
@lru_cache(maxsize=8)
def _features(source: DataSource, views: str, per_class: int) -> ZeroShotDataset:
    """Return the animals with one kind of features, of some photographs of each class."""
    folder = Path(source.path)
    animals, pictures = load_animals(), _photographs(folder, per_class)
    with np.load(folder / "animals28_effnet_lite2.npz", allow_pickle=False) as file:
        names = [str(name).rpartition("/")[2] for name in file["image_files"]]
    row_of = {
        f"{label}/{name}": i for i, (label, name) in enumerate(zip(animals.y, names, strict=True))
    }
    rows = np.array([row_of[picture.name] for picture in pictures])
    X = animals.X[rows].astype(np.float32)
    some = replace(animals, X=X, y=animals.y[rows], image_files=None)
    if views == SHIPPED:
        return some
    encoder = ImageEncoder(views=views)

    def encoded() -> NDArray[Any]:
        with tempfile.TemporaryDirectory(prefix="zslearn-pictures-") as place:
            return np.array(build_store(pictures, Path(place) / "store", encoder).X)

    told = [source.identity, *(picture.name for picture in pictures)]
    return replace(some, X=vectors_kept(source.kept, encoder, told, encoded))


def _photographs(folder: Path, per_class: int) -> list[Sample]:
    """Return the first photographs of each class."""
    found = sorted(find_pictures(folder / "images"), key=lambda p: str(p.label))
    groups = [list(group) for _, group in groupby(found, key=lambda p: p.label)]
    return [picture for group in groups for picture in group[:per_class]]


def picture_tables(rows: Iterable[Row]) -> list[Table]:
    """Return our features against those that ship, and views against the middle alone."""
    mine = select(rows, kind="pictures")
    if not mine:
        return []
    notes = (
        "Per-class accuracy on unseen classes of the animals; means over random splits, and the "
        "95 % t-interval of the paired difference in points.",
        *failures(mine),
    )
    most = max(row["parameter_per_class"] for row in mine)
    body = []
    for method in METHODS:
        shipped, own = (_found(mine, kind, most, method) for kind in (SHIPPED, CENTER))
        if shipped and own:
            fixed = [short(found["standard"]) for found in (shipped, own)]
            body.append((method_title(method), *fixed, *_compared(own, shipped)))
    columns = (
        "method",
        "standard split: shipped",
        "standard split: own",
        "random splits: shipped",
        "random splits: own",
        "difference",
    )
    title = "Features that ship, and our own of the same photographs"
    return [Table("pictures-own", title, columns, tuple(body), notes), _views(mine, notes)]


def _views(rows: Sequence[Row], notes: tuple[str, ...]) -> Table:
    """Averaged views against the middle alone, for each number of photographs."""
    body = []
    numbers = sorted({row["parameter_per_class"] for row in rows}, reverse=True)
    kinds = dict.fromkeys(row["parameter_views"] for row in rows)
    for number in numbers:
        for kind in (one for one in kinds if one not in (SHIPPED, CENTER)):
            for method in METHODS:
                own, base = (_found(rows, one, number, method) for one in (kind, CENTER))
                if own and own.keys() == base.keys():  # measured on all splits
                    compared = _compared(own, base)
                    body.append((kind, str(number), method_title(method), *compared))
    columns = ("views", "photographs per class", "method", "center", "averaged", "difference")
    title = "Averaged views of a photograph against its middle"
    return Table("pictures-views", title, columns, tuple(body), notes)


def _found(rows: Sequence[Row], views: str, per_class: int, method: str) -> dict[str, float]:
    wanted = {"parameter_views": views, "parameter_per_class": per_class, "method": method}
    return accuracies(select(rows, **wanted))


def _compared(own: dict[str, float], base: dict[str, float]) -> tuple[str, ...]:
    """Return both means over the random splits they share, and the interval of the difference."""
    splits = [split for split in own if split.startswith(RANDOM) and split in base]
    means = (short(float(np.mean([found[s] for s in splits]))) for found in (base, own))
    if len(splits) < 3:
        return (*means, "–")
    return (*means, interval([own[split] - base[split] for split in splits]))


TABLES = {"pictures": picture_tables}
