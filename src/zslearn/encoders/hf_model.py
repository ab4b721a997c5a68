"""Image models of the Hugging Face hub, by transformers and torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zslearn._optional import require
from zslearn.encoders.hub import load_from_hub
from zslearn.encoders.image_models import ImageModel
from zslearn.encoders.preprocessing import Preprocessing
from zslearn.encoders.torch_model import model_of_torch, preprocessing_of
from zslearn.exceptions import InvalidInputError

_PURPOSE = "An image encoder 'hf:NAME'"
_HALF = (0.5, 0.5, 0.5)


def open_model(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Open a model by its name on the hub or its folder.

    The image half of a CLIP-like model gives its own vector for a picture; for other models the
    pooled output is taken, or the mean of the last layer if there is none.

    Parameters
    ----------
    name : str
        For example "facebook/dinov2-small", or a folder.
    preprocessing : Preprocessing, optional
        Replaces the model's own settings. Where those would squash a picture, its middle is taken
        instead.

    Returns
    -------
    ImageModel
    """
    require("torch", extra="hub", purpose=_PURPOSE)
    transformers = require("transformers", extra="hub", purpose=_PURPOSE)
    module = load_from_hub(
        f"hf:{name}", lambda: transformers.AutoModel.from_pretrained(name).eval()
    )
    if preprocessing is None:
        reader = transformers.image_processing_base.ImageProcessingMixin
        said, _ = load_from_hub(f"hf:{name}", lambda: reader.get_image_processor_dict(name))
        preprocessing = _preprocessing(said, name)
    return model_of_torch(module, lambda pictures: _vectors(module, pictures), preprocessing)


def _vectors(module: Any, pictures: Any) -> Any:
    if hasattr(module, "get_image_features"):
        found = module.get_image_features(pixel_values=pictures)
        return getattr(found, "pooler_output", found)
    found = module(pixel_values=pictures)
    pooled = getattr(found, "pooler_output", None)
    if pooled is not None:
        return pooled.flatten(1)
    states = found.last_hidden_state
    return states.mean(dim=1) if states.ndim == 3 else states.flatten(2).mean(dim=2)


def _preprocessing(said: Mapping[str, Any], name: str) -> Preprocessing:
    """Read the configuration of an image processor, whose keys differ from model to model."""
    scaled, cut = (_side(said.get(key)) for key in ("size", "crop_size"))
    if not said.get("do_center_crop", cut is not None):
        cut = None
    size = cut or scaled
    if size is None:
        raise InvalidInputError(
            f"the configuration of 'hf:{name}' gives no picture size; pass preprocessing=."
        )
    crop = min(1.0, size / (scaled or size))
    if not said.get("do_normalize", True):
        return preprocessing_of(size, crop, (0, 0, 0), (1, 1, 1), said.get("resample"))
    mean, std = said.get("image_mean", _HALF), said.get("image_std", _HALF)
    return preprocessing_of(size, crop, mean, std, said.get("resample"))


def _side(size: Any) -> int | None:
    if isinstance(size, Mapping):
        size = size.get("shortest_edge") or size.get("height")
    return size if isinstance(size, int) else None
