"""Pictures, texts and class names to vectors: encoders, stores on disk, word vectors, WordNet."""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names

if TYPE_CHECKING:
    from zslearn.encoders.building import extract_features
    from zslearn.encoders.descriptions import read_descriptions
    from zslearn.encoders.identity import EncoderIdentity
    from zslearn.encoders.image_encoder import ImageEncoder
    from zslearn.encoders.model_encoder import (
        check_encoder,
        known_encoder,
        load_encoder,
        remember_encoder,
    )
    from zslearn.encoders.picture_store import PictureStore, is_picture_store
    from zslearn.encoders.preprocessing import Preprocessing
    from zslearn.encoders.samples import Picture, find_pictures
    from zslearn.encoders.store import FeatureStore, write_store
    from zslearn.encoders.text_encoder import TextEncoder
    from zslearn.encoders.word_search import Match, MatchedSignatures
    from zslearn.encoders.word_vectors import match_word_vectors
    from zslearn.encoders.wordnet import match_wordnet

__all__ = [
    "EncoderIdentity",
    "FeatureStore",
    "ImageEncoder",
    "Match",
    "MatchedSignatures",
    "Picture",
    "PictureStore",
    "Preprocessing",
    "TextEncoder",
    "check_encoder",
    "extract_features",
    "find_pictures",
    "is_picture_store",
    "known_encoder",
    "load_encoder",
    "match_word_vectors",
    "match_wordnet",
    "read_descriptions",
    "remember_encoder",
    "write_store",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "EncoderIdentity": "identity",
        "FeatureStore": "store",
        "ImageEncoder": "image_encoder",
        "Match": "word_search",
        "MatchedSignatures": "word_search",
        "Picture": "samples",
        "PictureStore": "picture_store",
        "Preprocessing": "preprocessing",
        "TextEncoder": "text_encoder",
        "check_encoder": "model_encoder",
        "extract_features": "building",
        "find_pictures": "samples",
        "is_picture_store": "picture_store",
        "known_encoder": "model_encoder",
        "load_encoder": "model_encoder",
        "match_word_vectors": "word_vectors",
        "match_wordnet": "wordnet",
        "read_descriptions": "descriptions",
        "remember_encoder": "model_encoder",
        "write_store": "store",
    },
)
