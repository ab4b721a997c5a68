import pytest

from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import SAEClassifier


@pytest.fixture(scope="session")
def data():
    return make_zero_shot(random_state=0)


@pytest.fixture
def model(data):
    split = next(iter(data.splits.values()))
    seen = data.rows(split.seen)
    return SAEClassifier(data.signatures, lam=0.3).fit(data.X[seen], data.y[seen])
