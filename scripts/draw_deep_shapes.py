"""Train `ConvSemanticAutoencoder` on drawn shapes; draw what it makes of classes without pictures.

``python scripts/draw_deep_shapes.py`` needs the extras deep and plot and some minutes of CPU time.
It writes docs/images/deep_shapes.png and prints the accuracies that docs/deep.md quotes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np

from zslearn.datasets import make_shapes
from zslearn.zero_shot import SAEClassifier
from zslearn.zero_shot.deep import ConvSemanticAutoencoder

matplotlib.use("agg")
import matplotlib.pyplot as plt

OUT = Path(__file__).parents[1] / "docs" / "images" / "deep_shapes.png"
ROWS = ("unseen class", "reconstructed", "its signature,\nthis place", "its signature\nalone")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    shapes = make_shapes(60, 12, n_per_class=20, random_state=given.seed)
    seen = np.isin(shapes.y, shapes.split.seen)
    pixels = shapes.pictures.reshape(len(seen), -1) / 255.0
    sae = SAEClassifier(shapes.signatures).fit(pixels[seen], shapes.y[seen])
    print("SAE on pixels:", accuracy(sae, pixels, shapes.y, seen))
    start = time.process_time()
    clf = ConvSemanticAutoencoder(
        shapes.signatures, n_epochs=given.epochs, random_state=given.seed, device="cpu"
    )
    clf.fit(shapes.pictures[seen], shapes.y[seen])
    print(f"{time.process_time() - start:.0f} CPU seconds of training")
    print("ConvSemanticAutoencoder:", accuracy(clf, shapes.pictures, shapes.y, seen))
    draw(clf, shapes, given.out)


def accuracy(clf, X, y, seen):
    return round(clf.score(X[~seen], y[~seen], candidates="unseen"), 3)


def draw(clf, shapes, path):
    """One column per unseen class: a picture, its reconstruction, the class decoded twice."""
    names = shapes.split.unseen[:8]
    first = [int(np.flatnonzero(shapes.y == name)[0]) for name in names]
    pictures, vectors = shapes.pictures[first], shapes.signatures.rows(names)
    free = clf.encode(pictures)[:, vectors.shape[1] :]
    rows = [pictures / 255.0, clf.reconstruct(pictures), clf.decode(vectors, free)]
    rows.append(clf.decode(vectors))
    figure, axes = plt.subplots(len(rows), len(names), figsize=(1.25 * len(names), 5.4))
    for label, line, made in zip(ROWS, axes, rows, strict=True):
        for place, picture in zip(line, made, strict=True):
            place.imshow(np.clip(picture, 0, 1))
            place.set_xticks([])
            place.set_yticks([])
        line[0].set_ylabel(label, fontsize=8)
    for place, name in zip(axes[0], names, strict=True):
        size, texture, color, shape = str(name).split()
        place.set_title(f"{size} {texture}\n{color} {shape}", fontsize=7)
    figure.tight_layout(pad=0.4)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
