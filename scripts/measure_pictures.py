"""What `zslearn features` gives on photographs, against the features that ship, and what views add.

    python scripts/measure_pictures.py --data DIR --work FOLDER
    python scripts/measure_pictures.py --data DIR --work FOLDER --views crops --per-class 15

DIR is the folder of the real data sets, with the photographs of animals28; FOLDER keeps the stores,
so that a stopped run continues. Every parameter of every method is chosen on the seen classes of
its split. The rows go to results/pictures.json, where those already there are skipped, and
scripts/pictures_table.py makes the tables.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from measure_words import METHODS, with_random_splits
from numpy.typing import NDArray

from zslearn.datasets import ZeroShotDataset, load_animals
from zslearn.encoders import ImageEncoder, Sample, build_store, find_pictures
from zslearn.evaluation import ConventionalProtocol, evaluate

ROWS = Path(__file__).parents[1] / "results" / "pictures.json"
SHIPPED = "shipped"
VIEWS = ("center", "flip", "crops")


def photographs(folder: Path, per_class: int | None) -> list[Sample]:
    """All pictures, or the first ones of each class."""
    found = sorted(find_pictures(folder / "animals28" / "images"), key=lambda p: str(p.label))
    groups = [list(group) for _, group in groupby(found, key=lambda p: p.label)]
    return [picture for group in groups for picture in group[:per_class]]


def shipped_rows(animals: ZeroShotDataset, folder: Path) -> dict[str, int]:
    """Row of the bundled data set by the name of the picture: its class and its file."""
    with np.load(folder / "animals28" / "animals28_effnet_lite2.npz", allow_pickle=False) as file:
        names = [str(name).rpartition("/")[2] for name in file["image_files"]]
    pairs = zip(animals.y, names, strict=True)
    return {f"{label}/{name}": row for row, (label, name) in enumerate(pairs)}


def features(
    animals: ZeroShotDataset, options: argparse.Namespace
) -> Iterator[tuple[str, ZeroShotDataset]]:
    """Yield the data set with each kind of features, of the same pictures."""
    pictures = photographs(options.data, options.per_class)
    row_of = shipped_rows(animals, options.data)
    rows = np.array([row_of[picture.name] for picture in pictures])
    X = animals.X[rows].astype(np.float32)
    some = replace(animals, X=X, y=animals.y[rows], image_files=None)
    yield SHIPPED, some
    for views in options.views.split(","):
        store = options.work / f"{views}-{options.per_class or 'all'}"
        made = build_store(pictures, store, ImageEncoder(views=views), progress=True)
        print(f"{views}: median cosine with {SHIPPED} {_median_cosine(made.X, some.X):.4f}")
        yield views, replace(some, X=np.asarray(made.X))


def _median_cosine(A: NDArray, B: NDArray) -> float:
    lengths = np.linalg.norm(A, axis=1) * np.linalg.norm(B, axis=1)
    return float(np.median(np.sum(A * B, axis=1) / lengths))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--views", default=",".join(VIEWS))
    parser.add_argument("--per-class", type=int, help="only so many photographs of each class")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    animals = with_random_splits(load_animals(), options.splits)
    rows: list[dict[str, Any]] = json.loads(ROWS.read_text()) if ROWS.is_file() else []
    keys = ("features", "per_class", "split", "method")
    done = {tuple(row[key] for key in keys) for row in rows}
    per_class = options.per_class or 60
    for kind, data in features(animals, options):
        for split in data.splits:
            for method in options.methods.split(","):
                case = dict(zip(keys, (kind, per_class, split, method), strict=True))
                if tuple(case.values()) in done:
                    continue
                found = evaluate(data, method, ConventionalProtocol(split=split))
                case["accuracy"] = found.metrics["per_class_accuracy"]
                print(case, flush=True)
                rows.append(case)
                ROWS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
