from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.svm import LinearSVC

from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import check_zero_shot_classifier
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import SynCClassifier
from zslearn.zero_shot.synthesized.sync import (
    LENGTH_WEIGHT,
    PhantomProblem,
    median_distance,
    minimize_classifiers,
    one_versus_other,
    phantom_similarity,
)

LOSSES = ("ovo", "cs", "struct")


@pytest.fixture(scope="module")
def parts():
    data = make_zero_shot(n_seen=60, n_dimensions=6, noise=0.2, random_state=3)
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    return data.signatures, data.X[seen], data.y[seen], data.X[unseen], data.y[unseen]


@pytest.mark.parametrize("loss", LOSSES)
def test_passes_the_checks_of_zero_shot_classifiers(loss):
    check_zero_shot_classifier(SynCClassifier(loss=loss, lam=1e-3, scale=1.0, max_iter=20))


@pytest.mark.parametrize("loss", LOSSES)
def test_recognizes_unseen_classes_of_a_linear_world(loss, parts):
    signatures, X, y, X_new, y_new = parts
    clf = SynCClassifier(signatures, loss=loss, max_iter=40).fit(X, y)
    assert clf.score(X_new, y_new, "unseen") > 0.9
    assert len(clf.cv_results_["params"]) == 4 * 11
    best = clf.cv_results_["params"][int(clf.cv_results_["mean_test_score"].argmax())]
    assert best == clf.best_params_ == {"lam": clf.lam_, "scale": clf.scale_}


def test_held_out_accuracies_equal_refits(parts):
    signatures, X, y, _, _ = parts
    clf = SynCClassifier(signatures, lam=1e-3, max_iter=30).fit(X, y)
    folds = list(ClassKFold(3, shuffle=True, random_state=0).split(X, y))
    for i in (0, 5, 10):
        point = clf.cv_results_["params"][i]
        for f, (train, test) in enumerate(folds):
            refit = SynCClassifier(signatures, max_iter=30, **point).fit(X[train], y[train])
            wanted = refit.score(X[test], y[test], np.unique(y[test]))
            # A refit measures the scale by the median distance of fewer classes.
            assert clf.cv_results_[f"split{f}_test_score"][i] == pytest.approx(wanted, abs=0.02)


def test_one_versus_other_is_the_squared_hinge_svm_of_each_seen_class(parts):
    signatures, X, y, _, _ = parts
    rows = np.isin(y, np.unique(y)[:6])
    X, y = X[rows], y[rows]
    lam = 1e-2
    clf = SynCClassifier(signatures, lam=lam, scale=2.0, max_iter=500).fit(X, y)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    # mean over samples and classes + (λ/2)‖w‖²  =  LinearSVC with C = 1 / (N · classes · λ)
    svm = LinearSVC(
        loss="squared_hinge", C=1.0 / (len(y) * 6 * lam), fit_intercept=False, tol=1e-8, dual=False
    ).fit(unit, y)
    ours = clf.decision_function(X, candidates=np.unique(y))
    np.testing.assert_allclose(ours, svm.decision_function(unit), atol=2e-3)


@pytest.fixture
def problem():
    rng = np.random.RandomState(0)
    X, y, A = rng.standard_normal((20, 5)), rng.randint(4, size=20), rng.standard_normal((4, 3))
    return PhantomProblem(X, y, A, one_versus_other, 0.1, 0.7, 0.01, 0.05)


def test_gradient_of_the_phantoms(problem):
    rng = np.random.RandomState(1)
    M, V = rng.standard_normal((3, 4)), rng.standard_normal((3, 5))
    error = check_grad(
        lambda m: problem.value(m.reshape(3, 4), V)[0],
        lambda m: problem.value(m.reshape(3, 4), V)[1].ravel(),
        M.ravel(),
    )
    assert error < 1e-5


