"""Pictures drawn by the library: colored shapes whose attributes are known exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from zslearn._parameters import Either, Instance, Seed, Whole, check_value
from zslearn.datasets.dataset import ClassSplit, ZeroShotDataset
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures

Array = NDArray[np.float64]

COLORS = {
    "red": (214, 48, 49),
    "orange": (240, 147, 43),
    "yellow": (246, 214, 60),
    "green": (52, 168, 83),
    "blue": (52, 106, 219),
    "purple": (142, 68, 173),
    "pink": (244, 143, 190),
    "brown": (125, 82, 51),
}
TEXTURES = ("plain", "striped", "dotted", "checkered")
SIZES = {"small": (0.2, 0.25), "large": (0.36, 0.42)}  # radius, as a part of the picture's side
_CLUTTER_RADIUS = 0.03, 0.06


@dataclass(frozen=True)
class Scene:
    """What a picture shows.

    Attributes
    ----------
    shape, color, texture, size : str
        The object.
    x, y : float
        Its center, as a part of the picture's width and height.
    radius : float
        As a part of the picture's side.
    angle : float
        Rotation in radians.
    """

    shape: str
    color: str
    texture: str
    size: str
    x: float
    y: float
    radius: float
    angle: float


def place(shape: str, color: str, texture: str, size: str, rng: RandomState) -> Scene:
    """Place an object where it fits completely, turned by less than a quarter."""
    radius = rng.uniform(*SIZES[size])
    x, y = rng.uniform(radius, 1 - radius, 2)
    return Scene(shape, color, texture, size, x, y, radius, rng.uniform(-0.35, 0.35))


def draw(scene: Scene, side: int, clutter: int, rng: RandomState) -> NDArray[np.uint8]:
    """Draw a scene on a random background with `clutter` small gray marks.

    Returns
    -------
    ndarray of shape (side, side, 3), uint8
    """
    across = (np.arange(side) + 0.5) / side
    x, y = np.meshgrid(across, across)
    canvas = _background(x, y, rng)
    for _ in range(clutter):
        _add_mark(canvas, x, y, side, rng)
    u, v = _turned((x - scene.x) / scene.radius, (y - scene.y) / scene.radius, scene.angle)
    cover = _coverage(SHAPES[scene.shape](u, v), scene.radius * side)
    light = np.array(COLORS[scene.color]) * rng.uniform(0.85, 1.1)
    dark = _texture(scene.texture, u, v, scene.radius * side)[..., None]
    paint = light * (1 - 0.62 * dark)
    canvas += cover[..., None] * (paint - canvas)
    canvas += rng.normal(0, 3, canvas.shape)
    return np.clip(np.round(canvas), 0, 255).astype(np.uint8)


def _background(x: Array, y: Array, rng: RandomState) -> Array:
    """Return a pale gray that changes slowly across the picture, with a hint of color."""
    first, second = rng.uniform(150, 240, (2, 1)) + rng.uniform(-12, 12, (2, 3))
    direction = rng.uniform(0, 2 * np.pi)
    t = 0.5 + 0.7 * (np.cos(direction) * (x - 0.5) + np.sin(direction) * (y - 0.5))
    canvas: Array = first + t[..., None] * (second - first)
    return canvas


def _add_mark(canvas: Array, x: Array, y: Array, side: int, rng: RandomState) -> None:
    """Draw a small gray disk or bar anywhere."""
    radius = rng.uniform(*_CLUTTER_RADIUS)
    left, top = rng.uniform(0, 1, 2)
    near = _window(top, radius, side), _window(left, radius, side)
    u, v = _turned((x[near] - left) / radius, (y[near] - top) / radius, rng.uniform(0, np.pi))
    outline = [_circle, _bar][rng.randint(2)]
    cover = _coverage(outline(u, v), radius * side)
    canvas[near] += cover[..., None] * (rng.uniform(90, 140) - canvas[near])


def _window(center: float, radius: float, side: int) -> slice:
    """Return the rows or columns a small mark can touch."""
    reach = 1.2 * radius
    return slice(max(int((center - reach) * side) - 1, 0), int((center + reach) * side) + 2)


def _coverage(distance: Array, pixels: float) -> Array:
    """Return the part of each pixel inside; `pixels` is the number of them per unit of length."""
    return np.clip(0.5 - distance * pixels, 0, 1)


def _turned(x: Array, y: Array, angle: float) -> tuple[Array, Array]:
    cosine, sine = np.cos(angle), np.sin(angle)
    return cosine * x + sine * y, cosine * y - sine * x


def _texture(name: str, u: Array, v: Array, pixels: float) -> Array:
    """Return how dark each point is, from 0 to 1, with soft edges of a pixel's width."""
    period = 2 / 3  # three stripes, rows of dots or squares across the object
    if name == "plain":
        return np.zeros_like(u)
    if name == "striped":
        return _coverage(np.abs(_wave(v, period)) - period / 4, pixels)
    if name == "dotted":
        distance = np.hypot(_wave(u, period), _wave(v, period))
        return _coverage(distance - period / 4, pixels)
    stripes = [0.5 - _coverage(np.abs(_wave(t, period)) - period / 4, pixels) for t in (u, v)]
    return 0.5 - 2 * stripes[0] * stripes[1]


def _wave(t: Array, period: float) -> Array:
    """Return the signed distance to the nearest multiple of the period."""
    return t - period * np.round(t / period)


def _circle(u: Array, v: Array) -> Array:
    return np.hypot(u, v) - 1


def _ring(u: Array, v: Array) -> Array:
    return np.abs(np.hypot(u, v) - 0.72) - 0.28


def _square(u: Array, v: Array) -> Array:
    return np.maximum(np.abs(u), np.abs(v)) - 0.82


def _triangle(u: Array, v: Array) -> Array:
    return np.maximum(np.abs(u) * np.sqrt(3) / 2 - v / 2, v) - 0.5


def _cross(u: Array, v: Array) -> Array:
    u, v = np.abs(u), np.abs(v)
    upright, level = np.maximum(u - 0.3, v - 0.95), np.maximum(u - 0.95, v - 0.3)
    return np.minimum(upright, level)


def _star(u: Array, v: Array) -> Array:
    """Five points: the edge from (1, 0°) to (0.42, 36°), mirrored and turned."""
    fifth = 2 * np.pi / 5
    angle = np.abs(_wave(np.arctan2(u, -v), fifth))
    radius = np.hypot(u, v)
    inner = 0.42 * np.array([np.cos(fifth / 2), np.sin(fifth / 2)])
    along = inner - [1, 0]
    normal = np.array([along[1], -along[0]]) / np.hypot(*along)
    distance: Array = (radius * np.cos(angle) - 1) * normal[0] + radius * np.sin(angle) * normal[1]
    return distance


def _bar(u: Array, v: Array) -> Array:
    return np.maximum(np.abs(u) - 1, np.abs(v) - 0.35)


SHAPES: dict[str, Callable[[Array, Array], Array]] = {
    "circle": _circle,
    "ring": _ring,
    "square": _square,
    "triangle": _triangle,
    "cross": _cross,
    "star": _star,
}


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
