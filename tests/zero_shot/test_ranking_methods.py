from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone

from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import check_zero_shot_classifier
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import (
    ALEClassifier,
    DeViSEClassifier,
    DSSJEClassifier,
    SJEClassifier,
    SynCClassifier,
)

METHODS = (SJEClassifier, ALEClassifier, DeViSEClassifier, DSSJEClassifier)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(n_seen=30, noise=0.2, random_state=3)


def _parts(data):
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    return data.X[seen], data.y[seen], data.X[unseen], data.y[unseen]


@pytest.mark.parametrize("method", METHODS)
def test_passes_the_checks_of_zero_shot_classifiers(method):
    check_zero_shot_classifier(method(max_epochs=5))


@pytest.mark.parametrize("method", METHODS)
def test_recognizes_unseen_classes_of_a_linear_world(method, data):
    X, y, X_new, y_new = _parts(data)
    clf = method(data.signatures).fit(X, y)
    assert clf.score(X_new, y_new, "unseen") > 0.95
    assert clf.loss_curve_.shape == (clf.n_epochs_,)
    assert clf.coef_.shape == (16, 64)
    tried = list(range(1, clf.max_epochs + 1))
    centerings = 2 if method is ALEClassifier else 1
    assert [point["epochs"] for point in clf.cv_results_["params"]] == tried * centerings
    assert clf.best_params_["epochs"] == clf.n_epochs_


def test_ale_takes_the_centering_that_held_out_classes_prefer():
    # Far from the origin an uncentered descent spends its steps on the common mean.
    data = make_zero_shot(n_seen=30, noise=0.2, random_state=3)
    X, y, _, _ = _parts(data)
    far = X + 20 * np.abs(X).max()
    assert ALEClassifier(data.signatures, max_epochs=5).fit(far, y).center_
    plain = ALEClassifier(data.signatures, center=False, epochs=3).fit(X, y)
    np.testing.assert_array_equal(plain.feature_mean_, 0.0)
    both = ALEClassifier(data.signatures, max_epochs=5).fit(X, y)
    means = both.cv_results_["mean_test_score"]
    assert means[both.cv_results_["params"].index(both.best_params_ | {"learning_rate": 1.0})] == (
        means.max()
    )


@pytest.mark.parametrize("method", METHODS)
def test_loss_falls_and_gradient_is_right(method, data):
    X, y, _, _ = _parts(data)
    clf = method(data.signatures, epochs=8).fit(X, y)
    assert clf.loss_curve_[-1] < 0.5 * clf.loss_curve_[0]
    rng = np.random.RandomState(0)
    A, S, labels = rng.standard_normal((9, 3)), rng.standard_normal((4, 2)), rng.randint(4, size=9)

    def at(w, part):
        found = clf._loss({"W": w.reshape(3, 2)}, A, labels, S, {})
        return found[0] if part == "loss" else found[1]["W"].ravel()

    w = rng.standard_normal(6)
    assert check_grad(lambda v: at(v, "loss"), lambda v: at(v, "gradient"), w) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_predictions_do_not_depend_on_the_margin(method, data):
    X, y, X_new, _ = _parts(data)
    one = method(data.signatures, margin=1.0, epochs=3).fit(X, y)
    four = method(data.signatures, margin=4.0, epochs=3).fit(X, y)
    np.testing.assert_allclose(four.coef_, 4.0 * one.coef_, rtol=1e-3, atol=1e-4)
    assert (one.predict(X_new) == four.predict(X_new)).mean() > 0.99


def test_several_equal_spaces_are_one_space(data):
    X, y, X_new, _ = _parts(data)
    twice = data.signatures.join(data.signatures, names=("first", "second"))
    one = SJEClassifier(data.signatures).fit(X, y)
    two = SJEClassifier(twice).fit(X, y)
    np.testing.assert_allclose(
        one.decision_function(X_new), two.decision_function(X_new), atol=1e-5
    )
    assert two.space_weights_ == {"first": 0.5, "second": 0.5}
    found = two.cv_results_["params"]
    assert {point.get("space") for point in found} == {"first", "second", None}
    assert two.best_params_ == {"epochs": two.n_epochs_, "space_weights": two.space_weights_}
    assert two.frozen().space_weights == two.space_weights_


