"""Image models of timm, by torch."""

from __future__ import annotations

from zslearn._optional import require
from zslearn.encoders.hub import load_from_hub
from zslearn.encoders.image_models import ImageModel
from zslearn.encoders.preprocessing import Preprocessing
from zslearn.encoders.torch_model import model_of_torch, preprocessing_of

_PURPOSE = "An image encoder 'timm:NAME'"


def open_model(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Open a pretrained model of timm, without its classifier.

    Parameters
    ----------
    name : str
        As ``timm.create_model`` takes it, for example "resnet18.a1_in1k".
    preprocessing : Preprocessing, optional
        Replaces the model's own settings.

    Returns
    -------
    ImageModel
    """
    require("torch", extra="hub", purpose=_PURPOSE)
    timm = require("timm", extra="hub", purpose=_PURPOSE)
    module = load_from_hub(
        f"timm:{name}", lambda: timm.create_model(name, pretrained=True, num_classes=0).eval()
    )
    if preprocessing is None:
        said = timm.data.resolve_model_data_config(module)
        preprocessing = preprocessing_of(
            said["input_size"][-1],
            said["crop_pct"],
            said["mean"],
            said["std"],
            said["interpolation"],
        )
    return model_of_torch(module, module, preprocessing)
