"""The old name of `zslearn.encoders`, with pixel features of `zslearn.cluster`; its names warn."""

from typing import TYPE_CHECKING, Any

from zslearn._optional import moved_names, warn_renamed

if TYPE_CHECKING:
    from zslearn.encoders import Encoder, EncoderIdentity

__getattr__, __dir__ = moved_names(
    __name__,
    {
        "EncoderIdentity": "zslearn.encoders.EncoderIdentity",
        "FeatureStore": "zslearn.encoders.FeatureStore",
        "ImageEncoder": "zslearn.encoders.ImageEncoder",
        "PIXEL_FEATURES": "zslearn.cluster.PIXEL_FEATURES",
        "Picture": "zslearn.encoders.Picture",
        "PictureStore": "zslearn.encoders.PictureStore",
        "PixelStore": "zslearn.cluster.PixelStore",
        "Preprocessing": "zslearn.encoders.Preprocessing",
        "dense_sift": "zslearn.cluster.dense_sift",
        "extract_features": "zslearn.encoders.extract_features",
        "extract_pixel_features": "zslearn.cluster.extract_pixel_features",
        "find_pictures": "zslearn.encoders.find_pictures",
        "is_picture_store": "zslearn.encoders.is_picture_store",
        "known_encoder": "zslearn.encoders.encoder_of_model",
        "patch_means": "zslearn.cluster.patch_means",
        "pixel_features": "zslearn.cluster.pixel_features",
        "remember_encoder": "zslearn.encoders.remember_encoder",
        "rgb_to_lab": "zslearn.cluster.rgb_to_lab",
        "write_store": "zslearn.encoders.write_store",
    },
)


def check_encoder(model: Any, identity: "EncoderIdentity", path: str) -> None:
    """Refuse vectors of another encoder than the model's; now `EncoderIdentity.check`."""
    from zslearn.encoders import encoder_of_model

    warn_renamed("zslearn.features.check_encoder", "EncoderIdentity.check")
    known = encoder_of_model(model)
    if known is not None:
        known.check(identity, path)


def load_encoder(model: Any, path: str) -> "Encoder":
    """Open the encoder a model was trained with; now `zslearn.encoders.encoder_of`."""
    from zslearn.encoders import encoder_of, encoder_of_model
    from zslearn.exceptions import InvalidInputError

    warn_renamed("zslearn.features.load_encoder", "zslearn.encoders.encoder_of")
    known = encoder_of_model(model)
    if known is None:
        raise InvalidInputError(f"the model {path} was not trained on pictures.")
    return encoder_of(known)
