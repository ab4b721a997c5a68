"""The convolutional semantic autoencoder on drawn shapes and photographs, beside linear methods.

And tables of the deep semantic autoencoder on features, whose runs are those of "zero-shot".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets import make_shapes
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import (
    MAIN_SPACES,
    Row,
    Table,
    failures,
    method_title,
    select,
    short,
)
from zslearn.signatures import Signatures
from zslearn.zero_shot import PrototypeRegression, SAEClassifier

SHAPE_EPOCHS, PHOTOGRAPH_EPOCHS, TRUNK_EPOCHS = 12, 20, 3
# Side of photographs for the small network and for the trunk.
SIDE, TRUNK_SIDE = 64, 128
TITLES = {
    "sae": "SAE on pixels",
    "conv-sae": "`ConvSemanticAutoencoder`",
    "conv-sae+trunk": f"the same with EfficientNet-Lite0 as its trunk, pictures of {TRUNK_SIDE}",
    "prototype-regression+trunk": "prototype regression on the means of that trunk, pictures of "
    f"{TRUNK_SIDE}",
}


def measure(run: Run) -> dict[str, Any]:
    """Fit on pictures of the seen classes; the number of epochs is given, λ from seen classes."""
    if run.method not in TITLES:
        raise InvalidInputError(f"there is no {run.method!r} for pictures: {', '.join(TITLES)}.")
    if run.source is None:
        shapes = make_shapes(60, 12, n_per_class=20, random_state=run.seed)
        seen = np.isin(shapes.y, shapes.split.seen)
        pictures, signatures, y = shapes.pictures, shapes.signatures, shapes.y
    else:
        side = TRUNK_SIDE if run.method.endswith("+trunk") else SIDE
        pictures, signatures, y, seen = _photographs(run.source.path, side)
    clf, X = _fittable(run, pictures, signatures)
    start = process_time()
    clf.fit(X[seen], y[seen])
    seconds = process_time() - start
    return {
        "per_class_accuracy": clf.score(X[~seen], y[~seen], candidates="unseen"),
        "n_unseen": len(np.unique(y[~seen])),
        "fit_cpu_seconds": seconds,
    }


def _fittable(run: Run, pictures: NDArray[Any], signatures: Signatures) -> tuple[Any, NDArray[Any]]:
    """Return the classifier of a run, and what it takes of the pictures."""
    if run.method == "sae":
        return SAEClassifier(signatures), pictures.reshape(len(pictures), -1) / 255.0
    from zslearn.zero_shot.deep import ConvSemanticAutoencoder, efficientnet_trunk

    if run.method == "conv-sae":
        epochs = SHAPE_EPOCHS if run.source is None else PHOTOGRAPH_EPOCHS
        clf = ConvSemanticAutoencoder(signatures, random_state=run.seed, device="cpu")
        return clf.set_params(training__n_epochs=epochs), pictures
    trunk = efficientnet_trunk()
    if run.method == "conv-sae+trunk":
        clf = ConvSemanticAutoencoder(signatures, trunk=trunk, device="cpu")
        return clf.set_params(training__n_epochs=TRUNK_EPOCHS), pictures
    from zslearn.zero_shot.deep.convolutional_training import maps_of

    means = maps_of(trunk, pictures.astype(np.float32) / 255.0).mean(axis=(1, 2))
    return PrototypeRegression(signatures), means


@lru_cache(maxsize=1)
def _photographs(
    folder: str, side: int
) -> tuple[NDArray[Any], Signatures, NDArray[Any], NDArray[np.bool_]]:
    """Return squares of the photographs of the animals, signatures, classes, and the seen rows."""
    from zslearn.encoders import Preprocessing
    from zslearn.encoders.pictures import read_rgb

    place = Path(folder)
    with np.load(place / "animals28_effnet_lite2.npz", allow_pickle=False) as file:
        names, paths = file["class_names"], [str(one) for one in file["image_files"]]
        y, unseen = names[file["y"]], names[file["ps_test_classes"]]
        signatures = Signatures(names, file["S_continuous"].clip(0), file["attribute_names"])
    cut = Preprocessing(side, 1.0, (0,) * 3, (1,) * 3)  # the middle, as a square
    named = zip(y, (path.rpartition("/")[2] for path in paths), strict=True)
    made = [
        np.moveaxis(cut(read_rgb(place / "images" / label / name))[0], 0, 2)
        for label, name in named
    ]
    pictures = np.round(made).clip(0, 255).astype(np.uint8)
    return pictures, signatures, y, ~np.isin(y, unseen)


def picture_tables(rows: Iterable[Row]) -> list[Table]:
    """Return one line per method, and one for chance."""
    mine = select(rows, kind="deep-pictures")
    done = select(mine, status="ok")
    if not done:
        return []
    drawn, seen = (
        [row for row in done if bool(row["dataset"]) == photographs]
        for photographs in (False, True)
    )
    body: list[tuple[str, ...]] = []
    for method, title in TITLES.items():
        parts = [select(part, method=method) for part in (drawn, seen)]
        if any(parts):
            body.append((title, _each(parts[0]), _mean(parts[0]), _each(parts[1])))
    chances = [short(1 / part[0]["n_unseen"]) if part else "" for part in (drawn, seen)]
    body.append(("chance", "", *chances))
    columns = ("method", "shapes, each draw", "mean", f"photographs of {SIDE}")
    notes = (
        "Per-class accuracy on unseen classes; in brackets CPU seconds of a fit.",
        *failures(mine),
    )
    title = "Pictures: a network learned from them, and a given one"
    return [Table("deep-pictures", title, columns, tuple(body), notes)]


def _each(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    took = np.mean([row["fit_cpu_seconds"] for row in rows])
    return f"{', '.join(short(row['per_class_accuracy']) for row in rows)} ({took:.0f} s)"


def _mean(rows: Sequence[Row]) -> str:
    return short(float(np.mean([row["per_class_accuracy"] for row in rows]))) if rows else ""


def feature_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the deep autoencoder beside closed forms: each seed, steps taken and CPU time."""
    methods = ("sae", "deep-sae", "prototype-regression")
    chosen = select(
        rows,
        kind="zero-shot",
        protocol="conventional",
        split="proposed",
        semantics=MAIN_SPACES,
        method=methods,
        status="ok",
    )
    names = dict.fromkeys(row["dataset"] for row in select(chosen, method="deep-sae"))
    if not names:
        return []
    body = []
    for method in methods:
        cells = []
        for name in names:
            mine = select(chosen, dataset=name, method=method)
            steps = [row.get("chosen_training__n_steps") for row in mine]
            took = np.mean([row["cpu_seconds"] or 0.0 for row in mine]) if mine else 0.0
            told = (
                f"{', '.join(str(n) for n in steps)} steps; "
                if any(n is not None for n in steps)
                else ""
            )
            values = ", ".join(short(row["per_class_accuracy"]) for row in mine)
            cells.append(f"{values} ({told}{took:.0f} s)" if mine else "–")
        body.append((method_title(method), *cells))
    notes = (
        "Per-class accuracy on the unseen classes of the proposed splits, each seed; in brackets "
        "the steps of the deep autoencoder and CPU seconds of a run, choices included.",
    )
    title = "A hidden layer on features"
    return [Table("deep", title, ("method", *names), tuple(body), notes)]


TABLES = {"deep-photographs": picture_tables, "deep": feature_tables}
