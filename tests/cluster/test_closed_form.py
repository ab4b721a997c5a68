"""Closed-form mappings against independent references."""

import itertools

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge

from zslearn.cluster import (
    KISSME,
    MLCA,
    RCA,
    RVML,
    EuclideanMapping,
    LDAProjection,
    SAEMapping,
    Statistics,
    sae_path,
)
from zslearn.core import sylvester
from zslearn.exceptions import InvalidInputError

CLOSED = [
    SAEMapping(0.7),
    SAEMapping(0.7, class_weight="balanced"),
    MLCA(),
    MLCA(center=True),
    RVML(0.2),
    KISSME(),
    LDAProjection(),
    RCA(),
    EuclideanMapping(),
]


def one_hot(y):
    return (y[:, None] == np.unique(y)).astype(float)


def blobs(counts, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = 3 * rng.standard_normal((len(counts), n_features))[y] + rng.standard_normal(
        (len(y), n_features)
    ) @ rng.standard_normal((n_features, n_features))
    order = rng.permutation(len(y))
    return X[order] + 2.0, np.array(["cat", "dog", "eel", "fox"])[y[order]]


@pytest.fixture
def unequal():
    return blobs([20, 35, 60])


@pytest.mark.parametrize("lam", [1e-3, 0.5, 20.0])
def test_sae_equals_dense_sylvester_and_the_papers_algorithm(unequal, lam):
    X, y = unequal
    S = one_hot(y)
    A, G, C = S.T @ S, X.T @ X, S.T @ X
    W = SAEMapping(lam).fit(X, y).coef_
    assert np.allclose(W, sylvester.solve(A, G, C, lam))
    assert np.allclose(W, sylvester.solve_reference(A, G, C, lam))


def test_sae_is_one_ridge_regression_a_class(unequal):
    X, y = unequal
    lam, S = 0.7, one_hot(y)
    W = SAEMapping(lam).fit(X, y).coef_
    for c, n_c in enumerate(S.sum(axis=0)):
        ridge = Ridge(alpha=n_c / lam, fit_intercept=False).fit(X, S[:, c])
        assert np.allclose(W[c], (1 + 1 / lam) * ridge.coef_)


def test_balanced_sae_equals_weighted_rows(unequal):
    X, y = unequal
    S = one_hot(y)
    root = np.sqrt(len(y) / (3 * S.sum(axis=0)))[S.argmax(axis=1)][:, None]
    A, G, C = (root * S).T @ (root * S), (root * X).T @ (root * X), (root * S).T @ (root * X)
    W = SAEMapping(0.4, class_weight="balanced").fit(X, y).coef_
    assert np.allclose(W, sylvester.solve_reference(A, G, C, 0.4))


def test_sae_path_equals_single_fits(unequal):
    X, y = unequal
    lams = np.array([0.1, 1.0, 1e5])
    path = sae_path(Statistics.of(X, y), lams)
    for lam, W in zip(lams, path, strict=True):
        assert np.allclose(W, SAEMapping(float(lam)).fit(X, y).coef_)


def test_sae_limits_are_class_means_and_least_squares(unequal):
    X, y = unequal
    means = np.stack([X[y == c].mean(axis=0) for c in np.unique(y)])
    least_squares = np.linalg.lstsq(X, one_hot(y), rcond=None)[0].T
    assert np.allclose(SAEMapping(1e-12).fit(X, y).coef_, means)
    assert np.allclose(SAEMapping(1e10).fit(X, y).coef_, least_squares, atol=1e-7)


@pytest.mark.parametrize("lam", [0.1, 1.0, 30.0])
def test_sae_is_rvml_for_equal_sizes_only(lam):
    X, y = blobs([30, 30, 30])
    sae, rvml = SAEMapping(lam).fit(X, y).coef_, RVML(1 / (3 * lam)).fit(X, y).coef_
    assert np.allclose(sae, (1 + 1 / lam) * rvml)
    X, y = blobs([10, 30, 50])
    sae, rvml = SAEMapping(lam).fit(X, y).coef_, RVML(1 / (3 * lam)).fit(X, y).coef_
    assert not np.allclose(sae, (1 + 1 / lam) * rvml, rtol=1e-3)


def test_rvml_equals_sklearn_ridge(unequal):
    X, y = unequal
    ridge = Ridge(alpha=0.3 * len(y), fit_intercept=False).fit(X, one_hot(y))
    assert np.allclose(RVML(0.3).fit(X, y).coef_, ridge.coef_)


@pytest.mark.parametrize("center", [False, True])
def test_mlca_equals_pseudo_inverse(unequal, center):
    X, y = unequal
    J = one_hot(y) / np.sqrt(one_hot(y).sum(axis=0))
    Z = X - X.mean(axis=0) * center
    model = MLCA(center=center).fit(X, y)
    assert np.allclose(model.transform(X), Z @ np.linalg.pinv(Z) @ J)


def test_mlca_codes_of_singular_vectors_are_transductive(unequal):
    X, y = unequal
    plain, turned = MLCA().fit(X, y), MLCA(svd=True).fit(X, y)
    assert (plain.is_transductive, turned.is_transductive) == (False, True)
    U = turned.transform(X)
    assert np.allclose(U.T @ U, np.eye(3))
    codes = plain.transform(X)
    assert np.allclose(U @ (U.T @ codes), codes)


def test_mlca_with_as_many_classes_as_features_only_whitens():
    X, y = blobs([30, 40, 50], n_features=3)
    U = MLCA(svd=True).fit(X, y).transform(X)
    assert np.allclose(U @ U.T, X @ np.linalg.inv(X.T @ X) @ X.T)


def test_mlca_drops_directions_without_variation(unequal):
    X, y = unequal
    assert MLCA(svd=True, center=True).fit(X, y).transform(X).shape[1] == 2


def test_kissme_equals_explicit_pairs():
    X, y = blobs([6, 9, 14], n_features=3)
    sums, counts = np.zeros((2, 3, 3)), np.zeros(2)
    for i, j in itertools.combinations(range(len(y)), 2):
        kind = int(y[i] != y[j])
        sums[kind] += np.outer(X[i] - X[j], X[i] - X[j])
        counts[kind] += 1
    similar, dissimilar = sums / counts[:, None, None]
    values, vectors = np.linalg.eigh(np.linalg.inv(similar) - np.linalg.inv(dissimilar))
    M = (vectors * np.maximum(values, 0)) @ vectors.T
    L = KISSME(ridge=0.0).fit(X, y).coef_
    assert np.allclose(L.T @ L, M)


def test_lda_equals_sklearn_up_to_sign_and_shift(unequal):
    X, y = unequal
    codes = LDAProjection().fit(X, y).transform(X)
    reference = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).transform(X)
    codes = codes - codes.mean(axis=0)
    reference = reference - reference.mean(axis=0)
    assert np.allclose(codes * np.sign((codes * reference).sum(axis=0)), reference)


