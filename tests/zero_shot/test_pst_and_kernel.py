"""Label propagation and ESZSL on kernels."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from zslearn.core.learner import MomentLearner
from zslearn.core.nearest import unit_rows
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError, TransductiveBatchError
from zslearn.scale import fit_batches
from zslearn.zero_shot import KernelESZSLClassifier, PSTClassifier, RRZSLClassifier
from zslearn.zero_shot.pst import confident_labels, neighbor_graph, propagated


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(n_per_class=12, noise=1.0, random_state=2)


@pytest.fixture(scope="module")
def seen(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


@pytest.fixture(scope="module")
def unseen(data):
    rows = data.rows(data.split("standard").unseen)
    return data.X[rows], data.y[rows]


def test_propagation_rests_at_the_closed_form():
    rng = np.random.default_rng(0)
    points, labels = rng.standard_normal((30, 3)), rng.random((30, 4))
    S = neighbor_graph(points, 5, "euclidean")
    assert sparse.issparse(S)
    np.testing.assert_allclose(S.toarray(), S.toarray().T)
    expected = 0.2 * np.linalg.solve(np.eye(30) - 0.8 * S.toarray(), labels)
    np.testing.assert_allclose(propagated(S, labels, 0.8), expected, atol=1e-5)


def test_the_most_confident_keep_their_label():
    P = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.2, 0.8]])
    kept = confident_labels(P, 0.5)
    np.testing.assert_array_equal(kept, [[1, 0], [0, 0], [0, 0], [1, 0], [0, 1]])


@pytest.mark.parametrize("graph", ["features", "scores"])
def test_pst_improves_on_the_classifier_below(graph):
    data = make_zero_shot(n_per_class=40, noise=1.0, domain_shift=1.5, random_state=2)
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    base = RRZSLClassifier(data.signatures, lam=5.0)
    clf = PSTClassifier(data.signatures, estimator=base, graph=graph, n_neighbors=10)
    clf.fit(data.X[seen], data.y[seen])
    below = clf.estimator_.score(data.X[unseen], data.y[unseen], "unseen")
    assert below < clf.score(data.X[unseen], data.y[unseen], "unseen")


def test_labels_of_clusters_spread_over_their_doubtful_members():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    points = 4 * np.eye(3)[truth] + rng.standard_normal((120, 3))
    P = softmax(1.0 * np.eye(3)[truth] + rng.standard_normal((120, 3)), axis=1)
    spread = propagated(neighbor_graph(points, 10, "euclidean"), confident_labels(P, 0.3), 0.8)
    assert np.mean(P.argmax(axis=1) == truth) < 0.75
    assert np.mean(spread.argmax(axis=1) == truth) > 0.9


def test_pst_refuses_a_batch_of_one_and_passes_new_classes_on(data, seen, unseen):
    base = RRZSLClassifier(lam=5.0)
    clf = PSTClassifier(data.signatures, estimator=base, n_neighbors=3).fit(*seen)
    with pytest.raises(TransductiveBatchError, match="whole test batch"):
        clf.predict(unseen[0][:1])
    assert base.signatures is None
    clf.add_classes({"new": np.ones(data.signatures.n_dimensions)})
    assert clf.decision_function(unseen[0], ["new", "unseen0"]).shape == (len(unseen[0]), 2)


def _paper(K, Y, S, gamma, lam):
    left = np.linalg.solve(K @ K + gamma * K, K @ Y @ S)
    return left @ np.linalg.inv(S.T @ S + lam * np.eye(S.shape[1]))


@pytest.mark.parametrize("coding", ["binary", "signed"])
def test_kernel_form_of_the_paper(data, seen, unseen, coding):
    X, y = unit_rows(seen[0]), seen[1]
    gamma, lam = 0.3, 0.7
    clf = KernelESZSLClassifier(data.signatures, gamma=gamma, lam=lam, coding=coding).fit(*seen)
    squared = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    assert np.isclose(clf.scale_, 0.5 * squared.mean())
    K = np.exp(-squared / clf.scale_)
    Y = np.where(y[:, None] == clf.seen_classes_, 1.0, 0.0 if coding == "binary" else -1.0)
    A = _paper(K, Y, clf.seen_signatures_, gamma, lam)
    names = list(data.split("standard").unseen)
    U = unit_rows(data.signatures.rows(names))
    new = unit_rows(unseen[0][:6])
    k = np.exp(-np.array([[np.sum((a - b) ** 2) for b in X] for a in new]) / clf.scale_)
    np.testing.assert_allclose(clf.decision_function(unseen[0][:6], names), k @ A @ U.T, atol=1e-6)


def test_a_precomputed_kernel_gives_the_same_answer(data, seen, unseen):
    X, y = seen
    rbf = KernelESZSLClassifier(data.signatures, n_landmarks=80).fit(X, y)
    A, B = unit_rows(X), unit_rows(unseen[0])
    K = np.exp(-((A[:, None] - A[None]) ** 2).sum(axis=2) / rbf.scale_)
    k = np.exp(-((B[:, None] - A[None]) ** 2).sum(axis=2) / rbf.scale_)
    given = KernelESZSLClassifier(data.signatures, kernel="precomputed", n_landmarks=80).fit(K, y)
    assert (rbf.gamma_, rbf.lam_) == (
        pytest.approx(given.gamma_, rel=1e-6),
        pytest.approx(given.lam_),
    )
    np.testing.assert_array_equal(given.predict(k), rbf.predict(unseen[0]))
    assert len(rbf.rows_) <= 80
    assert rbf.score(*unseen, "unseen") > 0.6


def test_kernel_eszsl_refuses_what_it_cannot_do(data, seen):
    X, y = seen
    with pytest.raises(InvalidInputError, match="must be square at fit"):
        KernelESZSLClassifier(data.signatures, kernel="precomputed").fit(X, y)
    with pytest.raises(InvalidInputError, match="kernel must be 'rbf' or 'precomputed'"):
        KernelESZSLClassifier(data.signatures, kernel="chi2").fit(X, y)
    assert not isinstance(KernelESZSLClassifier(data.signatures), MomentLearner)
    with pytest.raises(InvalidInputError, match="KernelESZSLClassifier learns from the rows"):
        fit_batches(KernelESZSLClassifier(data.signatures), X, y)
