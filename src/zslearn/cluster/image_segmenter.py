"""Separate the foreground of pictures by supervised clustering of their pixels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from zslearn._declared import Declared, fitted, parameter
from zslearn._parameters import Constraint, Either, Whole, check_parameters
from zslearn.cluster.base import MomentMapping, Statistics
from zslearn.cluster.kmeans import two_means
from zslearn.cluster.pixels import pixel_features
from zslearn.cluster.sae import SAEMapping
from zslearn.core.fitting import all_or_nothing
from zslearn.encoders.pictures import nearest_scaled, scaled, scaled_width
from zslearn.exceptions import InvalidInputError


def _maps_pixels(mapping: Any) -> bool:
    """Say whether a mapping is learned from moments alone and maps every pixel by itself."""
    return (
        isinstance(mapping, MomentMapping)
        and getattr(mapping, "lam", None) != "cv"
        and not mapping.is_transductive
    )


PIXEL_MAPPING = Constraint(
    "a mapping of zslearn.cluster that is learned from moments and maps single pixels, with lam as "
    "a number, such as SAEMapping(100.0) or MLCA()",
    _maps_pixels,
)
FOREGROUND, BACKGROUND, UNDEFINED = 1, 0, -1


class ImageSegmenter(Declared, BaseEstimator):
    """Learn foreground and background from pictures with masks; segment new pictures.

    Every pixel is described by `zslearn.cluster.pixel_features`, standardized on the training
    pixels and mapped to a code; the codes of a new picture are split by 2-means, and the half
    whose mean lies further in the direction from background to foreground is the foreground. A
    picture is always split, even if it holds no foreground at all.

    Parameters
    ----------
    mapping : LinearMapping, optional
        What to learn from the standardized pixels; by default ``SAEMapping(100.0)``. Any mapping
        of `zslearn.cluster` that is learned from moments works.
    height : int, default=100
        Height in rows to which pictures are scaled before their pixels are described.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, 135)
        The map from pixel features to codes, standardization included.
    direction_ : ndarray of shape (n_components,)
        From the mean code of background pixels to that of foreground pixels.
    n_images_, n_pixels_ : int
        How many pictures and pixels it was learned from.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.cluster import ImageSegmenter
    >>> rng = np.random.default_rng(0)
    >>> mask = np.zeros((30, 30), dtype=int)
    >>> mask[8:22, 8:22] = 1
    >>> colors = np.array([[40, 120, 40], [220, 60, 60]])
    >>> image = (colors[mask] + rng.integers(-20, 20, (30, 30, 3))).astype(np.uint8)
    >>> model = ImageSegmenter(height=30).fit([image], [mask])
    >>> round(float((model.predict(image) == mask).mean()), 1)
    1.0
    """

    mapping: MomentMapping | None = parameter(
        default=None, allowed=Either(None, PIXEL_MAPPING), kw_only=False
    )
    height: int = parameter(default=100, allowed=Whole(1))
    coef_: NDArray = fitted("p 135")
    direction_: NDArray = fitted("p")

    @all_or_nothing
    def fit(self, images: Iterable[ArrayLike], masks: Iterable[ArrayLike]) -> Self:
        """Learn from pictures and their masks, one at a time, so generators work too.

        Parameters
        ----------
        images : iterable of array-likes of shape (height, width, 3), uint8
            Pictures, of any size.
        masks : iterable of array-likes of shape (height, width)
            1 foreground, 0 background, -1 pixels to leave out.

        Returns
        -------
        self
        """
        mapping = self._fresh_mapping()
        total: Statistics | None = None
        self.n_images_ = 0
        for image, mask in zip(images, masks, strict=True):
            X, y = self._rows(np.asarray(image), np.asarray(mask))
            self.n_images_ += 1
            if len(y):
                part = Statistics.of(X, y, by_class=True)
                total = part if total is None else total + part
        return self._learn(mapping, total)

    def predict(self, image: ArrayLike) -> NDArray[np.bool_]:
        """Segment one picture.

        Parameters
        ----------
        image : array-like of shape (height, width, 3), uint8
            Picture, of any size.

        Returns
        -------
        ndarray of shape (height, width), bool
            True where the foreground is.
        """
        check_is_fitted(self, "coef_")
        picture = _checked_picture(np.asarray(image))
        size = self._working_size(picture)
        X = pixel_features(scaled(picture, size))
        # k-means ignores a shift; about the mean, float32 codes keep their digits.
        codes = (X - X.mean(axis=0)) @ self.coef_.T.astype(np.float32)
        return nearest_scaled(self._foreground(codes).reshape(size), picture.shape[:2])

    def _foreground(self, codes: NDArray) -> NDArray[np.bool_]:
        if len(codes) < 2:
            raise InvalidInputError("a picture of one pixel cannot be split into two parts.")
        with threadpool_limits(1):
            upper = two_means(codes, restarts=0, rng=check_random_state(0)).astype(bool)
        if upper.all() or not upper.any():
            return np.zeros(len(codes), dtype=bool)
        step = (codes[upper].mean(axis=0) - codes[~upper].mean(axis=0)) @ self.direction_
        return upper if step > 0 else ~upper

    def _rows(self, image: NDArray, mask: NDArray) -> tuple[NDArray, NDArray]:
        """Features and labels of the pixels to use from one training picture."""
        picture = _checked_picture(image)
        if mask.shape != picture.shape[:2]:
            raise InvalidInputError(
                f"the mask of picture {self.n_images_} has shape {mask.shape}, the picture "
                f"{picture.shape[:2]}. Make them the same size."
            )
        if not np.isin(mask, (FOREGROUND, BACKGROUND, UNDEFINED)).all():
            raise InvalidInputError(
                f"masks hold only 1, 0 and -1; the mask of picture {self.n_images_} has other "
                "values. `zslearn.datasets.load_segmentation` decodes colored masks."
            )
        size = self._working_size(picture)
        y = nearest_scaled(mask.astype(np.int8), size).ravel()
        return pixel_features(scaled(picture, size))[y >= 0], y[y >= 0]

    def _learn(self, mapping: MomentMapping, total: Statistics | None) -> Self:
        if total is None or len(total.classes) < 2:
            raise InvalidInputError(
                f"the masks of {self.n_images_} picture(s) do not hold both foreground and "
                "background; there is nothing to separate."
            )
        standard = total.standardized(total.total.mean, total.spread)
        self.mapping_ = mapping.learn(standard)
        self.coef_ = self.mapping_.coef_ / total.spread
        background, foreground = total.total.class_means
        self.direction_ = self.coef_ @ (foreground - background)
        self.n_pixels_ = int(total.total.n_samples)
        return self

    def _working_size(self, picture: NDArray) -> tuple[int, int]:
        rows, columns = picture.shape[:2]
        return int(self.height), scaled_width((columns, rows), int(self.height))

    def _fresh_mapping(self) -> MomentMapping:
        check_parameters(self)
        return SAEMapping(100.0) if self.mapping is None else clone(self.mapping)


def _checked_picture(image: NDArray) -> NDArray[np.uint8]:
    if image.ndim != 3 or image.shape[2] != 3 or image.size == 0 or image.dtype != np.uint8:
        raise InvalidInputError(
            "a picture must have shape (height, width, 3) and 8-bit values (uint8); got shape "
            f"{image.shape}, {image.dtype}."
        )
    return image
