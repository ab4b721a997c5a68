import numpy as np
import pytest

from zslearn.datasets import make_zero_shot


@pytest.fixture(scope="session")
def data():
    return make_zero_shot(n_per_class=40, n_features=24, random_state=3)


@pytest.fixture(scope="session")
def seen(data):
    """Shuffled rows of the seen classes: X and y."""
    rows = np.random.default_rng(0).permutation(data.rows(data.split("standard").seen))
    return data.X[rows], data.y[rows]
