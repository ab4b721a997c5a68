"""From pictures to vectors with a pretrained network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from zslearn._parameters import Constraint, Either, Instance, Whole, check_parameters
from zslearn.core.threads import map_in_order, n_threads
from zslearn.encoders.identity import EncoderIdentity
from zslearn.encoders.image_models import ImageModel, open_image_model
from zslearn.encoders.pictures import Pixels, as_rgb
from zslearn.encoders.preprocessing import VIEWS, Preprocessing
from zslearn.exceptions import InvalidInputError, InvalidTypeError


class ImageEncoder(TransformerMixin, BaseEstimator):
    """Turn pictures into vectors with a pretrained network; nothing is fitted.

    Parameters
    ----------
    model : str, default="efficientnet-lite2"
        - "efficientnet-lite0", "-lite1" or "-lite2": the weights come with the extra ``images``
          and are checked by their SHA-256; 1280 features, trained on ImageNet,
        - "onnx:FILE": any ONNX file with one input, a batch of pictures,
        - "timm:NAME", "open_clip:NAME/TAG", "hf:NAME": models of these packages, which need
          PyTorch and, the first time, a network.
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        return tags

    @property
    def identity(self) -> EncoderIdentity:
        """Name of the model, SHA-256 of its weights and the settings."""
        model = self._opened()
        settings: dict[str, Any] = {"preprocessing": model.preprocessing.as_dict()}
        if self.views != "center":
            settings["views"] = self.views
        return EncoderIdentity(self.model, model.sha256, settings)

    @property
    def n_features(self) -> int:
        """Length of a vector."""
        return self._opened().n_features

    def fit(self, X: Any = None, y: Any = None) -> ImageEncoder:
        """Check the parameters and open the model; there is nothing to learn."""
        self._opened()
        return self

    def transform(self, X: Sequence[Any]) -> NDArray[np.float32]:
        """Encode pictures.

        Parameters
        ----------
        X : sequence of path-like, PIL.Image.Image or ndarray, or ndarray of uint8
            The pictures: files, open pictures, or pixels of shape (height, width),
            (height, width, 3) or (height, width, 4).

        Returns
        -------
        ndarray of shape (n_pictures, n_features), float32

        Raises
        ------
        InvalidInputError
            If a picture cannot be read.
        """
        _check_several(X)
        vectors = np.empty((len(X), self.n_features), np.float32)
        start = 0
        for batch in self.encode(X):
            vectors[start : start + len(batch)] = batch
            start += len(batch)
        return vectors

    def encode(self, pictures: Iterable[Any]) -> Iterator[NDArray[np.float32]]:
        """Yield the vectors of pictures batch by batch, for any number of them.

        Parameters
        ----------
        pictures : iterable
            As `transform` takes them; read as it goes, a few batches ahead.

        Yields
        ------
        ndarray of shape (at most batch_size, n_features), float32
        """
        model = self._opened()

        def work(batch: list[Any]) -> NDArray[np.float32]:
            return encode_pixels(model, [as_rgb(picture) for picture in batch], self.views)

        batches = _batches(pictures, self.batch_size)
        return map_in_order(work, batches, self.n_jobs or n_threads())

    def encode_pixels(self, pictures: Sequence[Pixels]) -> NDArray[np.float32]:
        """Encode a few pictures that are RGB arrays already, in this thread."""
        return encode_pixels(self._opened(), pictures, self.views)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features: the model's name and a number.

        Parameters
        ----------
        input_features : None
            Ignored; a picture has no named features.

        Returns
        -------
        ndarray of str of shape (n_features,)
        """
        stem = Path(self.model.partition(":")[2] or self.model).stem
        return np.array([f"{stem}_{i}" for i in range(self.n_features)], dtype=object)

    @classmethod
    def from_identity(cls, identity: EncoderIdentity, **settings: Any) -> ImageEncoder:
        """Return the encoder of an identity, if its weights are still the same.

        Parameters
        ----------
        identity : EncoderIdentity
            Identity of the encoder wanted.
        **settings : object
            `batch_size` and `n_jobs`.

        Returns
        -------
        ImageEncoder

        Raises
        ------
        InvalidInputError
            If the model of that name has other weights now.
        """
        preprocessing = Preprocessing.from_dict(identity.settings.get("preprocessing", {}))
        views = identity.settings.get("views", "center")
        encoder = cls(identity.model, views=views, preprocessing=preprocessing, **settings)
        if not encoder.identity.matches(identity):
            raise InvalidInputError(
                f"the encoder {identity} is needed; here the model of that name is "
                f"{encoder.identity}. Install the one that was used."
            )
        return encoder

    def _opened(self) -> ImageModel:
        check_parameters(self)
        return _open_once(self.model, self.preprocessing, _file_state(self.model))


def encode_pixels(model: ImageModel, pictures: Sequence[Pixels], views: str) -> NDArray[np.float32]:
    """Return the vectors of RGB arrays, averaged over their views."""
    prepared = [model.preprocessing(pixels, views) for pixels in pictures]
    vectors = model.run(np.concatenate(prepared))
    return vectors.reshape(len(pictures), -1, model.n_features).mean(axis=1, dtype=np.float32)


@lru_cache(maxsize=4)
def _open_once(model: str, preprocessing: Preprocessing | None, _: object) -> ImageModel:
    return open_image_model(model, preprocessing)


def _file_state(model: str) -> tuple[tuple[int, int], ...] | None:
    """Return what changes when the files of an ONNX model do."""
    kind, _, path = model.partition(":")
    if kind != "onnx" or not path:
        return None
    files = [file for file in (Path(path), Path(path).with_suffix(".json")) if file.is_file()]
    return tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files)


def _batches(pictures: Iterable[Any], size: int) -> Iterator[list[Any]]:
    source = iter(pictures)
    while batch := list(islice(source, size)):
        yield batch


def _check_several(X: Any) -> None:
    """Refuse a single picture in place of a list, and an empty list."""
    if isinstance(X, (str, Path)) or not hasattr(X, "__len__"):
        raise InvalidTypeError(
            f"pictures must come as a list; got {type(X).__name__}. Put a single one into a list."
        )
    if not len(X):
        raise InvalidInputError("there are no pictures to encode.")
