"""A fit that fails leaves what was fitted before, whichever the method."""

import numpy as np
import pytest

from zslearn.cluster import MAPPINGS, make_mapping
from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import METHODS, make_classifier


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(5, 2, n_per_class=6, n_features=6, n_dimensions=3, random_state=0)


@pytest.fixture(scope="module")
def train(data):
    rows = data.rows(data.split("standard").seen)
    return np.abs(data.X[rows]), data.y[rows]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_classifier(name, data, train):
    X, y = train
    clf = make_classifier(name, data.signatures).fit(X, y)
    before = dict(vars(clf))
    with pytest.raises(ValueError, match="okapi"):
        clf.fit(X[:, :3], np.where(y == y[0], "okapi", y))  # other features, and then the error
    assert vars(clf) == before


@pytest.mark.parametrize("name", [name for name in MAPPINGS if name != "itml"])  # it takes seconds
def test_a_mapping(name, train):
    X, y = train
    mapping = make_mapping(name).fit(X, y)
    before = dict(vars(mapping))
    with pytest.raises(ValueError, match="class"):
        mapping.fit(X[:, :3], np.full(len(y), "one"))
    assert vars(mapping) == before
