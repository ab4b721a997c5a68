"""The text half of CLIP models, by open_clip and torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.encoders.hub import hash_weights, load_from_hub, split_open_clip

FloatArray = NDArray[np.float32]

_PURPOSE = "A text encoder 'open_clip:NAME/TAG'"


class OpenClipText:
    """A CLIP model by its name and the tag of its weights.

    Parameters
    ----------
    name : str
        ``NAME/TAG``, for example "ViT-B-32/laion2b_s34b_b79k"; the tag may be a file of weights.
    """

    def __init__(self, name: str) -> None:
        self._torch = require("torch", extra="hub", purpose=_PURPOSE)
        open_clip = require("open_clip", extra="hub", purpose=_PURPOSE)
        architecture, tag = split_open_clip(name)
        self._model, self._tokenizer = load_from_hub(
            f"open_clip:{name}",
            lambda: (
                open_clip.create_model(
                    architecture, pretrained=tag, require_pretrained=True
                ).eval(),
                open_clip.get_tokenizer(architecture),
            ),
        )
        self.max_tokens = int(self._tokenizer.context_length)
        self.sha256 = hash_weights(self._model)
        self.width = self.encode(["a"]).shape[1]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, marks included.

        The tokenizer cuts at its limit; a limit of twice the length shows what would be cut.
        """
        tokens = self._tokenizer(list(texts), context_length=2 * self.max_tokens)
        return [int(count) for count in (tokens != 0).sum(dim=1)]

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return one vector per text, of shape (n_texts, width)."""
        with self._torch.inference_mode():
            vectors = self._model.encode_text(self._tokenizer(list(texts)))
        array: FloatArray = vectors.float().numpy()
        return array
