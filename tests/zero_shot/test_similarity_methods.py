"""SSE, JLSE and SS-Voc."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import log_expit

from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import check_zero_shot_classifier
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import JLSEClassifier, SSEClassifier, SSVocClassifier
from zslearn.zero_shot.ss_voc import neighbor_mask, vocabulary_loss
from zslearn.zero_shot.synthesized.jlse import atoms, inferred_codes, match_matrix
from zslearn.zero_shot.synthesized.sse import responses, similarity_loss

QUICK = (
    SSEClassifier(kind="int", epochs=2),
    SSEClassifier(kind="relu", epochs=2),
    JLSEClassifier(temperature=10.0),
    SSVocClassifier(lam=1e-3, max_iter=5),
)


@pytest.fixture(scope="module")
def parts():
    data = make_zero_shot(n_seen=40, n_dimensions=6, noise=0.2, random_state=3)
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    return data.signatures, data.X[seen], data.y[seen], data.X[unseen], data.y[unseen]


@pytest.mark.parametrize("estimator", QUICK)
def test_passes_the_checks_of_zero_shot_classifiers(estimator):
    check_zero_shot_classifier(estimator)


@pytest.mark.parametrize(
    ("estimator", "at_least"),
    [
        (SSEClassifier(), 0.7),
        (SSEClassifier(kind="relu"), 0.7),
        (JLSEClassifier(cv=2), 0.7),
        (SSVocClassifier(), 0.95),
    ],
)
def test_recognizes_unseen_classes_of_a_linear_world(estimator, at_least, parts):
    signatures, X, y, X_new, y_new = parts
    clf = estimator.set_params(signatures=signatures).fit(X, y)
    assert clf.score(X_new, y_new, "unseen") >= at_least


@pytest.mark.parametrize("kind", ["int", "relu"])
@pytest.mark.parametrize("turn", ["w", "v"])
def test_gradient_of_the_similarity_loss(kind, turn):
    rng = np.random.RandomState(0)
    X, y = rng.uniform(size=(8, 5)), rng.randint(3, size=8)
    start = {"w": rng.standard_normal(5), "v": rng.uniform(size=(3, 5))}
    codes, margins = rng.dirichlet(np.ones(3), size=3), rng.uniform(size=(3, 3))

    def at(flat, part):
        parameters = start | {turn: flat.reshape(start[turn].shape)}
        return similarity_loss(parameters, X, y, codes, margins, kind, turn)[part]

    error = check_grad(lambda f: at(f, 0), lambda f: at(f, 1)[turn].ravel(), start[turn].ravel())
    assert error < 1e-6


def test_intersection_and_rectifier_are_one_model_up_to_the_sign_of_w():
    rng = np.random.RandomState(0)
    X, v, w = rng.uniform(size=(8, 5)), rng.uniform(size=(3, 5)), rng.standard_normal(5)
    codes = rng.dirichlet(np.ones(3), size=4)
    same = responses(w, v, X, "int") @ codes.T - responses(-w, v, X, "relu") @ codes.T
    np.testing.assert_allclose(same - same[:, :1], 0.0, atol=1e-12)


def test_gradient_and_literal_value_of_the_vocabulary_loss():
    rng = np.random.RandomState(0)
    g, U, y = rng.standard_normal((5, 3)), rng.standard_normal((6, 3)), rng.randint(4, size=5)
    allowed = neighbor_mask(U[:4], U[4:], 1)
    error = check_grad(
        lambda f: vocabulary_loss(f.reshape(5, 3), y, U, allowed, 0.6, 0.1, 0.3)[0],
        lambda f: vocabulary_loss(f.reshape(5, 3), y, U, allowed, 0.6, 0.1, 0.3)[1].ravel(),
        g.ravel(),
    )
    assert error < 1e-5
    total = 0.0
    for x, c in zip(g, y, strict=True):
        total += 0.6 * (np.maximum(np.abs(x - U[c]) - 0.1, 0) ** 2).sum()
        own = ((x - U[c]) ** 2).sum() / 2
        for v in np.flatnonzero(allowed[c]):
            total += 0.2 * max(0.0, 0.3 + own - ((x - U[v]) ** 2).sum() / 2) ** 2
    assert vocabulary_loss(g, y, U, allowed, 0.6, 0.1, 0.3)[0] == pytest.approx(total / 5)
    assert allowed.sum(axis=1).tolist() == [4, 4, 4, 4]


def test_a_vocabulary_is_used_and_checked(parts):
    signatures, X, y, X_new, y_new = parts
    words = np.vstack([signatures.vectors, np.random.RandomState(0).standard_normal((50, 6))])
    clf = SSVocClassifier(signatures, vocabulary=words, lam=1e-3).fit(X, y)
    plain = SSVocClassifier(signatures, lam=1e-3).fit(X, y)
    assert clf.score(X_new, y_new, "unseen") > 0.9
    assert not np.allclose(clf.coef_, plain.coef_)
    with pytest.raises(InvalidInputError, match="vocabulary must be finite numbers of shape"):
        SSVocClassifier(signatures, vocabulary=words[:, :2]).fit(X, y)


def test_match_matrix_lowers_its_objective_to_a_zero_gradient():
    rng = np.random.RandomState(0)
    Z, y = rng.dirichlet(np.ones(3), size=20), np.arange(20) % 3
    W = match_matrix(np.zeros((3, 3)), Z, y, np.eye(3), 0.1)
    again = match_matrix(W, Z, y, np.eye(3), 0.1)
    np.testing.assert_allclose(W, again, atol=1e-3)
    assert np.abs(W).max() > 0.01


def test_inferred_codes_move_towards_the_direction_and_stay_on_the_simplex():
    posterior = np.array([[0.4, 0.4, 0.2]])
    Z = inferred_codes(posterior, np.array([[1.0, -1.0, 0.0]]), np.eye(3), rho=2.0)
    assert Z.sum() == pytest.approx(1.0)
    assert Z[0, 0] > 0.4 > Z[0, 1]
    held = inferred_codes(posterior, np.array([[1.0, -1.0, 0.0]]), np.eye(3), rho=1e9)
    np.testing.assert_allclose(held, posterior, atol=1e-6)


def test_each_inferred_code_is_near_the_best_of_many():
    rng = np.random.RandomState(0)
    posterior, direction = rng.dirichlet(np.ones(3), 1), rng.standard_normal((1, 3))
    D = rng.dirichlet(np.ones(3), 3)

    def objective(Z):
        gap = posterior - Z @ D
        return log_expit(Z @ direction[0]) - 4.0 * np.einsum("ij,ij->i", gap, gap)

    Z = inferred_codes(posterior, direction, D, rho=8.0, steps=500)
    assert objective(Z)[0] >= objective(rng.dirichlet(np.ones(3), 20_000)).max() - 1e-4


def test_dictionaries_follow_the_codes_and_stay_near_their_start():
    rng = np.random.RandomState(0)
    Z, D = rng.dirichlet(np.ones(4), 200), rng.standard_normal((4, 5))
    np.testing.assert_allclose(atoms(Z, Z @ D, D), D, atol=1e-10)
    start = D + 1.0
    found = atoms(Z, Z @ D, start)
    assert np.linalg.norm(found - D) < np.linalg.norm(start - D)
    assert np.linalg.norm(Z @ (found - D)) < np.linalg.norm(Z @ (start - D))


@pytest.mark.parametrize(
    ("estimator", "match"),
    [
        (SSEClassifier(kind="max"), "kind must be 'int' or 'relu'"),
        (SSEClassifier(gamma=0.0), "gamma must be a positive"),
        (JLSEClassifier(rho=0.0), "rho must be a positive"),
        (SSVocClassifier(alpha=2.0), "alpha must be a number from 0 to 1"),
        (SSVocClassifier(lam=-1.0), "lam must be 'cv' or a positive"),
    ],
)
def test_unusable_parameters_are_refused(estimator, match, parts):
    signatures, X, y, _, _ = parts
    with pytest.raises(InvalidInputError, match=match):
        estimator.set_params(signatures=signatures).fit(X, y)


def test_features_below_zero_are_shifted_to_begin_there(parts):
    signatures, X, y, _, _ = parts

    def scores(offset):
        clf = SSEClassifier(signatures, feature_norm=None, epochs=2)
        return clf.fit(X - offset, y).decision_function(X - offset)

    low = 2 * np.abs(X).max()
    np.testing.assert_allclose(scores(low), scores(2 * low), rtol=1e-3, atol=1e-3)
