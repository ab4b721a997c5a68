"""Pictures, texts and class names to vectors: encoders, stores on disk, word vectors, WordNet."""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names

if TYPE_CHECKING:
    from zslearn.encoders.base import (
        Encoder,
        EncoderIdentity,
        encoder_of,
        encoder_of_model,
        remember_encoder,
    )
    from zslearn.encoders.building import extract_features
    from zslearn.encoders.descriptions import read_descriptions
    from zslearn.encoders.image_encoder import ImageEncoder
    from zslearn.encoders.picture_store import PictureStore, is_picture_store
    from zslearn.encoders.preprocessing import Preprocessing
    from zslearn.encoders.registry import Model, encoder_names, register_encoder
    from zslearn.encoders.samples import Picture, find_pictures
    from zslearn.encoders.store import FeatureStore, write_store
    from zslearn.encoders.text_encoder import TextEncoder
    from zslearn.encoders.word_search import Match, MatchedSignatures
    from zslearn.encoders.word_vectors import match_word_vectors
    from zslearn.encoders.wordnet import match_wordnet

__all__ = [
    "Encoder",
    "EncoderIdentity",
    "FeatureStore",
    "ImageEncoder",
    "Match",
    "MatchedSignatures",
    "Model",
    "Picture",
    "PictureStore",
    "Preprocessing",
    "TextEncoder",
    "encoder_names",
    "encoder_of",
    "encoder_of_model",
    "extract_features",
    "find_pictures",
    "is_picture_store",
    "match_word_vectors",
    "match_wordnet",
    "read_descriptions",
    "register_encoder",
    "remember_encoder",
    "write_store",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Encoder": "base",
        "EncoderIdentity": "base",
        "FeatureStore": "store",
        "ImageEncoder": "image_encoder",
        "Match": "word_search",
        "MatchedSignatures": "word_search",
        "Model": "registry",
        "Picture": "samples",
        "PictureStore": "picture_store",
        "Preprocessing": "preprocessing",
        "TextEncoder": "text_encoder",
        "encoder_names": "registry",
        "encoder_of": "base",
        "encoder_of_model": "base",
        "extract_features": "building",
        "find_pictures": "samples",
        "is_picture_store": "picture_store",
        "match_word_vectors": "word_vectors",
        "match_wordnet": "wordnet",
        "read_descriptions": "descriptions",
        "register_encoder": "registry",
        "remember_encoder": "base",
        "write_store": "store",
    },
)
