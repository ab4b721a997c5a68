"""The clustering loss against its definition with matrices, and its identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.metrics import matthews_corrcoef
from sklearn.metrics.cluster import contingency_matrix

from zslearn.exceptions import InvalidInputError
from zslearn.metrics import clustering_loss

label_pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=80)


def dense_loss(y_true, y_pred):
    matrices = []
    for labels in (y_true, y_pred):
        Y = (np.asarray(labels)[:, None] == np.unique(labels)).astype(float)
        matrices.append(Y @ np.linalg.inv(Y.T @ Y) @ Y.T)
    return np.linalg.norm(matrices[0] - matrices[1]) ** 2


@given(label_pairs)
def test_equals_definition_and_is_symmetric(pairs):
    a, b = np.array(pairs).T
    loss = clustering_loss(a, b)
    assert loss == pytest.approx(dense_loss(a, b), abs=1e-9)
    assert clustering_loss(b, a) == pytest.approx(loss, abs=1e-12)


@given(label_pairs)
def test_names_of_clusters_do_not_matter(pairs):
    a, b = np.array(pairs).T
    names = np.array(["z", "b", "q", "a"])[b]
    assert clustering_loss(a, names) == pytest.approx(clustering_loss((7 - a) * 2.5, b), abs=1e-12)


@given(label_pairs)
def test_normalized_is_between_zero_and_one(pairs):
    a, b = np.array(pairs).T
    largest = len(set(a)) + len(set(b)) - 2
    normalized = clustering_loss(a, b, normalize=True)
    assert 0 <= normalized <= 1 + 1e-12
    assert normalized * max(largest, 1) == pytest.approx(clustering_loss(a, b), abs=1e-12)


def test_pearson_identity():
    rng = np.random.default_rng(0)
    a, b = rng.integers(4, size=300), rng.integers(3, size=300)
    chi2 = chi2_contingency(contingency_matrix(a, b), correction=False).statistic
    assert clustering_loss(a, b) == pytest.approx(4 + 3 - 2 - 2 * chi2 / 300)


def test_matthews_identity():
    rng = np.random.default_rng(1)
    a = rng.integers(2, size=200)
    b = np.where(rng.random(200) < 0.2, 1 - a, a)
    assert clustering_loss(a, b) == pytest.approx(2 * (1 - matthews_corrcoef(a, b) ** 2))


def test_one_cluster_torn_and_two_joined_cost_three():
    halves = np.repeat(np.arange(6), 500)
    true = np.array([0, 1, 2, 0, 1, 2])[halves]
    found = np.array([0, 0, 0, 1, 2, 1])[halves]
    assert clustering_loss(true, true) == 0
    # One side of the gap stays whole, the other falls in two.
    assert clustering_loss(true, found) == pytest.approx(3.0)


def test_many_clusters_need_no_dense_table():
    y = np.arange(200_000) // 2
    assert clustering_loss(y, y) == 0
    assert clustering_loss(y, np.zeros_like(y)) == pytest.approx(99_999)


def test_refusals():
    with pytest.raises(InvalidInputError, match="2 labels and y_pred has 1"):
        clustering_loss([0, 1], [0])
    with pytest.raises(InvalidInputError, match="empty"):
        clustering_loss([], [])
    with pytest.raises(InvalidInputError, match="contains NaN"):
        clustering_loss([0.0, np.nan], [0, 1])
