"""The image half of CLIP models, by open_clip and torch."""

from __future__ import annotations

from zslearn._optional import require
from zslearn.encoders.hub import load_from_hub, split_open_clip
from zslearn.encoders.image_models import ImageModel
from zslearn.encoders.preprocessing import Preprocessing
from zslearn.encoders.torch_model import model_of_torch, preprocessing_of

_PURPOSE = "An image encoder 'open_clip:NAME/TAG'"


def open_model(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Open a CLIP model by its name and the tag of its weights.

    Parameters
    ----------
    name : str
        ``NAME/TAG``, for example "ViT-B-32/laion2b_s34b_b79k"; the tag may be a file of weights.
    preprocessing : Preprocessing, optional
        Replaces the model's own settings. Where those would squash a picture, its middle is taken
        instead.

    Returns
    -------
    ImageModel
    """
    require("torch", extra="hub", purpose=_PURPOSE)
    open_clip = require("open_clip", extra="hub", purpose=_PURPOSE)
    architecture, tag = split_open_clip(name)
    module = load_from_hub(
        f"open_clip:{name}",
        lambda: open_clip.create_model(
            architecture, pretrained=tag, require_pretrained=True
        ).eval(),
    )
    if preprocessing is None:
        said = module.visual.preprocess_cfg
        size = said["size"] if isinstance(said["size"], int) else said["size"][0]
        preprocessing = preprocessing_of(
            size, 1.0, said["mean"], said["std"], said.get("interpolation")
        )
    return model_of_torch(module, module.encode_image, preprocessing)
