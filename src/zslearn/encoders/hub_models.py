"""Models of timm, open_clip and the Hugging Face hub, by torch.

Without a network they come from the hub's cache, with no long wait.
"""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line
from zslearn._optional import require
from zslearn.encoders.onnx_models import ImageModel
from zslearn.encoders.preprocessing import Preprocessing
from zslearn.encoders.registry import Vectors
from zslearn.exceptions import InvalidInputError

_SECONDS = 3.0
_HALF = (0.5, 0.5, 0.5)
# What a tokenizer says that knows no limit is a huge number; models read no more than this.
_MOST_TOKENS = 8192


def load_from_hub(name: str, load: Callable[[], Any]) -> Any:
    """Return what `load` returns; without a network only the cache is used.

    Parameters
    ----------
    name : str
        The model as the user named it, for the error message.
    load : callable
        Loads the model.
    """
    online = _is_reachable()
    try:
        with _offline(not online):
            return load()
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        reason = "" if online else " There is no network, and the model is not in the cache."
        raise InvalidInputError(
            f"The model {name!r} cannot be loaded.{reason} ({first_line(error)})"
        ) from error


def split_open_clip(name: str) -> tuple[str, str]:
    """Return architecture and tag of a model of open_clip, named as ``NAME/TAG``."""
    architecture, _, tag = name.partition("/")
    if not architecture or not tag:
        raise InvalidInputError(
            f"'open_clip:{name}' must be 'open_clip:NAME/TAG', for example "
            "'open_clip:ViT-B-32/laion2b_s34b_b79k'."
        )
    return architecture, tag


def hash_weights(model: Any) -> str:
    """Return the SHA-256 of the names and numbers of all weights of a torch module."""
    torch = require("torch", extra="hub", purpose="The identity of a model")
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _is_reachable() -> bool:
    """Say whether the hub answers; a proxy is assumed to reach it."""
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY")):
        return True
    address = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    try:
        port = address.port or 443
        socket.create_connection((address.hostname or "", port), timeout=_SECONDS).close()
    except OSError:
        return False
    return True


@contextmanager
def _offline(wanted: bool) -> Iterator[None]:
    """Let the hub's client use its cache only, for as long as the block runs."""
    constants = require("huggingface_hub", extra="hub", purpose="A model of the hub").constants
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = before or wanted
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def model_of_torch(
    module: Any, forward: Callable[[Any], Any], preprocessing: Preprocessing
) -> ImageModel:
    """Return the model whose vectors `forward` computes with the weights of `module`."""
    torch = require("torch", extra="hub", purpose="A model of PyTorch")

    def network(pictures: NDArray[np.float32]) -> Vectors:
        with torch.inference_mode():
            vectors: Vectors = forward(torch.from_numpy(pictures)).float().numpy()
        return vectors

    width = network(preprocessing(np.zeros((8, 8, 3), np.uint8))).shape[1]
    return ImageModel(hash_weights(module), preprocessing, width, network)


def preprocessing_of(
    size: int, crop: float, mean: Sequence[float], std: Sequence[float], interpolation: object
) -> Preprocessing:
    """Return the preprocessing of a model whose mean and deviation are on the scale 0 to 1."""
    return Preprocessing(
        size,
        crop,
        tuple(255 * value for value in mean),  # type: ignore[arg-type]
        tuple(255 * value for value in std),  # type: ignore[arg-type]
        "bilinear" if interpolation in ("bilinear", 2) else "bicubic",
    )


