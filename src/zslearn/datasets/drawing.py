"""Drawing one object on a background, antialiased: pictures for `make_shapes`.

A shape is a function of points, negative inside, that grows by one per unit of length near its
edge; a pixel is covered by the part of it that lies inside, which this distance gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

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
