"""Pictures to vectors: pretrained networks, a descriptor of every pixel, stores on disk."""

from zslearn.features.color import rgb_to_lab
from zslearn.features.identity import EncoderIdentity
from zslearn.features.image_encoder import ImageEncoder
from zslearn.features.patches import patch_means
from zslearn.features.pixel_store import PixelStore, extract_pixel_features
from zslearn.features.pixels import PIXEL_FEATURES, pixel_features
from zslearn.features.preprocessing import Preprocessing
from zslearn.features.sift import dense_sift
from zslearn.features.store import FeatureStore, write_store

__all__ = [
    "PIXEL_FEATURES",
    "EncoderIdentity",
    "FeatureStore",
    "ImageEncoder",
    "PixelStore",
    "Preprocessing",
    "dense_sift",
    "extract_pixel_features",
    "patch_means",
    "pixel_features",
    "rgb_to_lab",
    "write_store",
]
