"""The old name of `zslearn.zero_shot.recognizer`, for one more release."""

from zslearn._optional import lazy_names

__getattr__, __dir__ = lazy_names(
    "zslearn.zero_shot.recognizer", {}, renamed={"Recogniser": "Recognizer"}
)
