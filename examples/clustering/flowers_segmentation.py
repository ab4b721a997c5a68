"""
Segmenting the Flowers-17 photographs
=====================================

Run it with ``python examples/clustering/flowers_segmentation.py FOLDER [--out flowers.png]``.
FOLDER holds the Flowers-17 photographs with masks (see `zslearn.datasets.load_flowers17`); this
site is built without them, so there is no picture here.

Learns from 100 photographs what tells flower pixels from the rest, then splits six others by
2-means: with plain distances (L2), with MLCA and with the semantic autoencoder. All see the same
standardized features. Needs the extras ``images`` and ``plot``; takes less than a minute.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from zslearn.cluster import MLCA, EuclideanMapping, ImageSegmenter, SAEMapping
from zslearn.datasets import SegmentationDataset, flowers17_splits, load_flowers17
from zslearn.metrics import clustering_loss

N_TRAIN, HEIGHT = 100, 100
MAPPINGS = {"L2": EuclideanMapping(), "MLCA": MLCA(), "SAE": SAEMapping(100.0)}


def learned(data: SegmentationDataset, rows: list[int], mapping: Any) -> ImageSegmenter:
    model = ImageSegmenter(mapping, height=HEIGHT)
    images = (data.image(i) for i in rows)
    return model.fit(images, (data.mask(i, undefined="background") for i in rows))


def cut_out(image: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Fade everything but the foreground to white."""
    return np.where(kept[..., None], image, 255 - (255 - image) // 6).astype(np.uint8)


def draw(data: SegmentationDataset, rows: list[int], models: dict[str, ImageSegmenter]) -> Any:
    columns = ["photograph", "truth", *models]
    figure, axes = plt.subplots(len(rows), len(columns), figsize=(10, 2.05 * len(rows)))
    for line, i in zip(axes, rows, strict=True):
        image, true = data.image(i), data.mask(i, undefined="background") == 1
        line[0].imshow(image)
        line[1].imshow(cut_out(image, true))
        for axis, model in zip(line[2:], models.values(), strict=True):
            found = model.predict(image)
            axis.imshow(cut_out(image, found))
            loss = clustering_loss(true.ravel(), found.ravel())
            axis.set_xlabel(f"loss {loss:.2f}", fontsize=9, labelpad=2)
        for axis in line:
            axis.set_xticks([])
            axis.set_yticks([])
    for axis, title in zip(axes[0], columns, strict=True):
        axis.set_title(title, fontsize=11)
    figure.tight_layout(pad=0.6)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description="Segment flowers in a learned space.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("flowers_segmentation.png"))
    options = parser.parse_args()
    data = load_flowers17(options.folder)
    split = flowers17_splits(len(data))[0]
    train = split.train[:N_TRAIN].tolist()
    models = {name: learned(data, train, mapping) for name, mapping in MAPPINGS.items()}
    shown = np.linspace(0, len(split.test) - 1, 6).astype(int)
    draw(data, split.test[shown].tolist(), models).savefig(options.out, dpi=110)
    print(f"Written to {options.out}")


if __name__ == "__main__":
    main()
