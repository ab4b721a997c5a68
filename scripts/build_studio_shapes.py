"""Compute the features of the drawn shapes that ship with the studio.

EfficientNet-Lite0 vectors of unit length, reduced to their first principal components about zero.
The components are learned on the rows that the studio trains on, so nothing of an unseen class
enters them. They are kept, so that other pictures can be compared. Needs the extra ``images``.

    python scripts/build_studio_shapes.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from zslearn.encoders import ImageEncoder
from zslearn.evaluation import GeneralizedProtocol
from zslearn.serve.studio.collection import N_PER_CLASS, N, draw_shape, shape_classes

COMPONENTS = 96
TARGET = Path(__file__).parents[1] / "src" / "zslearn" / "serve" / "studio" / "data" / "shapes.npz"


def main() -> None:
    from zslearn.datasets import ZeroShotDataset

    signatures, split = shape_classes()
    y = np.repeat(signatures.names, N_PER_CLASS)
    pictures = [draw_shape(str(name), row) for row, name in enumerate(y)]
    X = ImageEncoder("efficientnet-lite0").transform(pictures).astype(np.float64)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    data = ZeroShotDataset("shapes", X, y, {"attributes": signatures}, {"standard": split})
    train = GeneralizedProtocol().task(data).train
    _, strength, components = np.linalg.svd(X[train], full_matrices=False)
    kept = X @ components[:COMPONENTS].T
    share = (strength[:COMPONENTS] ** 2).sum() / (strength**2).sum()
    axes = components[:COMPONENTS].astype(np.float16)
    np.savez_compressed(TARGET, X=kept.astype(np.float16), axes=axes)
    print(f"{N} pictures, {COMPONENTS} components with {share:.1%} of the training rows' length")
    print(f"wrote {TARGET} ({TARGET.stat().st_size / 1000:.0f} kB)")


if __name__ == "__main__":
    main()
