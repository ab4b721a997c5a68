"""The old name of `zslearn.encoders`, with pixel features of `zslearn.cluster`; its names warn."""

from zslearn._optional import moved_names

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
        "check_encoder": "zslearn.encoders.check_encoder",
        "dense_sift": "zslearn.cluster.dense_sift",
        "extract_features": "zslearn.encoders.extract_features",
        "extract_pixel_features": "zslearn.cluster.extract_pixel_features",
        "find_pictures": "zslearn.encoders.find_pictures",
        "is_picture_store": "zslearn.encoders.is_picture_store",
        "known_encoder": "zslearn.encoders.known_encoder",
        "load_encoder": "zslearn.encoders.load_encoder",
        "patch_means": "zslearn.cluster.patch_means",
        "pixel_features": "zslearn.cluster.pixel_features",
        "remember_encoder": "zslearn.encoders.remember_encoder",
        "rgb_to_lab": "zslearn.cluster.rgb_to_lab",
        "write_store": "zslearn.encoders.write_store",
    },
)
