"""Pictures that clients send: few formats, few pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.features.pictures import decode_rgb
from zslearn.serve.errors import refuse
from zslearn.serve.models import ServedModel
from zslearn.serve.settings import Limits

FORMATS = ("JPEG", "PNG")


def encode_pictures(model: ServedModel, files: Sequence[bytes], limits: Limits) -> NDArray[Any]:
    """Turn the bytes of picture files into samples, one after the other in this thread.

    Parameters
    ----------
    model : ServedModel
        A model that knows its image encoder.
    files : sequence of bytes
        JPEG or PNG.
    limits : Limits
        `pixels` are the most of one picture.

    Returns
    -------
    ndarray of shape (n_pictures, n_features)
    """
    if model.encoder is None:
        raise refuse(f"{model.name} was not trained on pictures; send it features.")
    encoder = model.encoder.opened
    vectors = []
    for number, content in enumerate(files):
        name = f"picture {number}" if len(files) > 1 else "the picture"
        pixels = decode_rgb(content, name, formats=FORMATS, max_pixels=limits.pixels)
        vectors.append(encoder.encode_pixels([pixels])[0])
    return np.stack(vectors)
