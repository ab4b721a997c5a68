"""Ridge in both directions and ESZSL: paths, choices and limits."""

import numpy as np
import pytest

from zslearn._declared import search_space
from zslearn.core.moments import Moments
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import ESZSLClassifier, RidgeClassifierFS, RRZSLClassifier

METHODS = [RidgeClassifierFS, RRZSLClassifier, ESZSLClassifier]


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(noise=1.5, n_per_class=12, random_state=3)


def _seen(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


def _unseen(data):
    rows = data.rows(data.split("standard").unseen)
    return data.X[rows], data.y[rows]


@pytest.mark.parametrize("method", METHODS)
def test_the_path_of_held_out_accuracies_equals_refitting_every_point(data, method):
    X, y = _seen(data)
    clf = method(data.signatures, cv=3).fit(X, y)
    folds = list(ClassKFold(3, shuffle=True, random_state=0).split(X, y))
    found = clf.cv_results_
    chosen = np.linspace(0, len(found["params"]) - 1, 4).astype(int)
    for i in chosen:
        point = found["params"][i]
        refits = [
            method(data.signatures, **point).fit(X[a], y[a]).score(X[b], y[b], np.unique(y[b]))
            for a, b in folds
        ]
        np.testing.assert_allclose([found[f"split{f}_test_score"][i] for f in range(3)], refits)


@pytest.mark.parametrize("method", METHODS)
def test_the_chosen_penalty_is_the_best_of_the_path_and_beats_chance(data, method):
    clf = method(data.signatures).fit(*_seen(data))
    best = clf.cv_results_["params"][int(clf.cv_results_["mean_test_score"].argmax())]
    assert clf.best_params_ == best
    assert clf.frozen().get_params()["cv"] == 5
    assert {name: clf.frozen().get_params()[name] for name in best} == best
    assert all(getattr(clf, f"{name}_") == value for name, value in best.items())
    assert clf.score(*_unseen(data), "unseen") > 0.6


@pytest.mark.parametrize("method", METHODS)
def test_moments_alone_give_the_same_map(data, method):
    X, y = _seen(data)
    fixed = {name: 0.3 for name in search_space(method())}
    clf = method(data.signatures, feature_norm=None, **fixed)
    W = clf.fit(X, y).coef_
    halves = Moments.of(X[::2], y[::2]) + Moments.of(X[1::2], y[1::2])
    np.testing.assert_allclose(clf.learn(halves).coef_, W, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_fewer_samples_than_features(method):
    data = make_zero_shot(n_per_class=2, n_features=90, noise=0.1, random_state=0)
    X, y = _seen(data)
    X, y = X[:20], y[:20]
    fixed = {name: 0.3 for name in search_space(method())}
    wide = method(data.signatures, feature_norm=None, **fixed).fit(X, y).coef_
    direct = method(data.signatures, feature_norm=None, **fixed).learn(Moments.of(X, y))
    np.testing.assert_allclose(wide, direct.coef_, atol=1e-8)


def test_without_noise_both_ridges_find_the_true_map():
    data = make_zero_shot(noise=0.0, random_state=0)
    X, y = _seen(data)
    clf = RRZSLClassifier(data.signatures, lam=1e-9, feature_norm=None, signature_norm=None)
    np.testing.assert_allclose(clf.fit(X, y).coef_, data.extra["true_coef"], atol=1e-6)
    other = RidgeClassifierFS(data.signatures, gamma=1e-7, feature_norm=None, signature_norm=None)
    encoded = X @ other.fit(X, y).coef_.T
    np.testing.assert_allclose(encoded, data.signatures.rows(y), atol=1e-4)


def test_wrong_penalties_and_codings_are_refused(data):
    X, y = _seen(data)
    with pytest.raises(InvalidInputError, match="lam must be 'cv' or a positive number"):
        RRZSLClassifier(data.signatures, lam="best").fit(X, y)
    with pytest.raises(InvalidInputError, match="gamma must be 'cv' or a positive number"):
        ESZSLClassifier(data.signatures, gamma=-1).fit(X, y)
    with pytest.raises(InvalidInputError, match="coding must be 'signed' or 'binary'"):
        ESZSLClassifier(data.signatures, coding="onehot").fit(X, y)
    with pytest.raises(InvalidInputError, match="cv must be a whole number"):
        ESZSLClassifier(data.signatures, cv=1).fit(X, y)
