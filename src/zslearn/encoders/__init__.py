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
        split_encoder,
    )
    from zslearn.encoders.building import build_store
    from zslearn.encoders.image_encoder import ImageEncoder
    from zslearn.encoders.phrases import Phrase, read_phrase
    from zslearn.encoders.preprocessing import Preprocessing
    from zslearn.encoders.registry import Model, encoder_names, register_encoder
    from zslearn.encoders.samples import Sample, find_pictures, read_descriptions, read_texts
    from zslearn.encoders.store import Samples, Store, is_store, write_store
    from zslearn.encoders.text_encoder import (
        TextEncoder,
        class_encoder,
        describe_classes,
        text_encoder_of,
    )
    from zslearn.encoders.word_search import Match, MatchedSignatures
    from zslearn.encoders.word_vectors import match_word_vectors
    from zslearn.encoders.wordnet import match_wordnet

__all__ = [
    "Encoder",
    "EncoderIdentity",
    "ImageEncoder",
    "Match",
    "MatchedSignatures",
    "Model",
    "Phrase",
    "Preprocessing",
    "Sample",
    "Samples",
    "Store",
    "TextEncoder",
    "build_store",
    "class_encoder",
    "describe_classes",
    "encoder_names",
    "encoder_of",
    "encoder_of_model",
    "find_pictures",
    "is_store",
    "match_word_vectors",
    "match_wordnet",
    "read_descriptions",
    "read_phrase",
    "read_texts",
    "register_encoder",
    "remember_encoder",
    "split_encoder",
    "text_encoder_of",
    "write_store",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Encoder": "base",
        "EncoderIdentity": "base",
        "ImageEncoder": "image_encoder",
        "Match": "word_search",
        "MatchedSignatures": "word_search",
        "Model": "registry",
        "Phrase": "phrases",
        "Preprocessing": "preprocessing",
        "Sample": "samples",
        "Samples": "store",
        "Store": "store",
        "TextEncoder": "text_encoder",
        "build_store": "building",
        "class_encoder": "text_encoder",
        "describe_classes": "text_encoder",
        "encoder_names": "registry",
        "encoder_of": "base",
        "encoder_of_model": "base",
        "find_pictures": "samples",
        "is_store": "store",
        "match_word_vectors": "word_vectors",
        "match_wordnet": "wordnet",
        "read_descriptions": "samples",
        "read_phrase": "phrases",
        "read_texts": "samples",
        "register_encoder": "registry",
        "remember_encoder": "base",
        "split_encoder": "base",
        "text_encoder_of": "text_encoder",
        "write_store": "store",
    },
)
