"""Every mapping survives saving and loading, statistics for partial_fit included."""

import numpy as np
import pytest

from zslearn.cluster import KISSME, MAPPINGS, SAEMapping, SupervisedKMeans, make_mapping
from zslearn.datasets import make_subclusters
from zslearn.persistence import load, save

QUICK = {"itml": {"n_pairs": 20, "max_iter": 3}, "lmnn": {"n_rounds": 1, "max_iter": 3}}


@pytest.fixture(scope="module")
def data():
    return make_subclusters([60, 60, 60], n_test=90, random_state=0)


@pytest.mark.parametrize("name", MAPPINGS)
def test_saved_model_clusters_the_same(name, data, tmp_path):
    model = SupervisedKMeans(make_mapping(name, **QUICK.get(name, {})))
    model.fit(data.X_train, data.y_train)
    save(model, tmp_path / "model.zsl")
    again = load(tmp_path / "model.zsl")
    assert np.array_equal(again.transform(data.X_test), model.transform(data.X_test))
    assert np.array_equal(again.cluster(data.X_test), model.cluster(data.X_test))


@pytest.mark.parametrize("mapping", [None, SAEMapping(class_weight="balanced"), KISSME()])
def test_loaded_model_goes_on_learning(mapping, data, tmp_path):
    first, second = np.arange(0, 180, 2), np.arange(1, 180, 2)
    model = SupervisedKMeans(mapping).partial_fit(data.X_train[first], data.y_train[first])
    save(model, tmp_path / "model.zsl")
    again = load(tmp_path / "model.zsl").partial_fit(data.X_train[second], data.y_train[second])
    model.partial_fit(data.X_train[second], data.y_train[second])
    assert np.array_equal(again.transform(data.X_test), model.transform(data.X_test))
