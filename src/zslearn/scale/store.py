"""The store on disk, read block by block."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from zslearn.features.store import KIND, FeatureStore
from zslearn.scale.source import RowSource, label_sum


class StoreSource(RowSource):
    """Rows of a `zslearn.features.FeatureStore`.

    Parameters
    ----------
    folder : path-like
        The store, as `zslearn.features.write_store` writes it or in the layout of
        `zslearn.datasets.load_imagenet`; with ``seen.txt`` and ``unseen.txt`` training uses only
        rows of the seen classes.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.store = FeatureStore(folder)
        self.n_rows, self.n_features = self.store.n_rows, self.store.n_features
        self.files = self.store.files()
        self.names, self.seen = self.store.names, self.store.seen
        self.encoder = self.store.encoder

    def read(self, start: int, stop: int) -> NDArray:
        """Return the features of these rows."""
        return self.store.read(start, stop)

    def labels(self) -> NDArray:
        """Return the labels of all rows: class numbers if the store names its classes."""
        return self.store.labels()

    def identity(self) -> list[Any]:
        """Return names and sizes of the files."""
        return [KIND, self.store.shards(), label_sum(self.labels())]
