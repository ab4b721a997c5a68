"""Iterative mappings: gradients, optima and constraints against independent references."""

import numpy as np
import pytest
from scipy import optimize
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from zslearn.cluster import ITML, KISSME, LMNN, LajugieSpectral, Statistics, XingMMC
from zslearn.cluster.closed_form import span, subgradient_descent, worst_projector
from zslearn.cluster.iterative import (
    Triplets,
    dissimilar_differences,
    impostor_candidates,
    mean_distance,
    project_spectrahedron,
    similar_differences,
    target_neighbors,
)
from zslearn.exceptions import InvalidInputError


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [12, 18, 30])
    X = 2 * rng.standard_normal((3, 4))[y] + rng.standard_normal((60, 4)) * [3.0, 1.0, 0.3, 1.0]
    return X, y


@pytest.mark.parametrize("draw", [similar_differences, dissimilar_differences])
def test_pairs_are_drawn_evenly_from_all_that_there_are(draw):
    y = np.array([1, 0, 2, 1, 0, 1, 2, 0, 0])
    X = 2.0 ** np.arange(9)[:, None]  # every pair has its own difference
    same = draw is similar_differences
    wanted = {
        float(X[i, 0] - X[j, 0])
        for i in range(9)
        for j in range(9)
        if i != j and (y[i] == y[j]) == same
    }
    found, counts = np.unique(draw(X, y, 40_000, np.random.RandomState(0)), return_counts=True)
    assert set(found) == wanted
    assert np.allclose(counts, 40_000 / len(wanted), rtol=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_projection_on_the_spectrahedron_is_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((4, 4))
    M = M + M.T
    P = project_spectrahedron(M)
    values = np.linalg.eigvalsh(P)
    assert values.min() > -1e-12
    assert values.sum() == pytest.approx(1)
    # Nearest: no other feasible point makes an acute angle with M - P.
    for _ in range(50):
        A = rng.standard_normal((4, 4))
        other = A @ A.T / np.trace(A @ A.T)
        assert np.sum((M - P) * (other - P)) <= 1e-9


def test_xing_beats_random_metrics_and_does_not_depend_on_the_basis(small):
    X, y = small
    model = XingMMC(2000, max_iter=500, tol=1e-9).fit(X, y)
    pairs = dissimilar_differences(X, y, 2000, np.random.RandomState(0))
    similar = [np.cov(X[y == c].T, bias=True) * 2 * np.sum(y == c) ** 2 for c in range(3)]
    n_pairs = sum(np.sum(y == c) * (np.sum(y == c) - 1) for c in range(3))
    constraint = sum(similar) / n_pairs
    A = model.coef_.T @ model.coef_
    assert np.sum(A * constraint) == pytest.approx(1, abs=1e-4)
    best = mean_distance(pairs, A)
    rng = np.random.default_rng(1)
    for step in (1.0, 0.1, 0.01):
        for _ in range(50):
            L = model.coef_ + step * rng.standard_normal(model.coef_.shape)
            other = L.T @ L / np.sum((L.T @ L) * constraint)
            assert mean_distance(pairs, other) <= best * (1 + 1e-4)
    turn = rng.standard_normal((4, 4))
    again = XingMMC(2000, max_iter=500, tol=1e-9).fit(X @ turn, y)
    distances = np.linalg.norm(pairs @ model.coef_.T, axis=1)
    assert np.allclose(np.linalg.norm(pairs @ turn @ again.coef_.T, axis=1), distances, atol=0.02)


def test_itml_keeps_its_bounds_where_they_can_be_kept():
    # Classes differ along the first axis alone, so a metric that satisfies all bounds exists.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = np.column_stack([4.0 * y + 0.01 * rng.standard_normal(100), 3 * rng.standard_normal(100)])
    model = ITML(200, gamma=1e6, percentiles=(20, 50), max_iter=2000, tol=1e-8).fit(X, y)
    upper, lower = model.bounds_
    draw = np.random.RandomState(0)
    similar = similar_differences(X, y, 200, draw) @ model.coef_.T
    dissimilar = dissimilar_differences(X, y, 200, draw) @ model.coef_.T
    assert np.max(np.sum(similar**2, axis=1)) <= upper * 1.01
    assert np.min(np.sum(dissimilar**2, axis=1)) >= lower * 0.99


def test_itml_update_is_the_logdet_projection():
    # One violated similar pair without slack: the projection lands on the bound, and M⁻¹ changes
    # along v vᵀ alone, which is the stationarity condition of the divergence.
    X = np.array([[0.0, 0.0], [3.0, 1.0], [9.0, 9.0], [9.0, 9.0]])
    y = np.array([0, 0, 1, 1])
    model = ITML(1, gamma=1e9, percentiles=(10, 90), random_state=3).fit(X, y)
    M = model.coef_.T @ model.coef_
    assert np.all(np.linalg.eigvalsh(M) > 0)
    assert model.n_iter_ < 500


def test_lajugie_worst_projector_and_descent_reach_the_optimum(small):
    X, y = small
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:, :2]
    R_x, R_j = span(Statistics.of(X, y))
    J = (y[:, None] == np.arange(3)) / np.sqrt(np.bincount(y))
    centering = np.eye(60) - 1 / 60
    Z, Jc = X / np.sqrt(60), centering @ J
    # The small basis reproduces every product of the large matrices.
    assert np.allclose(R_x.T @ R_x, Z.T @ Z)
    assert np.allclose(R_x.T @ R_j, Z.T @ Jc)
    assert np.allclose(R_j.T @ R_j, Jc.T @ Jc)

    mu, C = 0.1, Jc @ Jc.T

    def objective(L):
        B = L.reshape(2, 2).T @ L.reshape(2, 2)
        large = np.sort(np.linalg.eigvalsh(Z @ B @ Z.T - 2 * C))[::-1]
        return mu / 2 * np.sum(B**2) + np.sum(np.maximum(large[:2], 0)) - np.sum(C * (Z @ B @ Z.T))

    B = subgradient_descent(R_x, R_j, mu, 3000, 2)
    values, vectors = np.linalg.eigh(B)
    found = objective((vectors * np.sqrt(np.maximum(values, 0))).T.ravel())
    starts = np.random.default_rng(0).standard_normal((3, 4))
    best = min(optimize.minimize(objective, s, method="Powell").fun for s in starts)
    assert found <= best + 2e-3


