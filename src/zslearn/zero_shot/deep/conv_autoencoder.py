"""The semantic autoencoder end to end, from pictures to attributes and back to pictures."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._declared import fitted, parameter
from zslearn._parameters import Constraint, Either, Number, Numbers, Whole, check_parameters
from zslearn.core.fitting import all_or_nothing
from zslearn.core.nearest import Targets
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.base import Features, ZeroShotMethod, dense
from zslearn.zero_shot.deep.base import DeepClassifier
from zslearn.zero_shot.deep.conv_forward import decoded_pictures, encoded_pictures
from zslearn.zero_shot.deep.conv_pictures import as_pictures
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
    n_free : int, default=16
        Length of the free part; 0 leaves the reconstruction to the signature alone, as in the
        paper.
    n_epochs : int or "cv", default=40
        Passes over the pictures; "cv" chooses 10, 20, 40 or 80 on one part of the seen classes,
        held out.
    classify_weight, reconstruct_weight : float, default=1.0
        Weights of the second and third term.
    learning_rate, weight_decay : float, default=3e-3 and 1e-3
        Of AdamW; the rate rises and falls once.
    batch_size : int, default=64
        Pictures in a batch.
    signature_norm : {"l2", None}, default="l2"
        Scale every signature to unit length.
    cv : int, default=5
        One of this many parts of the seen classes is held out for ``n_epochs="cv"``.
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
    >>> clf = ConvSemanticAutoencoder(shapes.signatures, channels=(8, 16), n_epochs=2)
    >>> clf = clf.fit(shapes.pictures[rows], shapes.y[rows])
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
    n_free: int = parameter(default=16, allowed=Whole(0))
    n_epochs: int | str = parameter(default=40, allowed=Either("cv", Whole(1)))
    classify_weight: float = parameter(default=1.0, allowed=Number(least=0))
    reconstruct_weight: float = parameter(default=1.0, allowed=Number(least=0))
    learning_rate: float = parameter(default=3e-3, allowed=Number(above=0))
    weight_decay: float = parameter(default=1e-3, allowed=Number(least=0))
    batch_size: int = parameter(default=64, allowed=Whole(2))
    feature_norm: str | None = parameter(default=None, init=False)
    signature_norm: str | None = parameter(default="l2")
    cv: int = parameter(default=5, allowed=Whole(2))
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
        rest = np.zeros((len(said), self.n_free)) if free is None else np.asarray(free)
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
            from zslearn.zero_shot.deep.conv_trunk import identity_of, maps_of

            self.trunk_sha256_, maps = identity_of(self.trunk), maps_of(self.trunk, maps)
        self.map_shape_ = maps.shape[1:]
        return maps

    def _chosen_epochs(self, maps: NDArray, y: NDArray[np.intp], device: Any) -> int:
        """Choose the number of epochs on one part of the classes."""
        points = grid_points(self, {"n_epochs": EPOCHS})

        def judge(fold: Fold) -> list[float]:
            new = Targets.of(self._scaled(self.seen_signatures_[fold.new]), "euclidean")
            reached = []
            for point in points:
                weights, _ = self._trained(maps, y, fold.train, point["n_epochs"], device)
                codes = encoded_pictures(weights, maps[fold.held_out])
                scores = new.scores(codes[:, : len(self.signature_mean_)])
                reached.append(held_out_accuracy(scores, fold.y_held_out))
            return reached

        folds = unseen_class_folds(self, y)[:1]
        default = points[-1] if len(points) == 1 else {"n_epochs": 40}
        return int(choose_parameters(self, points, folds, judge, default=default)["n_epochs"])

    def _trained(
        self, maps: NDArray, y: NDArray[np.intp], rows: NDArray, epochs: int, device: Any
    ) -> tuple[dict[str, NDArray], list[float]]:
        """Train on some of the pictures, whose classes are numbered anew."""
        from zslearn.zero_shot.deep.conv_training import ConvRecipe, train_pictures
        from zslearn.zero_shot.deep.training import Course, steps_of

        classes, numbers = np.unique(y[rows], return_inverse=True)
        size = min(self.batch_size, len(rows))
        label = f"{type(self).__name__}, {epochs} epochs"
        n_steps = steps_of(epochs, len(rows), size)
        recipe = ConvRecipe(
            channels=self._layers(),
            trunk=self.trunk is not None,
            n_free=self.n_free,
            classify=self.classify_weight,
            reconstruct=self.reconstruct_weight,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            course=Course(n_steps, size, (), label, self.verbose > 1),
        )
        S = self._scaled(self.seen_signatures_[classes])
        return train_pictures(maps[rows], numbers, S, recipe, device, self.random_state)

    def _layers(self) -> tuple[int, ...]:
        default = CHANNELS if self.trunk is None else TRUNK_CHANNELS
        return tuple(int(one) for one in (default if self.channels is None else self.channels))

    def _work(self, X: Features) -> float:
        return 100.0 * self.batch_size * self.n_features_in_ * float(max(self._layers()))

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
        from zslearn.zero_shot.deep.conv_trunk import check_identity, maps_of

        check_identity(self.trunk, self.trunk_sha256_)
        return maps_of(self.trunk, pictures, self.map_shape_)

    def _decoded(self, codes: NDArray) -> NDArray:
        return decoded_pictures(self.parameters_, codes.astype(np.float32), self.map_shape_[:2])

    def _scaled(self, S: NDArray) -> NDArray:
        return (S - self.signature_mean_) * self.signature_scale_