def open_timm(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
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
    timm = _required("timm", "An image encoder 'timm:NAME'")
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


def open_clip_image(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Open the image half of a CLIP model by its name and the tag of its weights.

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
    open_clip = _required("open_clip", "An image encoder 'open_clip:NAME/TAG'")
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


def open_hf_image(name: str, preprocessing: Preprocessing | None = None) -> ImageModel:
    """Open an image model by its name on the hub or its folder.

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
    transformers = _required("transformers", "An image encoder 'hf:NAME'")
    module = load_from_hub(
        f"hf:{name}", lambda: transformers.AutoModel.from_pretrained(name).eval()
    )
    if preprocessing is None:
        reader = transformers.image_processing_base.ImageProcessingMixin
        said, _ = load_from_hub(f"hf:{name}", lambda: reader.get_image_processor_dict(name))
        preprocessing = _preprocessing(said, name)
    return model_of_torch(
        module, lambda pictures: _picture_vectors(module, pictures), preprocessing
    )


def _picture_vectors(module: Any, pictures: Any) -> Any:
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


class _Text(NamedTuple):
    """A text, and the number of its tokens, marks included."""

    text: str
    tokens: int


@dataclass(frozen=True, eq=False)
class TorchTextModel:
    """A model from texts to vectors; its tokenizer cuts a text a second time when it is run.

    Attributes
    ----------
    sha256 : str
        SHA-256 of its weights.
    n_features : int
        Length of a vector.
    max_tokens : int
        Tokens of a text, marks included, that are read; the rest is not.
    count : callable
        Returns the number of tokens of a text.
    network : callable
        Returns the vectors of a list of texts as a tensor.
    """

    sha256: str
    n_features: int
    max_tokens: int
    count: Callable[[str], int]
    network: Callable[[list[str]], Any]

    def prepare(self, sample: str) -> _Text:
        """Count the tokens of a text."""
        return _Text(sample, self.count(sample))

    def size(self, prepared: _Text) -> int:
        """Return the number of tokens."""
        return prepared.tokens

    def run(self, batch: Sequence[_Text]) -> Vectors:
        """Return one vector per text, of shape (n_texts, n_features)."""
        return _as_array(self.network, [one.text for one in batch])


def _text_model(
    module: Any, max_tokens: int, count: Callable[[str], int], network: Callable[[list[str]], Any]
) -> TorchTextModel:
    width = _as_array(network, ["a"]).shape[1]
    return TorchTextModel(hash_weights(module), width, max_tokens, count, network)


def _as_array(network: Callable[[list[str]], Any], texts: list[str]) -> Vectors:
    torch = require("torch", extra="hub", purpose="A model of PyTorch")
    with torch.inference_mode():
        vectors: Vectors = network(texts).float().numpy()
    return vectors


def open_hf_text(name: str) -> TorchTextModel:
    """Open a text model by its name on the hub or its folder.

    The text half of a CLIP-like model gives its own vector of a text; of any other model the last
    layer is averaged over all tokens.

    Parameters
    ----------
    name : str
        Name on the hub, such as "sentence-transformers/all-mpnet-base-v2", or a folder.
    """
    transformers = _required("transformers", "A text encoder 'hf:NAME'")
    tokenizer, module = load_from_hub(
        f"hf:{name}",
        lambda: (
            transformers.AutoTokenizer.from_pretrained(name),
            transformers.AutoModel.from_pretrained(name).eval(),
        ),
    )
    max_tokens = min(tokenizer.model_max_length, _positions(module))

    def network(texts: list[str]) -> Any:
        inputs = tokenizer(
            texts, padding=True, truncation=True, max_length=max_tokens, return_tensors="pt"
        )
        if hasattr(module, "get_text_features"):
            found = module.get_text_features(**inputs)
            return getattr(found, "pooler_output", found)
        states = module(**inputs).last_hidden_state
        mask = inputs["attention_mask"][..., None].to(states.dtype)
        return (states * mask).sum(dim=1) / mask.sum(dim=1)

    def count(text: str) -> int:
        return len(tokenizer(text, verbose=False)["input_ids"])

    return _text_model(module, max_tokens, count, network)


def _positions(model: object) -> int:
    """Return how many tokens a model has positions for."""
    config = getattr(model, "config", None)
    text = getattr(config, "text_config", config)
    return int(getattr(text, "max_position_embeddings", None) or _MOST_TOKENS)


def open_clip_text(name: str) -> TorchTextModel:
    """Open the text half of a CLIP model by its name and the tag of its weights.

    Parameters
    ----------
    name : str
        ``NAME/TAG``, for example "ViT-B-32/laion2b_s34b_b79k"; the tag may be a file of weights.
    """
    open_clip = _required("open_clip", "A text encoder 'open_clip:NAME/TAG'")
    architecture, tag = split_open_clip(name)
    module, tokenizer = load_from_hub(
        f"open_clip:{name}",
        lambda: (
            open_clip.create_model(architecture, pretrained=tag, require_pretrained=True).eval(),
            open_clip.get_tokenizer(architecture),
        ),
    )
    max_tokens = int(tokenizer.context_length)

    def count(text: str) -> int:
        # The tokenizer cuts at its limit; a limit of twice the length shows what would be cut.
        return int((tokenizer([text], context_length=2 * max_tokens) != 0).sum())

    return _text_model(
        module, max_tokens, count, lambda texts: module.encode_text(tokenizer(texts))
    )


def _required(package: str, purpose: str) -> Any:
    """Import torch and another package of the extra ``hub``; return the latter."""
    require("torch", extra="hub", purpose=purpose)
    return require(package, extra="hub", purpose=purpose)
