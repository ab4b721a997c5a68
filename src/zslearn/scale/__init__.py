"""Data larger than memory, and clusters: the same models from sums of blocks."""

from zslearn.core.threads import threads
from zslearn.scale.checkpoint import Checkpoint
from zslearn.scale.dask_engine import fit_dask, predict_dask
from zslearn.scale.engine import Engine
from zslearn.scale.fitting import fit_batches, gather
from zslearn.scale.opening import open_source
from zslearn.scale.source import ArraySource, Source
from zslearn.scale.store import StoreSource

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
