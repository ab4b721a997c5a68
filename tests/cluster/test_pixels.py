import numpy as np
import pytest

from zslearn.cluster import PIXEL_FEATURES, patch_means, pixel_features, rgb_to_lab
from zslearn.exceptions import InvalidInputError

# L*a*b* of sRGB colors under D65, as published in color conversion tables (two decimals).
KNOWN_LAB = {
    (0, 0, 0): (0.0, 0.0, 0.0),
    (255, 255, 255): (100.0, 0.0, 0.0),
    (255, 0, 0): (53.24, 80.09, 67.20),
    (0, 255, 0): (87.73, -86.18, 83.18),
    (0, 0, 255): (32.30, 79.19, -107.86),
    (255, 255, 0): (97.14, -21.55, 94.48),
    (0, 255, 255): (91.11, -48.09, -14.13),
    (255, 0, 255): (60.32, 98.23, -60.82),
    (128, 128, 128): (53.59, 0.0, 0.0),
    (128, 0, 0): (25.54, 48.05, 38.06),
    (0, 128, 128): (48.25, -28.85, -8.48),
}


@pytest.fixture
def picture():
    return np.random.default_rng(0).integers(0, 256, (11, 14, 3), dtype=np.uint8)


def test_lab_equals_published_values():
    lab = rgb_to_lab(np.array(list(KNOWN_LAB), dtype=np.uint8))
    np.testing.assert_allclose(lab, np.array(list(KNOWN_LAB.values())), atol=0.02)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_patch_means_equal_brute_force(size):
    channels = np.random.default_rng(1).normal(size=(7, 10, 2))
    before, after = size // 2, (size - 1) // 2
    padded = np.pad(channels, ((before, after), (before, after), (0, 0)), mode="edge")
    expected = [
        [padded[i : i + size, j : j + size].mean(axis=(0, 1)) for j in range(10)] for i in range(7)
    ]
    np.testing.assert_allclose(patch_means(channels, size), expected, atol=1e-6)


def test_patch_means_refuse_wrong_input():
    with pytest.raises(InvalidInputError, match=r"got shape \(4, 4\)"):
        patch_means(np.zeros((4, 4)))
    with pytest.raises(InvalidInputError, match="size must be a whole number of at least 1; got 0"):
        patch_means(np.zeros((4, 4, 1)), 0)


def test_a_pixel_is_described_by_135_numbers_in_the_named_columns(picture):
    X = pixel_features(picture)
    assert X.shape == (11 * 14, 135)
    assert X.dtype == np.float32
    means = patch_means(picture / 255).reshape(-1, 3)
    np.testing.assert_allclose(X[:, PIXEL_FEATURES["rgb"]], means, atol=1e-6)
    lab = patch_means(rgb_to_lab(picture)).reshape(-1, 3)
    np.testing.assert_allclose(X[:, PIXEL_FEATURES["lab"]], lab, atol=1e-4)
    luma = means @ [0.299, 0.587, 0.114]
    np.testing.assert_allclose(X[:, PIXEL_FEATURES["intensity"]][:, 0], luma, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(X[:, PIXEL_FEATURES["sift"]], axis=1), 1, atol=1e-5)


def test_far_pixels_do_not_matter(picture):
    changed = picture.copy()
    changed[:, -1] = 255 - changed[:, -1]
    # A patch reaches three pixels to the right, its gradients one more.
    here = pixel_features(picture).reshape(11, 14, 135)[:, :9]
    np.testing.assert_array_equal(here, pixel_features(changed).reshape(11, 14, 135)[:, :9])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((4, 4), np.uint8), r"got shape \(4, 4\)"),
        (np.zeros((4, 4, 4), np.uint8), r"got shape \(4, 4, 4\)"),
        (np.zeros((4, 4, 3)), "uint8"),
    ],
)
def test_what_is_no_picture_is_refused(wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        pixel_features(wrong)
