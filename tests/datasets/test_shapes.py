"""Pictures drawn by the library: what they say they show, they show."""

import numpy as np
import pytest

from zslearn.datasets import make_shapes
from zslearn.datasets.shapes import COLORS, SHAPES, SIZES, TEXTURES, Scene, draw
from zslearn.encoders import ImageEncoder
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import PrototypeRegression


@pytest.fixture(scope="module")
def shapes():
    return make_shapes(n_per_class=6, random_state=0)


def test_the_same_seed_draws_the_same_pictures(shapes):
    again = make_shapes(n_per_class=6, random_state=0)
    assert np.array_equal(shapes.pictures, again.pictures)
    assert shapes.scenes == again.scenes
    assert not np.array_equal(shapes.pictures, make_shapes(n_per_class=6, random_state=1).pictures)


@pytest.mark.parametrize(("n_seen", "n_unseen"), [(8, 1), (8, 376), (200, 184), (30, 10)])
def test_every_attribute_is_seen_and_no_class_twice(n_seen, n_unseen):
    for seed in range(3):
        shapes = make_shapes(n_seen, n_unseen, n_per_class=1, side=16, random_state=seed)
        assert len(shapes.split.seen) == n_seen
        assert len(shapes.split.unseen) == n_unseen
        assert len(set(shapes.signatures.names)) == n_seen + n_unseen
        assert (shapes.signatures.subset(shapes.split.seen).vectors.sum(axis=0) > 0).all()
        assert (shapes.signatures.vectors.sum(axis=1) == 4).all()


def test_signatures_labels_and_scenes_agree(shapes):
    for label, scene in zip(shapes.y, shapes.scenes, strict=True):
        assert label == f"{scene.size} {scene.texture} {scene.color} {scene.shape}"
        described = {scene.size, scene.texture, scene.color, scene.shape}
        row = shapes.signatures[label]
        have = {
            name for name, value in zip(shapes.signatures.dimensions, row, strict=True) if value
        }
        assert have == described


def object_of(scene, side=64):
    """Where a picture without clutter differs from the pale gray background."""
    picture = draw(scene, side, 0, np.random.RandomState(0)).astype(float)
    return picture.max(axis=2) - picture.min(axis=2) > 60


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", SIZES)
def test_the_object_is_where_the_scene_says(shape, size):
    radius = np.mean(SIZES[size])
    left = Scene(shape, "red", "plain", size, 0.45, 0.5, radius, 0.0)
    area = object_of(left)
    rows, columns = np.nonzero(area)
    assert abs((columns.mean() + 0.5) / 64 - 0.45) < 0.03
    assert np.hypot(columns / 64 - 0.45, rows / 64 - 0.5).max() < radius * 1.2
    moved = object_of(Scene(shape, "red", "plain", size, 0.55, 0.5, radius, 0.0))
    assert moved.sum() == pytest.approx(area.sum(), rel=0.1)


def test_areas_are_those_of_geometry():
    expected = {
        "circle": np.pi,
        "ring": np.pi * (1 - 0.44**2),
        "square": (2 * 0.82) ** 2,
        "triangle": 0.75 * np.sqrt(3),
        "cross": 2 * 0.6 * 1.9 - 0.36,
        "star": 5 * 0.42 * np.sin(np.pi / 5),
    }
    for shape, area in expected.items():
        drawn = object_of(Scene(shape, "red", "plain", "large", 0.5, 0.5, 0.4, 0.2), side=256)
        assert drawn.sum() / (0.4 * 256) ** 2 == pytest.approx(area, rel=0.03), shape


def test_half_of_a_texture_is_dark():
    for texture in TEXTURES:
        scene = Scene("square", "yellow", texture, "large", 0.5, 0.5, 0.42, 0.0)
        inside = draw(scene, 256, 0, np.random.RandomState(0))[60:196, 60:196].max(axis=2)
        dark = (inside < 160).mean()
        # A dot has a radius of a quarter of the period.
        expected = {"plain": 0, "dotted": np.pi / 16}.get(texture, 0.5)
        assert dark == pytest.approx(expected, abs=0.12), texture


def test_colors_are_those_named():
    for color, rgb in COLORS.items():
        scene = Scene("circle", color, "plain", "large", 0.5, 0.5, 0.4, 0.0)
        middle = draw(scene, 64, 0, np.random.RandomState(0))[28:36, 28:36].mean(axis=(0, 1))
        cosine = middle @ rgb / np.linalg.norm(middle) / np.linalg.norm(rgb)
        assert cosine > 0.99, color


def test_edges_are_antialiased():
    scene = Scene("square", "red", "plain", "large", 0.5, 0.5, 0.4, 0.3)
    green = draw(scene, 64, 0, np.random.RandomState(0))[..., 1]
    between = ((green > 80) & (green < 140)).sum()
    assert 20 < between < 300


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_seen": 7}, "n_seen must be a whole number of at least 8"),
        ({"n_unseen": 0}, "n_unseen must be"),
        ({"n_seen": 380, "n_unseen": 5}, "there are 384 combinations"),
        ({"side": 8}, "side must be a whole number from 16 to 1024"),
        ({"clutter": -1}, "clutter must be"),
        ({"n_per_class": 1.5}, "n_per_class must be"),
    ],
)
def test_impossible_numbers_are_refused(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        make_shapes(**settings)


def test_unseen_combinations_are_recognized_from_pictures():
    shapes = make_shapes(n_per_class=6, random_state=0)
    data = shapes.with_features(ImageEncoder("efficientnet-lite0").transform(shapes.pictures))
    train, test = data.train_rows("standard"), data.test_rows("standard")
    classifier = PrototypeRegression(data.signatures).fit(data.X[train], data.y[train])
    answers = classifier.predict(data.X[test], candidates=shapes.split.unseen)
    assert np.mean(answers == data.y[test]) > 0.4  # chance is 0.1
