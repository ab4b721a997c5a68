"""SupervisedKMeans: what it finds, groups, batches and refusals."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from zslearn.cluster import (
    KISSME,
    MLCA,
    EuclideanMapping,
    LDAProjection,
    SAEMapping,
    SupervisedKMeans,
)
from zslearn.datasets import make_subclusters
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import clustering_loss


@pytest.fixture(scope="module")
def data():
    return make_subclusters(random_state=1000)


def grouped_lines(n_groups=12, size=60, seed=0):
    """Groups of two classes that differ along one axis, drowned by another; each group is moved."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    y = rng.integers(2, size=len(groups))
    X = rng.standard_normal((len(groups), 3)) * [1.0, 20.0, 0.5]
    X[:, 2] += 4 * y + 30 * rng.standard_normal(n_groups)[groups]
    return X, y, groups


def group_centered(X, groups):
    return X - np.stack([X[groups == g].mean(axis=0) for g in np.unique(groups)])[groups]


@pytest.mark.parametrize("standardize", [True, False])
def test_equals_the_steps_by_hand(data, standardize):
    model = SupervisedKMeans(SAEMapping(0.5), standardize=standardize)
    labels = model.fit(data.X_train, data.y_train).cluster(data.X_test)
    scaler = StandardScaler(with_mean=standardize, with_std=standardize).fit(data.X_train)
    mapping = SAEMapping(0.5).fit(scaler.transform(data.X_train), data.y_train)
    codes = mapping.transform(scaler.transform(data.X_test))
    assert np.allclose(model.transform(data.X_test), codes)
    reference = KMeans(3, n_init=20, random_state=0).fit_predict(codes)
    assert clustering_loss(reference, labels) == pytest.approx(0)


def test_default_reaches_the_floor_where_kmeans_fails(data):
    model = SupervisedKMeans().fit(data.X_train, data.y_train)
    loss = clustering_loss(data.y_test, model.cluster(data.X_test))
    assert loss < 0.04
    assert 0.1 < model.mapping_.lam_ < 2
    assert len(model.mapping_.cv_results_["params"]) == 25
    assert model.score(data.X_test, data.y_test) == pytest.approx(-loss)
    plain = SupervisedKMeans(EuclideanMapping()).fit(data.X_train, data.y_train)
    assert clustering_loss(data.y_test, plain.predict(data.X_test)) == pytest.approx(3, abs=0.01)


def test_balancing_helps_unequal_classes():
    data = make_subclusters("1:2:4", random_state=1000)
    losses = [
        clustering_loss(
            data.y_test,
            SupervisedKMeans(SAEMapping(0.5, class_weight=weight))
            .fit(data.X_train, data.y_train)
            .cluster(data.X_test),
        )
        for weight in (None, "balanced")
    ]
    assert losses[1] < losses[0] < 0.06


@pytest.mark.parametrize("mapping", [None, SAEMapping(class_weight="balanced"), MLCA(), KISSME()])
def test_partial_fit_standardizes_like_fit(data, mapping):
    whole = SupervisedKMeans(mapping or SAEMapping(0.5)).fit(data.X_train, data.y_train)
    batches = SupervisedKMeans(mapping)
    with pytest.raises(NotFittedError):
        batches.partial_fit(data.X_train[:900], data.y_train[:900]).cluster(data.X_test)
    for rows in np.array_split(np.arange(900, 3000), 4):
        batches.partial_fit(data.X_train[rows], data.y_train[rows])
    assert np.allclose(batches.mean_, data.X_train.mean(axis=0))
    assert np.allclose(batches.scale_, data.X_train.std(axis=0))
    assert np.allclose(batches.transform(data.X_test) ** 2, whole.transform(data.X_test) ** 2)


def test_groups_are_clustered_by_themselves():
    X, y, groups = grouped_lines()
    model = SupervisedKMeans(LDAProjection()).fit(group_centered(X, groups), y)
    order = np.random.default_rng(1).permutation(len(y))
    labels = np.empty(len(y), dtype=int)
    labels[order] = model.cluster(X[order], groups[order])
    for g in np.unique(groups):
        alone = model.cluster(X[groups == g])
        assert np.array_equal(labels[groups == g], alone)
    # One cut for all groups cannot follow them, as they are moved against each other.
    assert model.score(X, y, groups) > model.score(X, y) + 0.5


def test_lam_is_chosen_with_groups_kept_whole():
    X, y, groups = grouped_lines()
    centered = group_centered(X, groups)
    model = SupervisedKMeans(SAEMapping("cv")).fit(centered, y, groups=groups)
    assert model.score(centered, y, groups) > -0.3
    assert model.mapping_.cv_results_["mean_test_score"].max() > -0.3


def test_transductive_mapping_sees_one_group_at_a_time():
    X, y, groups = grouped_lines(n_groups=4)
    model = SupervisedKMeans(MLCA(svd=True), standardize=False).fit(X, y)
    labels = model.cluster(X, groups)
    for g in range(4):
        assert np.array_equal(labels[groups == g], model.cluster(X[groups == g]))


def test_number_of_clusters_and_their_order(data):
    model = SupervisedKMeans(SAEMapping(0.5), n_clusters=2).fit(data.X_train, data.y_train)
    assert set(model.cluster(data.X_test)) == {0, 1}
    labels = model.cluster(data.X_test, n_clusters=6)
    first = model.transform(data.X_test)[:, 0]
    means = [first[labels == c].mean() for c in range(6)]
    assert means == sorted(means, reverse=True)
    assert model.cluster(data.X_test, n_clusters=1).max() == 0


def test_few_distinct_points_leave_clusters_empty(data):
    model = SupervisedKMeans(SAEMapping(0.5)).fit(data.X_train, data.y_train)
    assert len(set(model.cluster(np.repeat(data.X_test[:2], 5, axis=0)))) == 2


def test_float32_and_constant_features():
    X, y, _ = grouped_lines()
    X = np.column_stack([X, np.full(len(X), 7.1)]).astype(np.float32)
    model = SupervisedKMeans(SAEMapping(0.5)).fit(X, y)
    assert model.scale_[3] == 1
    assert model.transform(X).dtype == np.float32
    assert np.all(np.isfinite(model.transform(X)))


def test_mapping_given_is_not_changed(data):
    mapping = SAEMapping(0.5)
    model = clone(SupervisedKMeans(mapping)).fit(data.X_train, data.y_train)
    assert not hasattr(mapping, "coef_")
    assert hasattr(model.mapping_, "coef_")


def test_refusals(data):
    X, y = data.X_train, data.y_train
    with pytest.raises(NotFittedError):
        SupervisedKMeans().cluster(X)
    with pytest.raises(InvalidInputError, match="mapping must be None or a mapping of"):
        SupervisedKMeans("sae").fit(X, y)
    with pytest.raises(InvalidInputError, match="needs all rows at once"):
        SupervisedKMeans(SAEMapping("cv")).partial_fit(X, y)
    model = SupervisedKMeans(SAEMapping(0.5)).fit(X, y)
    with pytest.raises(InvalidInputError, match="cannot be split into 3"):
        model.cluster(X[:2])
    with pytest.raises(InvalidInputError, match="of group 'b' cannot"):
        model.cluster(X[:5], groups=list("aaaab"))
    with pytest.raises(InvalidInputError, match="groups must name"):
        model.cluster(X[:5], groups=[1, 2])
    with pytest.raises(InvalidInputError, match="n_clusters must be"):
        model.cluster(X, n_clusters=0)
