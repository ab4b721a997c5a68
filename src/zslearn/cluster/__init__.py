"""Supervised clustering: learn from labels which distances matter, then cluster new data."""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names
from zslearn.cluster.registry import LEARNERS, find_learner, make_mapping

if TYPE_CHECKING:
    from zslearn.cluster.base import LinearMapping, MappingTags, Statistics
    from zslearn.cluster.closed_form import (
        KISSME,
        MLCA,
        RCA,
        RVML,
        EuclideanMapping,
        LajugieSpectral,
        LDAProjection,
    )
    from zslearn.cluster.image_segmenter import ImageSegmenter
    from zslearn.cluster.lmnn import LMNN
    from zslearn.cluster.pairs import ITML, XingMMC
    from zslearn.cluster.sae import SAEMapping, sae_path
    from zslearn.cluster.supervised_kmeans import SupervisedKMeans

__all__ = [
    "ITML",
    "KISSME",
    "LEARNERS",
    "LMNN",
    "MLCA",
    "RCA",
    "RVML",
    "EuclideanMapping",
    "ImageSegmenter",
    "LDAProjection",
    "LajugieSpectral",
    "LinearMapping",
    "MappingTags",
    "SAEMapping",
    "Statistics",
    "SupervisedKMeans",
    "XingMMC",
    "find_learner",
    "make_mapping",
    "sae_path",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ImageSegmenter": "image_segmenter",
        "LinearMapping": "base",
        "MappingTags": "base",
        "Statistics": "base",
        "SupervisedKMeans": "supervised_kmeans",
        "sae_path": "sae",
        **{learner.class_name: learner.module for learner in LEARNERS.values()},
    },
)
