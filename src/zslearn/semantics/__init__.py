"""The old name of `zslearn.encoders`; its names warn."""

from zslearn._optional import moved_names

__getattr__, __dir__ = moved_names(
    __name__,
    {
        "Match": "zslearn.encoders.Match",
        "MatchedSignatures": "zslearn.encoders.MatchedSignatures",
        "TextEncoder": "zslearn.encoders.TextEncoder",
        "match_word_vectors": "zslearn.encoders.match_word_vectors",
        "match_wordnet": "zslearn.encoders.match_wordnet",
        "read_descriptions": "zslearn.encoders.read_descriptions",
    },
)
