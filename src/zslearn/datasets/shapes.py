"""Pictures drawn by the library: colored shapes whose attributes are known exactly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from zslearn._parameters import Either, Instance, Seed, Whole, check_value
from zslearn.datasets.class_split import ClassSplit
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.datasets.drawing import COLORS, SHAPES, SIZES, TEXTURES, Scene, draw, place
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures

Kind = tuple[str, str, str, str]
_GROUPS: tuple[tuple[str, ...], ...] = (tuple(SHAPES), tuple(COLORS), TEXTURES, tuple(SIZES))
_DIMENSIONS = tuple(value for group in _GROUPS for value in group)
_KINDS: list[Kind] = list(product(SHAPES, COLORS, TEXTURES, SIZES))
# Every value of every attribute must be seen, and there are eight colors.
_FEWEST_SEEN = max(map(len, _GROUPS))


@dataclass(frozen=True, eq=False)
class ShapesData:
    """Pictures of shapes, their classes and what they show.

    Attributes
    ----------
    pictures : ndarray of shape (n_pictures, side, side, 3), uint8
        The pictures.
    y : ndarray of str of shape (n_pictures,)
        Class of each, for example "large striped red star".
    signatures : Signatures
        20 attributes for each class: 1 where the class has it, else 0.
    split : ClassSplit
        Seen and unseen classes.
    scenes : tuple of Scene
        What each picture shows, and where.
    """

    pictures: NDArray[np.uint8]
    y: NDArray[np.str_]
    signatures: Signatures
    split: ClassSplit
    scenes: tuple[Scene, ...]

    def with_features(self, X: ArrayLike, features: str = "") -> ZeroShotDataset:
        """Return the data set whose features were computed from the pictures.

        Parameters
        ----------
        X : array-like of shape (n_pictures, n_features)
            Features, one row per picture.
        features : str, default=""
            What they are.

        Returns
        -------
        ZeroShotDataset
            With the semantic space "attributes" and the split "standard".
        """
        return ZeroShotDataset(
            name="shapes",
            X=np.asarray(X),
            y=self.y,
            semantics={"attributes": self.signatures},
            splits={"standard": self.split},
            features=features,
            source="drawn by make_shapes",
        )


def make_shapes(
    n_seen: int = 30,
    n_unseen: int = 10,
    *,
    n_per_class: int = 20,
    side: int = 64,
    clutter: int = 4,
    random_state: int | RandomState | None = None,
) -> ShapesData:
    """Draw pictures of colored, textured shapes; classes are combinations, some of them unseen.

    A class is a shape (circle, ring, square, triangle, cross, star), a color (eight), a texture
    (plain, striped, dotted, checkered) and a size (small, large): 384 combinations. Where the
    object is, how it is turned, the background, the light and small gray marks are random.
    Every attribute of an unseen class is seen in other classes.

    Parameters
    ----------
    n_seen, n_unseen : int, default=30 and 10
        Number of classes; at least 8 seen ones, 384 in all at most.
    n_per_class : int, default=20
        Pictures of each class.
    side : int, default=64
        Height and width of a picture.
    clutter : int, default=4
        Gray marks in each picture, behind the object.
    random_state : int, RandomState instance or None, default=None
        Seed; give an integer for the same pictures in every call.

    Returns
    -------
    ShapesData
        Pictures, labels, signatures, the split and what each picture shows.

    Examples
    --------
    >>> from zslearn.datasets import make_shapes
    >>> shapes = make_shapes(n_per_class=2, random_state=0)
    >>> shapes.pictures.shape, shapes.signatures.vectors.shape
    ((80, 64, 64, 3), (40, 20))
    >>> shapes.split.unseen[0]
    np.str_('small dotted orange star')
    """
    _check(n_seen, n_unseen, n_per_class, side, clutter, random_state)
    rng = check_random_state(random_state)
    seen, unseen = _choose(n_seen, n_unseen, rng)
    kinds = seen + unseen
    scenes = tuple(place(*kind, rng) for kind in kinds for _ in range(n_per_class))
    pictures = np.stack([draw(scene, side, clutter, rng) for scene in scenes])
    names = np.array([_name(kind) for kind in kinds])
    vectors = np.array([[float(value in kind) for value in _DIMENSIONS] for kind in kinds])
    return ShapesData(
        pictures=pictures,
        y=np.repeat(names, n_per_class),
        signatures=Signatures(names, vectors, _DIMENSIONS),
        split=ClassSplit(names[:n_seen], names[n_seen:]),
        scenes=scenes,
    )


def _choose(n_seen: int, n_unseen: int, rng: RandomState) -> tuple[list[Kind], list[Kind]]:
    """Choose combinations so that the first of the seen ones show every value at least once."""
    columns = [rng.permutation(_repeated(group)) for group in _GROUPS]
    covering: list[Any] = list(dict.fromkeys(zip(*(map(str, c) for c in columns), strict=True)))
    rest = [kind for kind in _KINDS if kind not in set(covering)]
    others = [rest[i] for i in rng.permutation(len(rest))]
    chosen = covering + others
    return chosen[:n_seen], chosen[n_seen : n_seen + n_unseen]


def _repeated(group: tuple[str, ...]) -> list[str]:
    """Repeat the values of an attribute until there are as many as of the longest."""
    return [group[i % len(group)] for i in range(_FEWEST_SEEN)]


def _name(kind: Kind) -> str:
    shape, color, texture, size = kind
    return f"{size} {texture} {color} {shape}"


def _check(
    n_seen: int, n_unseen: int, n_per_class: int, side: int, clutter: int, seed: object
) -> None:
    check_value("n_seen", n_seen, Whole(_FEWEST_SEEN))
    check_value("n_unseen", n_unseen, Whole(1))
    check_value("n_per_class", n_per_class, Whole(1))
    check_value("side", side, Whole(16, 1024))
    check_value("clutter", clutter, Whole(0))
    check_value("random_state", seed, Either(Seed(), Instance(RandomState, "a RandomState")))
    if n_seen + n_unseen > len(_KINDS):
        raise InvalidInputError(
            f"there are {len(_KINDS)} combinations of shape, color, texture and size; got "
            f"n_seen={n_seen} and n_unseen={n_unseen}."
        )
