"""Convolutions against scipy's."""

import numpy as np
import pytest
from scipy.signal import correlate

from zslearn.zero_shot.deep.convolutional import convolved, doubled


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("side", [1, 3, 5])
def test_a_convolution_is_the_sum_of_correlations(stride, side):
    rng = np.random.RandomState(0)
    pictures, bias = rng.standard_normal((2, 8, 6, 3)), rng.standard_normal(4)
    kernel = rng.standard_normal((4, 3, side, side))
    found = convolved(pictures, kernel, bias, stride)
    for n in range(2):
        for out in range(4):
            whole = sum(
                correlate(pictures[n, :, :, c], kernel[out, c], mode="same") for c in range(3)
            )
            wanted = whole[::stride, ::stride] + bias[out]
            np.testing.assert_allclose(found[n, :, :, out], wanted, atol=1e-12)


def test_doubling_repeats_every_place():
    picture = np.arange(4.0).reshape(1, 2, 2, 1)
    assert doubled(picture)[0, :, :, 0].tolist() == [
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [2, 2, 3, 3],
        [2, 2, 3, 3],
    ]
