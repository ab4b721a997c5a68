"""Class names and texts to class signatures: text encoders, word vectors, WordNet."""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names

if TYPE_CHECKING:
    from zslearn.semantics.coverage import Match, MatchedSignatures
    from zslearn.semantics.descriptions import read_descriptions
    from zslearn.semantics.text_encoder import TextEncoder
    from zslearn.semantics.word_vectors import match_word_vectors
    from zslearn.semantics.wordnet import match_wordnet

__all__ = [
    "Match",
    "MatchedSignatures",
    "TextEncoder",
    "match_word_vectors",
    "match_wordnet",
    "read_descriptions",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Match": "coverage",
        "MatchedSignatures": "coverage",
        "TextEncoder": "text_encoder",
        "match_word_vectors": "word_vectors",
        "match_wordnet": "wordnet",
        "read_descriptions": "descriptions",
    },
)
