"""The old name of `zslearn.encoders`, with pixel features of `zslearn.cluster`; its names warn."""

from pathlib import Path
from typing import Any

from zslearn import encoders
from zslearn._optional import moved_names
from zslearn.exceptions import InvalidInputError


def _check_encoder(model: Any, identity: encoders.EncoderIdentity, path: str) -> None:
    known = encoders.encoder_of_model(model)
    if known is not None:
        known.check(identity, path)


def _load_encoder(model: Any, path: str) -> encoders.Encoder:
    known = encoders.encoder_of_model(model)
    if known is None:
        raise InvalidInputError(f"the model {path} was not trained on pictures.")
    return encoders.encoder_of(known)


def _picture(path: Path, name: str, label: str | None = None) -> encoders.Sample:
    return encoders.Sample(name, path, label)


class _PictureStore(encoders.Store):
    """A store with the attributes it had before there were texts."""

    @property
    def sha256(self) -> tuple[str, ...]:
        return self.samples.sha256


class _FeatureStore(encoders.Store):
    """A store whose classes are its names, as they were called."""

    @property
    def names(self) -> Any:
        return self.classes


# What has changed its form: the new name, and what does for the old one.
_CHANGED: dict[str, tuple[str, Any]] = {
    "FeatureStore": ("zslearn.encoders.Store", _FeatureStore),
    "Picture": ("zslearn.encoders.Sample", _picture),
    "PictureStore": ("zslearn.encoders.Store", _PictureStore),
    "check_encoder": ("EncoderIdentity.check", _check_encoder),
    "load_encoder": ("zslearn.encoders.encoder_of", _load_encoder),
}
__getattr__, __dir__ = moved_names(
    __name__,
    {
        "EncoderIdentity": "zslearn.encoders.EncoderIdentity",
        "ImageEncoder": "zslearn.encoders.ImageEncoder",
        "PIXEL_FEATURES": "zslearn.cluster.PIXEL_FEATURES",
        "PixelStore": "zslearn.cluster.PixelStore",
        "Preprocessing": "zslearn.encoders.Preprocessing",
        "dense_sift": "zslearn.cluster.dense_sift",
        "extract_features": "zslearn.encoders.build_store",
        "extract_pixel_features": "zslearn.cluster.extract_pixel_features",
        "find_pictures": "zslearn.encoders.find_pictures",
        "is_picture_store": "zslearn.encoders.is_store",
        "known_encoder": "zslearn.encoders.encoder_of_model",
        "patch_means": "zslearn.cluster.patch_means",
        "pixel_features": "zslearn.cluster.pixel_features",
        "remember_encoder": "zslearn.encoders.remember_encoder",
        "rgb_to_lab": "zslearn.cluster.rgb_to_lab",
        "write_store": "zslearn.encoders.write_store",
    },
    _CHANGED,
)
