import math

import numpy as np
import pytest

from zslearn.cluster import dense_sift
from zslearn.exceptions import InvalidInputError


def literal_sift(gray):
    """The definition, one pixel at a time, in plain Python floats."""
    height, width = gray.shape

    def value(i, j):
        return float(gray[min(max(i, 0), height - 1), min(max(j, 0), width - 1)])

    def descriptor(i, j):
        sums = [0.0] * 128
        for r in range(8):
            for c in range(8):
                y, x = i - 4 + r, j - 4 + c
                dx = (value(y, x + 1) - value(y, x - 1)) / 2
                dy = (value(y + 1, x) - value(y - 1, x)) / 2
                angle = (math.atan2(dy, dx) % (2 * math.pi)) / (math.pi / 4)
                low = math.floor(angle)
                cell = 8 * (4 * (r // 2) + c // 2)
                length = math.hypot(dx, dy)
                sums[cell + low % 8] += length * (1 - (angle - low))
                sums[cell + (low + 1) % 8] += length * (angle - low)
        norm = math.sqrt(sum(s * s for s in sums))
        clipped = [min(s / norm, 0.2) if norm > 1e-4 else 0.0 for s in sums]
        norm = math.sqrt(sum(s * s for s in clipped)) or 1.0
        return [s / norm for s in clipped]

    return np.array([[descriptor(i, j) for j in range(width)] for i in range(height)])


@pytest.mark.parametrize("shape", [(9, 13), (1, 1), (3, 20)])
def test_sift_equals_the_definition_pixel_by_pixel(shape):
    gray = np.random.default_rng(0).random(shape)
    gray[:, : shape[1] // 2] *= 0.1
    np.testing.assert_allclose(dense_sift(gray), literal_sift(gray), atol=2e-5)


def test_sift_of_smooth_and_partly_flat_pictures_equals_the_definition():
    y, x = np.mgrid[:12, :14]
    gray = np.where(x < 7, 0.5, np.sin(x / 3.0) * np.cos(y / 5.0) / 2 + 0.5)
    np.testing.assert_allclose(dense_sift(gray), literal_sift(gray), atol=2e-5)


def test_flat_pictures_have_no_direction():
    assert not dense_sift(np.full((10, 10), 0.3)).any()


def test_descriptors_have_unit_length_and_bounded_entries():
    X = dense_sift(np.random.default_rng(1).random((20, 20)))
    np.testing.assert_allclose(np.linalg.norm(X, axis=2), 1, atol=1e-5)
    assert X.min() >= 0


def test_brightness_and_contrast_do_not_matter():
    gray = np.random.default_rng(2).random((16, 16))
    np.testing.assert_allclose(dense_sift(gray * 0.5 + 0.2), dense_sift(gray), atol=1e-4)


def test_a_quarter_turn_moves_cells_and_directions():
    gray = np.random.default_rng(3).random((20, 20))
    here = dense_sift(gray).reshape(20, 20, 4, 4, 8)
    # Patches are one pixel longer before their center, so the center moves by one under a turn.
    turned = dense_sift(np.rot90(gray)).reshape(20, 20, 4, 4, 8)
    back = np.roll(np.rot90(turned, -1, axes=(2, 3)), 2, axis=4)
    expected = np.rot90(here, axes=(0, 1))
    np.testing.assert_allclose(back[8:12, 8:12], expected[7:11, 8:12], atol=1e-4)


def test_a_mirror_image_swaps_left_and_right():
    gray = np.random.default_rng(4).random((20, 20))
    here = dense_sift(gray).reshape(20, 20, 4, 4, 8)
    mirrored = dense_sift(gray[:, ::-1]).reshape(20, 20, 4, 4, 8)[:, :, :, ::-1]
    directions = (4 - np.arange(8)) % 8
    expected = here[:, ::-1][..., directions]
    np.testing.assert_allclose(mirrored[:, 8:12], expected[:, 7:11], atol=1e-4)


def test_sift_refuses_color_pictures():
    with pytest.raises(InvalidInputError, match=r"shape \(height, width\); got shape \(4, 4, 3\)"):
        dense_sift(np.zeros((4, 4, 3)))
