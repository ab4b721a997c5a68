"""From pictures to vectors with a pretrained network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from zslearn._optional import warn_renamed
from zslearn._parameters import Constraint, Either, Instance, Whole
from zslearn.encoders.base import Encoder, EncoderIdentity, encoder_of
from zslearn.encoders.pictures import Pixels
from zslearn.encoders.preprocessing import VIEWS, Preprocessing
from zslearn.encoders.registry import Vectors


class ImageEncoder(Encoder):
    """Turn pictures into vectors with a pretrained network; nothing is fitted.

    Parameters
    ----------
    model : str, default="efficientnet-lite2"
        - "efficientnet-lite0", "-lite1" or "-lite2": the weights come with the extra ``images``
          and are checked by their SHA-256; 1280 features, trained on ImageNet,
        - "onnx:FILE": any ONNX file with one input, a batch of pictures,
        - "timm:NAME", "open_clip:NAME/TAG", "hf:NAME": models of these packages, which need
          PyTorch and, the first time, a network,
        - a name that `register_encoder` was told.
    batch_size : int, default=8
        Pictures that go through the network at once; does not affect the vectors.
    n_jobs : int, optional
        Threads, each reading and encoding its own batches. By default the number set in
        `zslearn.core.threads`.
    views : {"center", "flip", "crops"}, default="center"
        Encode the middle of a picture; average it with its mirror image (twice the time); or
        average five crops and their mirror images (ten times the time).
    preprocessing : Preprocessing, optional
        How the network wants its pictures. By default what the model itself says, and for
        "onnx:FILE" what the JSON file next to it says.

    Attributes
    ----------
    identity : EncoderIdentity
        Name of the model, SHA-256 of its weights and the settings.

    See Also
    --------
    zslearn.datasets.make_shapes : Pictures to try it on.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.encoders import ImageEncoder
    >>> encoder = ImageEncoder("efficientnet-lite0")
    >>> encoder.transform([np.zeros((80, 60, 3), np.uint8), np.zeros((64, 64), np.uint8)]).shape
    (2, 1280)
    >>> print(encoder.identity)
    efficientnet-lite0 (SHA-256 579344248a93)
    """

    kind = "image"
    unit = "picture"
    parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "model": Instance(str, "the name of a model"),
        "batch_size": Whole(1),
        "n_jobs": Either(None, Whole(1)),
        "views": Either(*VIEWS),
        "preprocessing": Either(None, Instance(Preprocessing, "a Preprocessing")),
    }

    def __init__(
        self,
        model: str = "efficientnet-lite2",
        *,
        batch_size: int = 8,
        n_jobs: int | None = None,
        views: str = "center",
        preprocessing: Preprocessing | None = None,
    ) -> None:
        self.model = model
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.views = views
        self.preprocessing = preprocessing

    def transform(self, X: Any) -> Vectors:
        """Encode pictures.

        Parameters
        ----------
        X : sequence of path-like, PIL.Image.Image or ndarray, ndarray of uint8, or frame
            The pictures: files, open pictures, or pixels of shape (height, width),
            (height, width, 3) or (height, width, 4). A frame must have one column.

        Returns
        -------
        ndarray of shape (n_pictures, n_features), float32

        Raises
        ------
        InvalidInputError
            If a picture cannot be read.
        """
        return super().transform(X)

    @classmethod
    def from_identity(cls, identity: EncoderIdentity, **settings: Any) -> Encoder:
        """Return the encoder of an identity; an old name of `encoder_of`."""
        warn_renamed("ImageEncoder.from_identity", "zslearn.encoders.encoder_of")
        return encoder_of(identity, **settings)

    def encode(self, pictures: Iterable[Any]) -> Iterator[Vectors]:
        """Yield vectors; an old name of `encode_blocks`."""
        warn_renamed("ImageEncoder.encode", "ImageEncoder.encode_blocks")
        return self.encode_blocks(pictures)

    def encode_pixels(self, pictures: Sequence[Pixels]) -> Vectors:
        """Encode a few pictures; an old name of `encode_batch`."""
        warn_renamed("ImageEncoder.encode_pixels", "ImageEncoder.encode_batch")
        return self.encode_batch(pictures)

    def _prepare(self, model: Any, sample: Any) -> Any:
        return model.prepare(sample, **self._own_settings())

    def _own_settings(self) -> dict[str, Any]:
        return {} if self.views == "center" else {"views": self.views}

    def _stem(self) -> str:
        return Path(self.model.partition(":")[2] or self.model).stem + "_"
