"""Measure `ConvSemanticAutoencoder` on drawn shapes and on photographs, beside linear methods.

    python scripts/measure_deep_pictures.py [--draws 3] [--data DIR]

Needs the extras deep and images. DIR is the folder of the real data sets, with the photographs of
animals28; without it only shapes are measured. Rows go to results/deep_pictures.json; what was
measured before is measured anew. Nothing is chosen on unseen classes: the number of epochs is
given, λ comes from seen classes. CPU seconds are those of one thread. Afterwards:
python scripts/deep_pictures_table.py.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pages import ROOT

from zslearn.core.threads import threads
from zslearn.datasets import make_shapes
from zslearn.encoders import Preprocessing
from zslearn.encoders.pictures import read_rgb
from zslearn.signatures import Signatures
from zslearn.zero_shot import PrototypeRegression, SAEClassifier
from zslearn.zero_shot.deep import ConvSemanticAutoencoder, efficientnet_trunk

ROWS = ROOT / "results" / "deep_pictures.json"
SHAPES, PHOTOGRAPHS = "shapes", "photographs"
PIXELS, SMALL, TRUNK = "SAE on pixels", "small network", "given trunk"
FEATURES = "prototype regression on the trunk's means"
SHAPE_EPOCHS, PHOTOGRAPH_EPOCHS, TRUNK_EPOCHS = 12, 20, 3
# Side of photographs for the small network and for the trunk.
SIDE, TRUNK_SIDE = 64, 128
KEYS = ("data", "draw", "method")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    for draw in range(given.draws):
        for found in of_shapes(draw):
            keep(found)
    if given.data:
        for found in of_photographs(given.data / "animals28"):
            keep(found)


def keep(found: dict[str, Any]) -> None:
    """Put a row in the place of the one that was measured before."""
    print(found, flush=True)
    rows = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
    rows = [row for row in rows if any(row[key] != found[key] for key in KEYS)] + [found]
    rows.sort(key=lambda row: (row["data"] == PHOTOGRAPHS, row["draw"]))
    ROWS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def of_shapes(draw: int) -> Iterator[dict[str, Any]]:
    """Measure one draw of 60 seen and 12 unseen combinations with 20 pictures each."""
    shapes = make_shapes(60, 12, n_per_class=20, random_state=draw)
    seen = np.isin(shapes.y, shapes.split.seen)
    pixels = shapes.pictures.reshape(len(seen), -1) / 255.0
    deep = ConvSemanticAutoencoder(
        shapes.signatures, n_epochs=SHAPE_EPOCHS, random_state=draw, device="cpu"
    )
    yield row(SHAPES, draw, PIXELS, SAEClassifier(shapes.signatures), pixels, shapes.y, seen)
    yield row(SHAPES, draw, SMALL, deep, shapes.pictures, shapes.y, seen)


def of_photographs(folder: Path) -> Iterator[dict[str, Any]]:
    """Measure the proposed split of animals28, from pixels and from feature maps."""
    with np.load(folder / "animals28_effnet_lite2.npz", allow_pickle=False) as file:
        names, files = file["class_names"], [str(one) for one in file["image_files"]]
        y, unseen = names[file["y"]], names[file["ps_test_classes"]]
        signatures = Signatures(names, file["S_continuous"].clip(0), file["attribute_names"])
    seen = ~np.isin(y, unseen)
    named = zip(y, (name.rpartition("/")[2] for name in files), strict=True)
    paths = [folder / "images" / label / name for label, name in named]
    small = pictures(paths, SIDE)
    flat = small.reshape(len(small), -1) / 255.0
    yield row(PHOTOGRAPHS, 0, PIXELS, SAEClassifier(signatures), flat, y, seen)
    deep = ConvSemanticAutoencoder(signatures, n_epochs=PHOTOGRAPH_EPOCHS, device="cpu")
    yield row(PHOTOGRAPHS, 0, SMALL, deep, small, y, seen)
    large, trunk = pictures(paths, TRUNK_SIDE), efficientnet_trunk()
    deep = ConvSemanticAutoencoder(signatures, trunk=trunk, n_epochs=TRUNK_EPOCHS, device="cpu")
    yield row(PHOTOGRAPHS, 0, TRUNK, deep, large, y, seen)
    means = means_of(trunk, large)
    yield row(PHOTOGRAPHS, 0, FEATURES, PrototypeRegression(signatures), means, y, seen)


def pictures(paths: list[Path], side: int) -> NDArray[np.uint8]:
    """Return the middles of photographs as squares."""
    cut = Preprocessing(side, 1.0, (0,) * 3, (1,) * 3)
    made = [np.moveaxis(cut(read_rgb(path))[0], 0, 2) for path in paths]
    return np.round(made).clip(0, 255).astype(np.uint8)


def means_of(trunk: Any, large: NDArray[np.uint8]) -> NDArray:
    """Return the mean of every channel of the trunk's maps."""
    from zslearn.zero_shot.deep.conv_trunk import maps_of

    return maps_of(trunk, large.astype(np.float32) / 255).mean(axis=(1, 2))


def row(
    data: str, draw: int, method: str, clf: Any, X: NDArray, y: NDArray, seen: NDArray
) -> dict[str, Any]:
    """Fit on seen classes, answer among the unseen ones."""
    start = time.process_time()
    with threads(1):
        clf.fit(X[seen], y[seen])
        took = time.process_time() - start
        right = clf.predict(X[~seen], candidates="unseen") == y[~seen]
    unseen = np.unique(y[~seen])
    return {
        "data": data,
        "draw": draw,
        "method": method,
        "accuracy": float(np.mean([right[y[~seen] == name].mean() for name in unseen])),
        "n_unseen": len(unseen),
        "cpu_seconds": round(took, 1),
    }


if __name__ == "__main__":
    main()
