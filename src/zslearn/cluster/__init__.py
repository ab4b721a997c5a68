"""Supervised clustering: learn from labels which distances matter, then cluster new data."""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names
from zslearn.cluster.registry import MAPPINGS as MAPPINGS
from zslearn.cluster.registry import find_mapping as find_mapping
from zslearn.cluster.registry import make_mapping as make_mapping

if TYPE_CHECKING:
    from zslearn.cluster.base import LinearMapping as LinearMapping
    from zslearn.cluster.base import MappingTags as MappingTags
    from zslearn.cluster.base import Statistics as Statistics
    from zslearn.cluster.closed_form import KISSME as KISSME
    from zslearn.cluster.closed_form import MLCA as MLCA
    from zslearn.cluster.closed_form import RCA as RCA
    from zslearn.cluster.closed_form import RVML as RVML
    from zslearn.cluster.closed_form import EuclideanMapping as EuclideanMapping
    from zslearn.cluster.closed_form import LajugieSpectral as LajugieSpectral
    from zslearn.cluster.closed_form import LDAProjection as LDAProjection
    from zslearn.cluster.image_segmenter import ImageSegmenter as ImageSegmenter
    from zslearn.cluster.iterative import ITML as ITML
    from zslearn.cluster.iterative import LMNN as LMNN
    from zslearn.cluster.iterative import XingMMC as XingMMC
    from zslearn.cluster.pixel_store import PixelStore as PixelStore
    from zslearn.cluster.pixel_store import extract_pixel_features as extract_pixel_features
    from zslearn.cluster.pixels import PIXEL_FEATURES as PIXEL_FEATURES
    from zslearn.cluster.pixels import dense_sift as dense_sift
    from zslearn.cluster.pixels import patch_means as patch_means
    from zslearn.cluster.pixels import pixel_features as pixel_features
    from zslearn.cluster.pixels import rgb_to_lab as rgb_to_lab
    from zslearn.cluster.sae import SAEMapping as SAEMapping
    from zslearn.cluster.sae import sae_path as sae_path
    from zslearn.cluster.supervised_kmeans import SupervisedKMeans as SupervisedKMeans

# Every public name and where it is; the mappings add themselves.
_PLACES = {
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
    **{one.class_name: one.module.removeprefix(f"{__name__}.") for one in MAPPINGS.values()},
}
__all__ = sorted([*_PLACES, "MAPPINGS", "find_mapping", "make_mapping"])

__getattr__, __dir__ = lazy_names(
    __name__, _PLACES, renamed={"LEARNERS": "MAPPINGS", "find_learner": "find_mapping"}
)