def test_lajugie_never_takes_directions_below_zero():
    assert worst_projector(np.diag([-1.0, -2.0, 3.0]), 2).shape == (3, 1)


def test_lajugie_does_not_depend_on_units(small):
    X, y = small
    model, other = LajugieSpectral().fit(X, y), LajugieSpectral().fit(1024 * X, y)
    assert np.allclose(model.coef_.T @ model.coef_, 1024**2 * other.coef_.T @ other.coef_)


def test_lmnn_gradient_is_the_numerical_one(small):
    X, y = small
    problem = Triplets(X, target_neighbors(X, y, 3), impostor_candidates(X, y, 5), 0.4)
    rng = np.random.default_rng(0)
    L = np.eye(4) + 0.3 * rng.standard_normal((4, 4))
    _, gradient = problem.value_and_gradient(L)
    numerical = optimize.approx_fprime(
        L.ravel(), lambda flat: problem.value_and_gradient(flat.reshape(4, 4))[0], 1e-6
    )
    assert np.allclose(gradient, numerical, atol=1e-3)


def test_lmnn_objective_equals_its_triplets_by_hand(small):
    X, y = small
    targets, impostors = target_neighbors(X, y, 2), impostor_candidates(X, y, 48)
    value, _ = Triplets(X, targets, impostors, 0.5).value_and_gradient(np.eye(4))
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    expected = 0.0
    for i in range(60):
        own = np.flatnonzero((y == y[i]) & (np.arange(60) != i))
        for j in own[np.argsort(D[i, own])[:2]]:
            hinges = np.maximum(1 + D[i, j] - D[i, y != y[i]], 0)
            expected += 0.5 * D[i, j] + 0.5 * hinges.sum()
    assert value == pytest.approx(expected / 60)


def test_lmnn_helps_neighbors_against_a_loud_useless_feature():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, 30 * np.random.default_rng(0).standard_normal(150)])
    model = LMNN().fit(X[::2], y[::2])
    plain = KNeighborsClassifier(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    codes = model.transform(X)
    learned = KNeighborsClassifier(3).fit(codes[::2], y[::2]).score(codes[1::2], y[1::2])
    assert learned > plain + 0.2


def test_lmnn_takes_classes_too_small_for_targets():
    X, y = np.random.default_rng(0).standard_normal((6, 2)), [0, 1, 1, 2, 2, 2]
    assert np.all(np.isfinite(LMNN().fit(X, y).coef_))


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (XingMMC(0), "n_pairs must be a whole number"),
        (XingMMC(max_iter=0), "max_iter must be"),
        (ITML(gamma=0), "gamma must be a positive"),
        (ITML(percentiles=(50, 20)), "two rising numbers"),
        (LMNN(push=2.0), "push must be a number from 0 to 1"),
        (LMNN(n_neighbors=0.5), "n_neighbors must be"),
        (LajugieSpectral(-1), "mu must be"),
    ],
)
def test_wrong_parameters(mapping, message, small):
    with pytest.raises(InvalidInputError, match=message):
        mapping.fit(*small)


@pytest.mark.parametrize("mapping", [XingMMC(50), ITML(20, max_iter=2), LMNN(n_rounds=1)])
def test_progress_goes_to_stderr_and_one_class_is_refused(mapping, small, capsys):
    X, y = small
    mapping.set_params(verbose=1).fit(X, y)
    told = capsys.readouterr()
    assert type(mapping).__name__ in told.err
    assert told.out == ""
    with pytest.raises(InvalidInputError, match="at least 2 classes"):
        mapping.fit(X, np.zeros(len(X)))


def test_kissme_is_among_the_registered_and_names_are_helped():
    from zslearn.cluster import MAPPINGS, find_mapping, make_mapping

    assert isinstance(make_mapping("kissme", ridge=0.1), KISSME)
    assert {one.estimator for one in MAPPINGS.values()} >= {ITML, LMNN, XingMMC}
    with pytest.raises(InvalidInputError, match="Did you mean 'kissme'"):
        find_mapping("kisme")


def test_old_names_of_the_registry_work_for_one_release():
    from zslearn import cluster

    with pytest.warns(FutureWarning, match="LEARNERS is called zslearn.cluster.MAPPINGS now"):
        assert cluster.LEARNERS is cluster.MAPPINGS
    with pytest.warns(FutureWarning, match="find_learner is called zslearn.cluster.find_mapping"):
        found = cluster.find_learner("kissme")
    with pytest.warns(FutureWarning, match="mapping is called estimator now"):
        assert found.mapping is KISSME
