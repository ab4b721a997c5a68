"""The paper's synthetic experiment: ten draws, losses in the bands they must fall in."""

import numpy as np
import pytest

from zslearn.cluster import (
    KISSME,
    MLCA,
    EuclideanMapping,
    LDAProjection,
    SAEMapping,
    SupervisedKMeans,
)
from zslearn.datasets import make_subclusters
from zslearn.metrics import clustering_loss

BALANCED = SAEMapping(0.5, class_weight="balanced")


@pytest.fixture(scope="module")
def draws():
    return {
        sizes: [make_subclusters(sizes, random_state=seed) for seed in range(1000, 1010)]
        for sizes in ("equal", "1:2:4")
    }


def mean_loss(mapping, draws, **options):
    losses = []
    for data in draws:
        model = SupervisedKMeans(mapping, **options).fit(data.X_train, data.y_train)
        losses.append(clustering_loss(data.y_test, model.cluster(data.X_test)))
    return np.mean(losses)


@pytest.mark.parametrize(
    ("mapping", "sizes", "standardize", "low", "high"),
    [
        (EuclideanMapping(), "equal", False, 2.99, 3.01),
        (EuclideanMapping(), "1:2:4", False, 2.99, 3.01),
        (MLCA(), "equal", False, 0.05, 0.15),
        (MLCA(svd=True), "1:2:4", False, 0.05, 0.15),
        (KISSME(), "equal", False, 0.04, 0.10),
        (LDAProjection(), "equal", True, 0.04, 0.10),
        (SAEMapping(0.5), "equal", True, 0.010, 0.025),
        (SAEMapping(0.5), "1:2:4", True, 0.013, 0.045),
        (BALANCED, "1:2:4", True, 0.010, 0.030),
        (SAEMapping(0.5), "equal", False, 0.05, 0.10),
    ],
    ids=str,
)
def test_mean_loss_of_ten_draws(mapping, sizes, standardize, low, high, draws):
    assert low <= mean_loss(mapping, draws[sizes], standardize=standardize) <= high


def test_floor(draws):
    for data in draws.values():
        floors = [clustering_loss(d.y_test, d.bayes_partition(d.X_test)) for d in data]
        assert 0.008 <= np.mean(floors) <= 0.020


def test_low_noise_is_solved_by_every_learner_but_kmeans():
    draws = [make_subclusters(noise=0.5, random_state=seed) for seed in range(3)]
    for mapping in (SAEMapping(0.5), MLCA(), LDAProjection(), KISSME()):
        assert mean_loss(mapping, draws) < 0.005
    assert mean_loss(EuclideanMapping(), draws, standardize=False) > 2.9
