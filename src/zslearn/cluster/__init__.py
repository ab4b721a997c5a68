"""Supervised clustering: learn from labels which distances matter, then cluster new data."""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names
from zslearn.cluster.registry import LEARNERS, find_learner, make_mapping
from zslearn.cluster.tags import MappingTags

if TYPE_CHECKING:
    from zslearn.cluster.base import LinearMapping
    from zslearn.cluster.euclidean import EuclideanMapping
    from zslearn.cluster.image_segmenter import ImageSegmenter
    from zslearn.cluster.itml import ITML
    from zslearn.cluster.kissme import KISSME
    from zslearn.cluster.lajugie import LajugieSpectral
    from zslearn.cluster.lda import LDAProjection
    from zslearn.cluster.lmnn import LMNN
    from zslearn.cluster.mlca import MLCA
    from zslearn.cluster.rca import RCA
    from zslearn.cluster.rvml import RVML
    from zslearn.cluster.sae import SAEMapping, sae_path
    from zslearn.cluster.statistics import Statistics
    from zslearn.cluster.supervised_kmeans import SupervisedKMeans
    from zslearn.cluster.xing import XingMMC

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
        "Statistics": "statistics",
        "SupervisedKMeans": "supervised_kmeans",
        "sae_path": "sae",
        **{learner.class_name: learner.module for learner in LEARNERS.values()},
    },
)