def test_sparse_phantoms_are_better_and_a_heavy_weight_empties_them(problem):
    rng = np.random.RandomState(1)
    M, V = rng.standard_normal((3, 4)), rng.standard_normal((3, 5))

    def objective(m):
        return problem.value(m, V)[0] + problem.sparsity * np.abs(m).sum()

    assert objective(problem.minimized(M, V)) < objective(M)
    np.testing.assert_allclose(replace(problem, sparsity=100.0).minimized(M, V), 0.0, atol=1e-8)


def test_learned_phantoms_lower_the_objective(parts):
    signatures, X, y, X_new, y_new = parts
    fixed = {"lam": 1e-4, "scale": 1.0, "n_phantoms": 10, "max_iter": 60}
    plain = SynCClassifier(signatures, **fixed).fit(X, y)
    learned = SynCClassifier(signatures, **fixed, learn_phantoms=True, sparsity=0.0).fit(X, y)
    A = plain.seen_signatures_ / plain.median_distance_
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    place = np.unique(y, return_inverse=True)[1]
    problem = PhantomProblem(unit, place, A, one_versus_other, 1e-4, 1.0, 0.0, LENGTH_WEIGHT)
    before, after = (
        problem.value(clf.phantoms_ @ np.linalg.pinv(A), clf.coef_)[0] for clf in (plain, learned)
    )
    assert after < before - 1e-4
    assert learned.phantoms_.shape == plain.phantoms_.shape
    assert learned.score(X_new, y_new, "unseen") > 0.6


def test_gradient_of_one_versus_other():
    rng = np.random.RandomState(0)
    F, y = rng.standard_normal((6, 4)), rng.randint(4, size=6)
    error = check_grad(
        lambda f: one_versus_other(f.reshape(6, 4), y)[0],
        lambda f: one_versus_other(f.reshape(6, 4), y)[1].ravel(),
        F.ravel(),
    )
    assert error < 1e-6


def test_all_phantoms_learned_directly_agree_with_the_fast_version():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 4
    mixing = phantom_similarity(np.eye(4), np.eye(4), 2.0)
    W, _ = minimize_classifiers(np.zeros((4, 5)), X, y, one_versus_other, 0.1, max_iter=500)
    V, _ = minimize_classifiers(np.zeros((4, 5)), X, y, one_versus_other, 0.1, mixing, max_iter=500)
    np.testing.assert_allclose(mixing @ V, W, atol=1e-3)


def test_fewer_phantoms_still_recognize(parts):
    signatures, X, y, X_new, y_new = parts
    clf = SynCClassifier(signatures, n_phantoms=20, lam=1e-4, scale=0.25).fit(X, y)
    assert clf.coef_.shape == (20, 64)
    assert clf.score(X_new, y_new, "unseen") > 0.6


def test_similarity_rows_sum_to_one_and_prefer_the_nearest():
    A = np.array([[0.0, 0.0], [3.0, 0.0]])
    similarity = phantom_similarity(A, A, 1.0)
    np.testing.assert_allclose(similarity.sum(axis=1), 1.0)
    np.testing.assert_allclose(similarity[0, 1] / similarity[0, 0], np.exp(-9.0))
    assert median_distance(A) == 3.0
    assert median_distance(A[:1]) == 1.0


def test_verbose_reports_folds(parts, capsys):
    signatures, X, y, _, _ = parts
    SynCClassifier(signatures, lam=1e-3, verbose=1, max_iter=4).fit(X, y)
    assert "fold 3/3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"loss": "log"}, "loss must be 'ovo', 'cs' or 'struct'"),
        ({"lam": 0.0}, "lam must be 'cv' or a positive"),
        ({"scale": "auto"}, "scale must be 'cv' or a positive"),
        ({"n_phantoms": 0}, "n_phantoms must be None or a whole number of at least 1"),
    ],
)
def test_unusable_parameters_are_refused(wrong, match, parts):
    signatures, X, y, _, _ = parts
    with pytest.raises(InvalidInputError, match=match):
        SynCClassifier(signatures, **wrong).fit(X, y)
