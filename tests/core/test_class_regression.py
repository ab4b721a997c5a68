"""Kernel regression over classes against scikit-learn's."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

from zslearn.core.kernels import distance_unit, kernel_ridge, rbf


def test_kernel_ridge_equals_scikit_learn_on_centered_targets():
    rng = np.random.default_rng(0)
    S, T, new = rng.standard_normal((9, 4)), rng.standard_normal((9, 3)), rng.random((2, 4))
    K = rbf(S, S, 2.0)
    dual, mean = kernel_ridge(K, T, 0.3)
    gamma = 1 / (2.0 * distance_unit(S))
    other = KernelRidge(alpha=0.3, kernel="rbf", gamma=gamma).fit(S, T - T.mean(axis=0))
    np.testing.assert_allclose(rbf(new, S, 2.0) @ dual + mean, other.predict(new) + mean)


def test_the_unit_is_the_mean_squared_distance_of_pairs():
    S = np.random.default_rng(1).standard_normal((6, 3))
    pairs = [np.sum((a - b) ** 2) for i, a in enumerate(S) for b in S[:i]]
    assert np.isclose(distance_unit(S), np.mean(pairs))
    assert distance_unit(S[:1]) == 1.0
    assert distance_unit(np.ones((3, 2))) == 1.0
    length = np.sqrt(distance_unit(S))
    np.testing.assert_allclose(rbf(S, S, 2.0), RBF(length_scale=length)(S), atol=1e-12)
