"""From pictures to vectors: pretrained networks, pixel descriptors, stores on disk."""

from zslearn.core.encoder_identity import EncoderIdentity
from zslearn.features.collection import Picture, find_pictures
from zslearn.features.color import rgb_to_lab
from zslearn.features.extraction import extract_features
from zslearn.features.image_encoder import ImageEncoder
from zslearn.features.model_encoder import (
    check_encoder,
    known_encoder,
    load_encoder,
    remember_encoder,
)
from zslearn.features.patches import patch_means
from zslearn.features.picture_store import PictureStore, is_picture_store
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
    "Picture",
    "PictureStore",
    "PixelStore",
    "Preprocessing",
    "check_encoder",
    "dense_sift",
    "extract_features",
    "extract_pixel_features",
    "find_pictures",
    "is_picture_store",
    "known_encoder",
    "load_encoder",
    "patch_means",
    "pixel_features",
    "remember_encoder",
    "rgb_to_lab",
    "write_store",
]
