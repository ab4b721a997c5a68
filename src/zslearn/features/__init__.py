"""Pictures to vectors: a descriptor of every pixel, and a store of them on disk."""

from zslearn.features._colour import rgb_to_lab
from zslearn.features._patches import patch_means
from zslearn.features._pixels import PIXEL_FEATURES, pixel_features
from zslearn.features._sift import dense_sift
from zslearn.features._store import PixelStore, extract_pixel_features

__all__ = [
    "PIXEL_FEATURES",
    "PixelStore",
    "dense_sift",
    "extract_pixel_features",
    "patch_means",
    "pixel_features",
    "rgb_to_lab",
]