def test_rca_whitens_within_classes(unequal):
    X, y = unequal
    codes = RCA().fit(X, y).transform(X)
    within = sum(np.cov(codes[y == c].T, bias=True) * np.sum(y == c) for c in np.unique(y))
    assert np.allclose(within / len(y), np.eye(5), atol=1e-6)


def test_euclidean_is_the_identity(unequal):
    X, y = unequal
    assert np.array_equal(EuclideanMapping().fit(X, y).transform(X), X)


@pytest.mark.parametrize("mapping", CLOSED, ids=repr)
def test_partial_fit_in_any_batches_equals_fit(mapping, unequal):
    X, y = unequal
    whole = mapping.fit(X, y).coef_
    order = np.argsort(y, kind="stable")
    batches = type(mapping)(**mapping.get_params())
    for rows in np.array_split(order, 7):
        batches.partial_fit(X[rows], y[rows])
    # Directions of LDA and KISSME are known up to sign; the metric is not.
    assert np.allclose(batches.coef_.T @ batches.coef_, whole.T @ whole)
    assert batches.n_samples_seen_ == len(y)
    assert np.array_equal(batches.fit(X[:40], y[:40]).coef_, mapping.fit(X[:40], y[:40]).coef_)


@pytest.mark.parametrize("mapping", CLOSED, ids=repr)
def test_fewer_samples_than_features(mapping):
    X, y = blobs([4, 5, 6], n_features=30)
    codes = type(mapping)(**mapping.get_params()).fit(X, y).transform(X)
    assert np.all(np.isfinite(codes))


def test_statistics_subtract_and_standardize(unequal):
    X, y = unequal
    for by_class in (False, True):
        whole = Statistics.of(X, y, by_class=by_class)
        left = whole - Statistics.of(X[:50], y[:50], by_class=by_class)
        expected = Statistics.of(X[50:], y[50:], by_class=by_class)
        assert np.allclose(left.total.gram, expected.total.gram)
        assert np.allclose(left.within, expected.within)
        mean, scale = whole.total.mean, whole.spread
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        assert np.allclose(whole.standardized(mean, scale).raw.gram, Z.T @ Z)
        assert np.allclose(whole.standardized(mean, scale).within, Statistics.of(Z, y).within)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (SAEMapping(0.0), "lam must be 'cv' or a positive number"),
        (SAEMapping("best"), "got 'best'"),
        (SAEMapping(class_weight="auto"), "None or 'balanced'"),
        (SAEMapping("cv", lams=[0.1, -1]), "lams must be None or a list of positive numbers"),
        (SAEMapping("cv", cv=1), "cv must be a whole number of at least 2"),
        (RVML(-1), "lam must be a positive"),
        (KISSME(ridge=-1), "at least 0"),
        (LDAProjection(3), "between 1 and"),
    ],
)
def test_wrong_parameters(mapping, message, unequal):
    with pytest.raises(InvalidInputError, match=message):
        mapping.fit(*unequal)


def test_refusals(unequal):
    X, y = unequal
    with pytest.raises(InvalidInputError, match="at least 2 classes"):
        MLCA().fit(X, np.full(len(X), "cat"))
    with pytest.raises(InvalidInputError, match="needs all rows at once"):
        SAEMapping("cv").partial_fit(X, y)
    with pytest.raises(InvalidInputError, match="moments alone need lam"):
        SAEMapping("cv").learn(Statistics.of(X, y))
    with pytest.raises(InvalidInputError, match="single sample"):
        KISSME().fit(X[:2], ["a", "b"])


def test_a_lam_chosen_for_other_rows_is_not_used_again(unequal):
    X, y = unequal
    mapping = SAEMapping("cv").fit(X, y)
    with pytest.raises(InvalidInputError, match="moments alone need lam"):
        mapping.learn(Statistics.of(10.0 * X, y))


def test_the_middle_of_equally_good_lams_is_taken(unequal):
    X, y = unequal
    lams = np.logspace(-2, 4, 25)
    mapping = SAEMapping("cv", lams=lams).fit(X, y)
    results = mapping.cv_results_
    assert [point["lam"] for point in results["params"]] == lams.tolist()
    best = np.flatnonzero(results["rank_test_score"] == 1)
    assert mapping.best_params_ == {"lam": mapping.lam_} == results["params"][best[len(best) // 2]]
    given = mapping.set_params(lam=0.5).fit(X, y)
    assert given.cv_results_ is None
    assert given.best_params_ == {}
