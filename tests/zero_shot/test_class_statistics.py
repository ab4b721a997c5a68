"""EXEM, GFZSL and NCM: predicted class statistics."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import norm
from sklearn.svm import NuSVR

from zslearn.core.kernels import distance_unit, rbf
from zslearn.core.moments import Moments
from zslearn.core.nearest import unit_rows
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold
from zslearn.signatures import Signatures
from zslearn.zero_shot import EXEMClassifier, GFZSLClassifier, NCMClassifier
from zslearn.zero_shot.prototypes.exem import support_vectors
from zslearn.zero_shot.prototypes.gfzsl import log_likelihood
from zslearn.zero_shot.prototypes.ncm import (
    below_ancestors,
    discriminant_directions,
    learn_metric,
    ncm_loss,
    similar_classes,
)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(n_per_class=12, n_features=20, random_state=2)


@pytest.fixture(scope="module")
def seen(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


@pytest.fixture(scope="module")
def unseen(data):
    rows = data.rows(data.split("standard").unseen)
    return data.X[rows], data.y[rows]


@pytest.mark.parametrize(
    "make",
    [
        lambda s, **p: EXEMClassifier(s, cv=3, **p),
        lambda s, **p: GFZSLClassifier(s, cv=3, **p),
        lambda s, **p: NCMClassifier(s, learned="whitened", **p),
    ],
)
def test_held_out_accuracies_equal_refits(data, seen, make):
    X, y = seen
    clf = make(data.signatures).fit(X, y)
    folds = list(ClassKFold(3, shuffle=True, random_state=0).split(X, y))
    for i in (0, len(clf.cv_results_["params"]) - 1):
        point = clf.cv_results_["params"][i]
        refits = [
            make(data.signatures, **point).fit(X[a], y[a]).score(X[b], y[b], np.unique(y[b]))
            for a, b in folds
        ]
        # EXEM's axes are those of all rows in the search; a rotation matters to its metric a bit.
        slack = 0.06 if isinstance(clf, EXEMClassifier) else 0.02
        found = [clf.cv_results_[f"split{f}_test_score"][i] for f in range(3)]
        np.testing.assert_allclose(found, refits, atol=slack)


@pytest.mark.parametrize("method", [EXEMClassifier, GFZSLClassifier, NCMClassifier])
def test_unseen_classes_are_recognized(data, seen, unseen, method):
    assert method(data.signatures).fit(*seen).score(*unseen, "unseen") > 0.5


@pytest.mark.parametrize("method", [EXEMClassifier, GFZSLClassifier, NCMClassifier])
def test_the_scale_of_the_features_does_not_matter(data, seen, unseen, method):
    X, y = seen
    one = method(data.signatures, feature_norm=None).fit(X, y).predict(unseen[0])
    other = method(data.signatures, feature_norm=None).fit(1000 * X, y).predict(1000 * unseen[0])
    assert np.mean(one == other) > 0.98


def test_exem_takes_the_nearest_predicted_mean_in_deviations(data, seen, unseen):
    X, y = unit_rows(seen[0]), seen[1]
    clf = EXEMClassifier(data.signatures, width=1.0, ridge=0.1).fit(*seen)
    names = list(data.split("standard").unseen)
    Z = (X - X.mean(axis=0)) @ clf.axes_
    means = np.stack([Z[y == c].mean(axis=0) for c in clf.seen_classes_])
    spread = np.mean([Z[y == c].std(axis=0) for c in clf.seen_classes_], axis=0)
    S, U = clf.seen_signatures_, unit_rows(data.signatures.rows(names))
    unit = distance_unit(S)

    def kernel(a, b):
        return np.array([[np.exp(-np.sum((u - v) ** 2) / unit) for v in b] for u in a])

    dual = np.linalg.inv(kernel(S, S) + 0.1 * np.eye(len(S))) @ (means - means.mean(axis=0))
    exemplars = kernel(U, S) @ dual + means.mean(axis=0)
    new = (unit_rows(unseen[0][:5]) - X.mean(axis=0)) @ clf.axes_
    expected = [[-np.sum(((z - e) / spread) ** 2) for e in exemplars] for z in new]
    np.testing.assert_allclose(clf.decision_function(unseen[0][:5], names), expected, rtol=1e-6)


def test_exem_with_support_vectors_predicts_what_each_regression_does():
    rng = np.random.default_rng(0)
    S, means = rng.standard_normal((15, 4)), 5 + 2 * rng.standard_normal((15, 2))
    K = rbf(S, S, 1.0)
    dual, offset = support_vectors(K, means, 0.5, 2.0)
    for j in range(2):
        t = means[:, j]
        scaled = (t - t.mean()) / t.std()
        model = NuSVR(kernel="rbf", gamma=1 / distance_unit(S), nu=0.5, C=2.0).fit(S, scaled)
        expected = t.mean() + t.std() * model.predict(S)
        np.testing.assert_allclose(K @ dual[:, j] + offset[j], expected, atol=1e-2)


def test_exem_offers_both_regressions_and_other_metrics(data, seen, unseen):
    for settings in ({"regressor": "nu-svr"}, {"metric": "cosine"}, {"metric": "euclidean"}):
        clf = EXEMClassifier(data.signatures, width=1.0, ridge=0.1, **settings).fit(*seen)
        assert clf.score(*unseen, "unseen") > 0.5


def test_the_likelihood_is_that_of_diagonal_gaussians():
    rng = np.random.default_rng(0)
    X, means = rng.standard_normal((4, 3)) + 100, rng.standard_normal((2, 3)) + 100
    variances = rng.random((2, 3)) + 0.5
    expected = np.array(
        [
            [norm.logpdf(x, m, np.sqrt(v)).sum() for m, v in zip(means, variances, strict=True)]
            for x in X
        ]
    )
    constant = -0.5 * 3 * np.log(2 * np.pi)
    np.testing.assert_allclose(log_likelihood(X, means, variances) + constant, expected)


def test_the_gradient_of_the_metric_loss():
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((30, 4)), np.arange(30) % 3
    means = np.stack([Z[y == c].mean(axis=0) for c in range(3)])
    start = rng.standard_normal(8)
    error = check_grad(
        lambda m: ncm_loss(m.reshape(2, 4), Z, y, means)[0],
        lambda m: ncm_loss(m.reshape(2, 4), Z, y, means)[1].ravel(),
        start,
    )
    assert error < 1e-5
    M = learn_metric(Z, y, means, 30)
    assert ncm_loss(M, Z, y, means)[0] < ncm_loss(np.eye(4), Z, y, means)[0]


def test_discriminant_directions_whiten_the_classes(seen):
    X, y = seen
    L0 = discriminant_directions(Moments.of(X, y, centered=True), 1e-9)
    Z = X @ L0
    within = sum(np.cov(Z[y == c].T, bias=True) * np.mean(y == c) for c in np.unique(y))
    np.testing.assert_allclose(within, np.eye(len(within)), atol=1e-5)
    assert L0.shape[1] == min(len(np.unique(y)) - 1, X.shape[1])


@pytest.mark.parametrize("center", [False, True])
def test_a_seen_signature_takes_its_own_mean(center):
    S = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(similar_classes(S, S, 0.1, center=center), np.eye(5))
    weights = similar_classes(S + 0.1, S, 5.0, center=center)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


def test_wrong_parameters_are_refused(data, seen):
    with pytest.raises(InvalidInputError, match="metric must be 'std-euclidean', "):
        EXEMClassifier(data.signatures, metric="l1").fit(*seen)
    with pytest.raises(InvalidInputError, match="floor must be 'cv' or a positive number"):
        GFZSLClassifier(data.signatures, floor=0).fit(*seen)
    with pytest.raises(InvalidInputError, match="learned must be '"):
        NCMClassifier(data.signatures, learned="lmnn").fit(*seen)


def test_a_class_takes_the_mean_of_the_means_of_its_kinds():
    # kinds: animal, cat, dog; cats: lynx and puma, dog: wolf
    seen = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1]], float)
    means = np.array([[0.0], [2.0], [10.0]])
    ocelot, rock, wolf = [1, 1, 0.5], [0, 0, 0], [1, 0, 1]
    weights = below_ancestors(np.array([ocelot, rock, wolf], float), seen)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    by_hand = [np.mean([np.mean([0, 2, 10]), np.mean([0, 2]), 10]), 4.0, 10.0]
    np.testing.assert_allclose((weights @ means)[:, 0], by_hand)


def test_ncm_by_ancestors_recognizes_leaves_of_a_tree():
    rng = np.random.default_rng(0)
    kinds, leaves = 6, 5
    centers = 4 * rng.standard_normal((kinds, 8))
    names = np.array([f"{k}-{i}" for k in range(kinds) for i in range(leaves)])
    table = Signatures(names, np.kron(np.eye(kinds), np.ones((leaves, 1))) + 0.0)
    means = np.repeat(centers, leaves, axis=0) + 0.3 * rng.standard_normal((kinds * leaves, 8))
    rows = np.repeat(np.arange(len(names)), 10)
    X = means[rows] + 0.2 * rng.standard_normal((len(rows), 8))
    new = np.array([name.endswith("-0") for name in names])[rows]
    clf = NCMClassifier(table, related="ancestors", feature_norm=None)
    clf.fit(X[~new], names[rows][~new])
    assert clf.best_params_ == {}
    assert clf.score(X[new], names[rows][new], "unseen") > 0.95
