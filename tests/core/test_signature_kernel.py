import numpy as np
from scipy.spatial.distance import cdist

from zslearn.core.kernels import gaussian_kernel, median_scales, relative_distances


def test_distances_are_those_of_unit_rows_a_block_each():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((4, 7)), rng.standard_normal((3, 7))
    blocks = [slice(0, 3), slice(3, 7)]
    found = relative_distances(A, B, blocks, [2.0, 0.5])
    for part, block, scale in zip(found, blocks, [2.0, 0.5], strict=True):
        a = A[:, block] / np.linalg.norm(A[:, block], axis=1, keepdims=True)
        b = B[:, block] / np.linalg.norm(B[:, block], axis=1, keepdims=True)
        np.testing.assert_allclose(part, cdist(a, b, "sqeuclidean") / scale, atol=1e-12)


def test_scales_are_medians_over_pairs_of_different_classes():
    S = np.eye(3)  # every pair of unit vectors is at squared distance 2
    assert median_scales(S, [slice(None)]) == [2.0]


def test_equal_signatures_do_not_divide_by_zero():
    assert median_scales(np.ones((3, 2)), [slice(None)]) == [1.0]


def test_a_space_given_twice_has_the_kernel_of_one():
    S = np.random.default_rng(2).standard_normal((5, 4))
    once = relative_distances(S, S, [slice(None)], [1.0])
    twice = relative_distances(
        np.hstack([S, S]), np.hstack([S, S]), [slice(0, 4), slice(4, 8)], [1.0, 1.0]
    )
    np.testing.assert_allclose(gaussian_kernel(once, 0.7), gaussian_kernel(twice, 0.7), atol=1e-12)
