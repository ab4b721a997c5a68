"""Data larger than memory, and clusters: the same models from sums of blocks."""

from zslearn.core.threads import threads
from zslearn.scale._checkpoint import Checkpoint
from zslearn.scale._dask import fit_dask, predict_dask
from zslearn.scale._fit_batches import fit_batches
from zslearn.scale._open import open_source
from zslearn.scale._source import ArraySource, Source
from zslearn.scale._store import StoreSource, write_store

__all__ = [
    "ArraySource",
    "Checkpoint",
    "Source",
    "StoreSource",
    "fit_batches",
    "fit_dask",
    "open_source",
    "predict_dask",
    "threads",
    "write_store",
]
