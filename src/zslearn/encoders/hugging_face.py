"""Text models of the Hugging Face hub, by transformers and torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.encoders.hub import hash_weights, load_from_hub

FloatArray = NDArray[np.float32]

_PURPOSE = "A text encoder 'hf:NAME'"
# What a tokenizer says that knows no limit is a huge number; models read no more than this.
_MOST_TOKENS = 8192


class HuggingFaceText:
    """A model by its name on the hub or its folder.

    The text half of a CLIP-like model gives its own vector of a text; of any other model the last
    layer is averaged over all tokens.

    Parameters
    ----------
    name : str
        Name on the hub, such as "sentence-transformers/all-mpnet-base-v2", or a folder.
    """

    def __init__(self, name: str) -> None:
        self._torch = require("torch", extra="hub", purpose=_PURPOSE)
        transformers = require("transformers", extra="hub", purpose=_PURPOSE)
        self._tokenizer, self._model = load_from_hub(
            f"hf:{name}",
            lambda: (
                transformers.AutoTokenizer.from_pretrained(name),
                transformers.AutoModel.from_pretrained(name).eval(),
            ),
        )
        self.max_tokens = min(self._tokenizer.model_max_length, _positions(self._model))
        self.sha256 = hash_weights(self._model)
        self.width = self.encode(["a"]).shape[1]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, marks included."""
        return [len(ids) for ids in self._tokenizer(list(texts), verbose=False)["input_ids"]]

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return one vector per text, of shape (n_texts, width)."""
        inputs = self._tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=self.max_tokens,
            return_tensors="pt",
        )
        with self._torch.inference_mode():
            if hasattr(self._model, "get_text_features"):
                found = self._model.get_text_features(**inputs)
                vectors = getattr(found, "pooler_output", found)
            else:
                states = self._model(**inputs).last_hidden_state
                mask = inputs["attention_mask"][..., None].to(states.dtype)
                vectors = (states * mask).sum(dim=1) / mask.sum(dim=1)
        array: FloatArray = vectors.float().numpy()
        return array


def _positions(model: object) -> int:
    """Return how many tokens a model has positions for."""
    config = getattr(model, "config", None)
    text = getattr(config, "text_config", config)
    return int(getattr(text, "max_position_embeddings", None) or _MOST_TOKENS)
