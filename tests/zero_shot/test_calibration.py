"""A bias against seen classes, chosen without unseen ones."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import parametrize_with_zero_shot_checks
from zslearn.evaluation import GeneralizedProtocol
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import (
    harmonic_mean,
    make_zero_shot_scorer,
    per_class_accuracy,
    seen_unseen_curve,
)
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import CalibratedStacking, ConSEClassifier, LegacyCUB, SAEClassifier
from zslearn.zero_shot.expectation import expect
from zslearn.zero_shot.held_out import MAX_KEPT, choose_gamma


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(16, 4, n_per_class=15, noise=2.0, domain_shift=0.3, random_state=1)


@pytest.fixture(scope="module")
def task(data):
    return GeneralizedProtocol().task(data)


def harmonic(clf, data, task):
    y, predicted = data.y[task.test], clf.predict(data.X[task.test], task.candidates)
    side = np.isin(y, task.seen)
    return harmonic_mean(
        per_class_accuracy(y[side], predicted[side]), per_class_accuracy(y[~side], predicted[~side])
    )


@parametrize_with_checks(
    [
        CalibratedStacking(SAEClassifier()),
        CalibratedStacking(make_pipeline(StandardScaler(), SAEClassifier())),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@parametrize_with_zero_shot_checks([CalibratedStacking(SAEClassifier(lam=1.0))])
def test_zero_shot_checks(case, check):
    check(case)


def test_a_step_before_the_classifier_that_it_would_do_itself_changes_nothing(data, task):
    X, y = data.X[task.train], data.y[task.train]
    alone = CalibratedStacking(SAEClassifier(data.signatures)).fit(X, y)
    last = SAEClassifier(data.signatures, feature_norm=None)
    piped = CalibratedStacking(make_pipeline(Normalizer(), last)).fit(X, y)
    assert piped.gamma_ == pytest.approx(alone.gamma_)
    test = data.X[task.test]
    np.testing.assert_allclose(piped.decision_function(test), alone.decision_function(test))
    why, expected = (clf.explain(test[0], data.classes[0]) for clf in (piped, alone))
    assert why.score == pytest.approx(expected.score)


def test_steps_before_the_classifier_see_training_samples_of_their_fold_alone(data, task):
    fitted = []

    class Recording(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            fitted.append(len(X))
            return super().fit(X, y)

    X, y = data.X[task.train], data.y[task.train]
    piped = make_pipeline(Recording(), SAEClassifier(data.signatures, lam=1.0))
    CalibratedStacking(piped, cv=3).fit(X, y)
    assert fitted[0] == len(X)
    assert len(fitted) == 4
    assert all(n < len(X) for n in fitted[1:])


def test_nan_is_allowed_where_a_step_fills_it_in(data, task):
    X, y = data.X[task.train].copy(), data.y[task.train]
    X[::7, 2] = np.nan
    last = SAEClassifier(data.signatures, lam=1.0)
    clf = CalibratedStacking(make_pipeline(SimpleImputer(), last), gamma=0.1).fit(X, y)
    by_hand = CalibratedStacking(last, gamma=0.1).fit(SimpleImputer().fit_transform(X), y)
    filled = SimpleImputer().fit(X).transform(X)
    np.testing.assert_array_equal(clf.decision_function(X), by_hand.decision_function(filled))
    with pytest.raises(ValueError, match="NaN"):
        CalibratedStacking(make_pipeline(StandardScaler(), last)).fit(X, y)


def test_scores_of_seen_classes_are_lower_by_gamma(data, task):
    base = SAEClassifier(data.signatures, lam=1.0).fit(data.X[task.train], data.y[task.train])
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), gamma=0.25)
    clf.fit(data.X[task.train], data.y[task.train])
    X = data.X[task.test]
    scores = base.decision_function(X, task.candidates)
    expected = scores - 0.25 * np.isin(task.candidates, task.seen)
    np.testing.assert_allclose(clf.decision_function(X, task.candidates), expected)
    np.testing.assert_array_equal(
        clf.predict(X, task.candidates), task.candidates[expected.argmax(axis=1)]
    )
    assert clf.gamma_ == 0.25
    assert clf.curves_ == []


def test_harmonic_mean_rises_towards_the_oracle(data, task):
    plain = SAEClassifier(data.signatures, lam=1.0)
    clf = CalibratedStacking(plain).fit(data.X[task.train], data.y[task.train])
    scores = clf.estimator_.decision_function(data.X[task.test], task.candidates)
    curve = seen_unseen_curve(data.y[task.test], scores, candidates=task.candidates, seen=task.seen)
    found, best = harmonic(clf, data, task), curve.oracle.harmonic_mean
    assert curve.uncalibrated.harmonic_mean < found <= best + 1e-12
    assert found > best - 0.1


def test_gamma_depends_on_nothing_but_the_training_rows(data, task):
    base = SAEClassifier(data.signatures, lam=1.0)
    gamma = CalibratedStacking(base).fit(data.X[task.train], data.y[task.train]).gamma_
    vectors = data.signatures.vectors.copy()
    vectors[data.signatures.index_of(task.unseen)] = 77.0
    other = type(data.signatures)(data.signatures.names, vectors)
    again = CalibratedStacking(SAEClassifier(other, lam=1.0))
    assert again.fit(data.X[task.train], data.y[task.train]).gamma_ == gamma


def test_folds_hold_out_classes_and_samples(data, task, monkeypatch):
    seen_by_fit = []
    fit = SAEClassifier.fit

    def watch(self, X, y):
        seen_by_fit.append(np.asarray(y))
        return fit(self, X, y)

    monkeypatch.setattr(SAEClassifier, "fit", watch)
    X, y = data.X[task.train], data.y[task.train]
    CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), cv=4).fit(X, y)
    whole, *folds = seen_by_fit
    assert len(whole) == len(y)
    assert [len(np.unique(part)) for part in folds] == [12] * 4
    # 12 samples a class are left of 15, of which round(0.2 · 12) = 2 are held out in a fold.
    assert all((np.unique(part, return_counts=True)[1] == 10).all() for part in folds)


@pytest.mark.parametrize(
    ("n_seen", "n_unseen", "folds"),
    [(16, 4, 5), (18, 6, 4), (20, 40, 2), (30, 1, 10), (3, 2, 0), (15, 5, 15), (4, 2, 4)],
)
def test_auto_folds_keep_the_share_of_unseen_or_hold_out_one_of_few(n_seen, n_unseen, folds):
    data = make_zero_shot(n_seen, n_unseen, n_per_class=4, random_state=0)
    rows = data.rows(data.split("standard").seen)
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0))
    clf.fit(data.X[rows], data.y[rows])
    assert len(clf.curves_) == folds
    assert folds or clf.gamma_ == 0.0


def test_the_chosen_gamma_beats_every_gamma_of_a_grid(data, task):
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0))
    curves = clf.fit(data.X[task.train], data.y[task.train]).curves_

    def mean(gamma):
        return np.mean([curve.at(gamma).harmonic_mean for curve in curves])

    best = mean(clf.gamma_)
    assert best >= max(mean(gamma) for gamma in np.linspace(-2, 2, 2001)) - 1e-12
    assert clf.cv_results_["mean_test_score"].max() == pytest.approx(best)


def test_the_results_keep_some_of_the_biases_and_the_best(data, task, monkeypatch):
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0))
    curves = clf.fit(data.X[task.train], data.y[task.train]).curves_
    monkeypatch.setattr("zslearn.zero_shot.held_out.MAX_KEPT", 7)
    few = choose_gamma(curves)
    assert few.best_params == clf.best_params_ == {"gamma": clf.gamma_}
    gammas = [point["gamma"] for point in few.cv_results["params"]]
    assert 7 <= len(gammas) <= 8
    assert gammas == sorted(gammas)
    everything = [point["gamma"] for point in clf.cv_results_["params"]]
    assert len(everything) <= MAX_KEPT + 1
    assert {gammas[0], gammas[-1]} == {everything[0], everything[-1]}


def test_a_frozen_copy_has_the_bias_and_the_parameters_as_numbers(data, task):
    X, y = data.X[task.train], data.y[task.train]
    clf = CalibratedStacking(ConSEClassifier(data.signatures)).fit(X, y)
    again = clf.frozen()
    assert again.gamma == clf.gamma_
    assert again.estimator.temperature == clf.estimator_.temperature_
    again.fit(X, y)
    assert again.cv_results_ is None
    assert again.best_params_ == {}
    new = data.X[task.test]
    np.testing.assert_allclose(again.decision_function(new), clf.decision_function(new))


def test_a_class_with_one_sample_and_classes_of_one_sample_only(data):
    rows = data.rows(data.split("standard").seen)
    X, y = data.X[rows][::15], data.y[rows][::15]
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0)).fit(X, y)
    assert clf.gamma_ == 0.0


def test_new_classes_count_as_unseen(data, task):
    table = data.signatures.drop(["unseen0"])
    clf = CalibratedStacking(SAEClassifier(table, lam=1.0), gamma=10.0)
    clf.fit(data.X[task.train], data.y[task.train])
    clf.add_classes({"unseen0": data.signatures["unseen0"]})
    assert (clf.predict(data.X[:5], ["seen0", "unseen0"]) == "unseen0").all()


def test_goes_with_scikit_learn_searches_and_clones(data, task):
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), gamma=0.1)
    assert clone(clf).get_params()["estimator__lam"] == 1.0
    grid = {"estimator__lam": [0.1, 1.0], "gamma": [0.0]}
    search = GridSearchCV(clf, grid, cv=ClassKFold(3), scoring=make_zero_shot_scorer("unseen"))
    search.fit(data.X[task.train], data.y[task.train])
    assert search.best_params_["estimator__lam"] in (0.1, 1.0)


def test_a_transductive_classifier_stays_one(data, task):
    clf = CalibratedStacking(LegacyCUB(data.signatures))
    clf.fit(data.X[task.train], data.y[task.train])
    assert clf.zero_shot_tags.transductive
    assert len(clf.predict(data.X[task.test])) == len(task.test)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma": "best"}, "gamma must be 'auto' or a number"),
        ({"gamma": np.nan}, "gamma must be"),
        ({"gamma": np.inf}, "gamma must be"),
        ({"cv": 1}, "cv must be .* at least 2"),
        ({"cv": 2.5}, "cv must be"),
        ({"holdout": 0}, "holdout must be a number above 0 and below 1"),
    ],
)
def test_refuses_wrong_choices(data, changes, message):
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), **changes)
    with pytest.raises(InvalidInputError, match=message):
        clf.fit(data.X[:240], data.y[:240])


def test_refuses_an_ordinary_classifier(data):
    with pytest.raises(InvalidInputError, match=r"estimator must be a zero-shot .*got SVC"):
        CalibratedStacking(SVC()).fit(data.X, data.y)


def test_the_old_name_of_the_bias_warns():
    data = make_zero_shot(random_state=0)
    seen = data.rows(data.split("standard").seen)
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), cv=2)
    clf.fit(data.X[seen], data.y[seen])
    with pytest.warns(FutureWarning, match="bias_ is called gamma_ now"):
        assert clf.bias_ == clf.gamma_


def test_what_is_expected_counts_the_rows_that_folds_leave_to_learn_from(data):
    split = data.split("standard")
    rows = data.rows(split.seen)
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), holdout=0.25)
    clf.fit(data.X[rows], data.y[rows])
    assert clf.rows_learned_ == 0.75
    assert clf.expected_accuracy_ == expect(clf.ranks_["unseen"], 4, learned=0.75)