def test_a_space_of_noise_gets_little_weight(data):
    X, y, X_new, y_new = _parts(data)
    rng = np.random.RandomState(0)
    noise = type(data.signatures)(data.signatures.names, rng.standard_normal((35, 16)))
    joined = data.signatures.join(noise, names=("good", "noise"))
    clf = SJEClassifier(joined).fit(X, y)
    assert clf.space_weights_["good"] >= 0.6
    assert clf.score(X_new, y_new, "unseen") > 0.9
    alone = clone(clf).set_params(space_weights={"good": 1.0, "noise": 0.0}).fit(X, y)
    single = SJEClassifier(data.signatures).fit(X, y)
    assert (alone.predict(X_new) == single.predict(X_new)).all()


def test_wrong_space_weights_are_refused(data):
    X, y, _, _ = _parts(data)
    with pytest.raises(InvalidInputError, match="each of the spaces signatures"):
        SJEClassifier(data.signatures, epochs=1, space_weights={"other": 1.0}).fit(X, y)
    with pytest.raises(InvalidInputError, match="'cv' or a dict"):
        SJEClassifier(data.signatures, epochs=1, space_weights="equal").fit(X, y)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"margin": 0.0}, "margin must be a positive"),
        ({"epochs": "many"}, "epochs must be 'cv' or a whole number"),
        ({"batch_size": 0}, "batch_size must be 'auto' or a whole number"),
        ({"cv": 1}, "cv must be a whole number"),
        ({"max_epochs": 0}, "max_epochs must be a whole number of at least 1"),
    ],
)
def test_unusable_parameters_are_refused(wrong, match, data):
    X, y, _, _ = _parts(data)
    with pytest.raises(InvalidInputError, match=match):
        ALEClassifier(data.signatures, **wrong).fit(X, y)


def test_learning_rate_is_chosen_on_held_out_classes(data):
    X, y, _, _ = _parts(data)
    clf = ALEClassifier(data.signatures, learning_rate="cv", max_epochs=4).fit(X, y)
    best = clf.cv_results_["params"][int(clf.cv_results_["mean_test_score"].argmax())]
    assert (
        best
        == clf.best_params_
        == {"learning_rate": clf.learning_rate_, "center": clf.center_, "epochs": clf.n_epochs_}
    )
    assert len(clf.cv_results_["params"]) == 2 * 2 * 4


@pytest.mark.parametrize("epochs", [3, "cv"])
def test_held_out_accuracies_equal_refits_with_that_many_epochs(data, epochs):
    X, y, _, _ = _parts(data)
    settings = {"learning_rate": "cv", "max_epochs": 4, "epochs": epochs, "batch_size": 32}
    clf = ALEClassifier(data.signatures, **settings).fit(X, y)
    folds = list(ClassKFold(3, shuffle=True, random_state=0).split(X, y))
    for i in (1, len(clf.cv_results_["params"]) - 1):
        fixed = settings | clf.cv_results_["params"][i]
        for f, (train, test) in enumerate(folds):
            refit = ALEClassifier(data.signatures, **fixed).fit(X[train], y[train])
            wanted = refit.score(X[test], y[test], np.unique(y[test]))
            assert clf.cv_results_[f"split{f}_test_score"][i] == pytest.approx(wanted)


def test_verbose_reports_folds_and_epochs_on_stderr(data, capsys):
    X, y, _, _ = _parts(data)
    ALEClassifier(data.signatures, max_epochs=2, verbose=2).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "epoch 2/2: loss" in err
    assert "fold 3/3" in err


@pytest.mark.parametrize("method", [ALEClassifier, SynCClassifier])
def test_an_interruption_leaves_the_classifier_as_it_was(method, data, monkeypatch):
    X, y, X_new, _ = _parts(data)
    clf = method(data.signatures)

    def interrupted(*_):
        raise KeyboardInterrupt("stop")

    monkeypatch.setattr(method, "_loss", interrupted)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        clf.fit(X, y)
    assert not hasattr(clf, "classes_")
    monkeypatch.undo()
    before = clf.fit(X, y).predict(X_new)
    monkeypatch.setattr(method, "_loss", interrupted)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        clf.fit(X[:200], y[:200])
    np.testing.assert_array_equal(clf.predict(X_new), before)
