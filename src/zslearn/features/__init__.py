"""Pictures to vectors: a descriptor of every pixel, and a store of them on disk."""

from zslearn.features.color import rgb_to_lab
from zslearn.features.patches import patch_means
from zslearn.features.pixel_store import PixelStore, extract_pixel_features
from zslearn.features.pixels import PIXEL_FEATURES, pixel_features
from zslearn.features.sift import dense_sift

__all__ = [
    "PIXEL_FEATURES",
    "PixelStore",
    "dense_sift",
    "extract_pixel_features",
    "patch_means",
    "pixel_features",
    "rgb_to_lab",
]
