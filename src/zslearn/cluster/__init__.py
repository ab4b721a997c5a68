"""Supervised clustering: learn from labels which distances matter, then cluster new data."""

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
from zslearn.cluster.registry import LEARNERS, find_learner, make_mapping
from zslearn.cluster.rvml import RVML
from zslearn.cluster.sae import SAEMapping, sae_path
from zslearn.cluster.statistics import Statistics
from zslearn.cluster.supervised_kmeans import SupervisedKMeans
from zslearn.cluster.tags import MappingTags
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
