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
    from zslearn.cluster.pixel_store import PixelStore, extract_pixel_features
    from zslearn.cluster.pixels import (
        PIXEL_FEATURES,
        dense_sift,
        patch_means,
        pixel_features,
        rgb_to_lab,
    )
    from zslearn.cluster.sae import SAEMapping, sae_path
    from zslearn.cluster.supervised_kmeans import SupervisedKMeans

__all__ = [
    "ITML",
    "KISSME",
    "LEARNERS",
    "LMNN",
    "MLCA",
    "PIXEL_FEATURES",
    "RCA",
    "RVML",
    "EuclideanMapping",
    "ImageSegmenter",
    "LDAProjection",
    "LajugieSpectral",
    "LinearMapping",
    "MappingTags",
    "PixelStore",
    "SAEMapping",
    "Statistics",
    "SupervisedKMeans",
    "XingMMC",
    "dense_sift",
    "extract_pixel_features",
    "find_learner",
    "make_mapping",
    "patch_means",
    "pixel_features",
    "rgb_to_lab",
    "sae_path",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ImageSegmenter": "image_segmenter",
        "LinearMapping": "base",
        "MappingTags": "base",
        "PIXEL_FEATURES": "pixels",
        "PixelStore": "pixel_store",
        "Statistics": "base",
        "SupervisedKMeans": "supervised_kmeans",
        "dense_sift": "pixels",
        "extract_pixel_features": "pixel_store",
        "patch_means": "pixels",
        "pixel_features": "pixels",
        "rgb_to_lab": "pixels",
        "sae_path": "sae",
        **{learner.class_name: learner.module for learner in LEARNERS.values()},
    },
)
