"""Data larger than memory, and clusters: the same models from sums of blocks."""

from zslearn.core.threads import threads
from zslearn.scale.dask import Engine, fit_dask, predict_dask
from zslearn.scale.fitting import Checkpoint, fit_batches, gather
from zslearn.scale.opening import open_source
from zslearn.scale.source import ArraySource, Source, StoreSource

__all__ = [
    "ArraySource",
    "Checkpoint",
    "Engine",
    "Source",
    "StoreSource",
    "fit_batches",
    "fit_dask",
    "gather",
    "open_source",
    "predict_dask",
    "threads",
]
