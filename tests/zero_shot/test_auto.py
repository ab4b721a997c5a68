"""The choice among methods: checks, known winners, the guard, budgets, what to expect."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.datasets import make_family, make_zero_shot
from zslearn.estimator_checks import parametrize_with_zero_shot_checks
from zslearn.exceptions import InvalidInputError, ZslearnWarning
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    AutoZeroShotClassifier,
    DAPClassifier,
    RRZSLClassifier,
    SAEClassifier,
)
from zslearn.zero_shot.auto import budget, judging
from zslearn.zero_shot.auto.choice import Rivals, clearly_better, guarded, mean_after_choice
from zslearn.zero_shot.auto.diagnosis import shuffled
from zslearn.zero_shot.auto.expectation import LearningCurve, accuracy_among, expect
from zslearn.zero_shot.auto.fold_ranks import FoldRanks
from zslearn.zero_shot.auto.portfolio import default_names, members_of
from zslearn.zero_shot.auto.recommendation import with_recommended
from zslearn.zero_shot.auto.records import Record

QUICK = [RRZSLClassifier(lam=1.0), SAEClassifier(lam=1.0, direction="encode")]
BAYES = "standardize > dap + naive-bayes"


@parametrize_with_zero_shot_checks([AutoZeroShotClassifier(portfolio=QUICK, cv=2)])
def test_zero_shot_checks(case, check):
    check(case)


def machines(n_classes=12, n_per_class=25, n_attributes=5, seed=0):
    """Classes whose attributes are in the spread of three channels each, never in a mean."""
    rng = np.random.default_rng(seed)
    codes = 1 + rng.choice(2**n_attributes - 1, n_classes, replace=False)
    has = (codes[:, None] >> np.arange(n_attributes)) & 1
    index = np.repeat(np.arange(n_classes), n_per_class)
    X = rng.standard_normal((len(index), 3 * n_attributes))
    X *= np.repeat(1 + 3 * has, 3, axis=1)[index]
    names = np.array([f"machine {i:02d}" for i in range(n_classes)])
    # Columns in other units, and one that never varies.
    X = np.column_stack([X * np.logspace(-3, 3, X.shape[1]), np.full(len(X), 5.0)])
    return X, names[index], Signatures(names, has)


@pytest.fixture(scope="module")
def linear():
    return make_zero_shot(10, 3, n_per_class=12, n_features=12, n_dimensions=6, random_state=0)


def fitted(data, **parameters):
    rows = data.rows(data.split("standard").seen)
    return AutoZeroShotClassifier(data.signatures, **parameters).fit(data.X[rows], data.y[rows])


def test_naive_bayes_is_taken_where_attributes_are_in_the_spread():
    X, y, table = machines()
    seen = np.isin(y, table.names[:9])
    clf = AutoZeroShotClassifier(table, portfolio=["rrzsl", "eszsl", BAYES])
    clf.fit(X[seen], y[seen])
    assert clf.best_params_ == {"portfolio": BAYES}
    assert clf.leaderboard_["member"][0] == BAYES
    reached = clf.score(X[~seen], y[~seen], candidates="unseen")
    assert reached > 0.7
    assert clf.expected_accuracy_.low <= reached <= clf.expected_accuracy_.high
    assert clf.expected_accuracy_.n_candidates == 3


def test_a_linear_member_is_taken_where_features_are_linear(linear):
    clf = fitted(linear, portfolio=["rrzsl", BAYES])
    assert clf.best_params_ == {"portfolio": "rrzsl"}


@pytest.mark.parametrize(
    ("family", "kinds"),
    [
        ("few classes", (BAYES,)),
        ("product", ("standardize > dap + quadratic",)),
        ("linear", ("prototype-regression",)),
    ],
)
def test_a_member_of_the_right_kind_is_taken(family, kinds):
    portfolio = ["eszsl", "prototype-regression", BAYES, "standardize > dap + quadratic"]
    clf = fitted(make_family(family, random_state=0), portfolio=portfolio)
    assert clf.member_ in kinds


@pytest.mark.parametrize("seed", [0, 2])
def test_twelve_classes_of_sensors_are_enough_to_leave_a_member_near_chance(seed):
    data = make_family("sensors", random_state=seed)
    clf = fitted(data, portfolio=["eszsl", "prototype-regression", BAYES])
    assert clf.member_ == BAYES
    unseen = data.rows(data.split("standard").unseen)
    reached = clf.score(data.X[unseen], data.y[unseen], candidates="unseen")
    assert clf.expected_accuracy_.low <= reached <= clf.expected_accuracy_.high


def test_it_answers_as_the_member_taken_does_on_all_rows(linear):
    clf = fitted(linear, portfolio=[*QUICK, make_pipeline(StandardScaler(), *QUICK[:1])])
    taken = clf.member_.startswith("StandardScaler")
    rows = linear.rows(linear.split("standard").seen)
    alone = clf.frozen().portfolio[0].fit(linear.X[rows], linear.y[rows])
    X = alone[:-1].transform(linear.X) if taken else linear.X
    np.testing.assert_array_equal(clf.decision_function(linear.X), alone[-1].decision_function(X))
    why, own = (one.explain(linear.X[0], "unseen0") for one in (clf, alone[-1]))
    np.testing.assert_array_equal(why.contributions, own.contributions)


def test_a_second_fit_judges_the_same_and_another_seed_does_not(linear):
    scores = [
        fitted(linear, portfolio=QUICK, random_state=seed).cv_results_["split0_test_score"]
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_save_load_and_frozen_keep_everything(linear, tmp_path):
    clf = fitted(linear, portfolio=["nystroem > rrzsl", "nystroem > eszsl"])
    save(clf, tmp_path / "m.zsl")
    again = load(tmp_path / "m.zsl")
    np.testing.assert_array_equal(
        again.decision_function(linear.X), clf.decision_function(linear.X)
    )
    assert again.expected_accuracy_ == clf.expected_accuracy_
    assert again.expected_accuracy(2) == clf.expected_accuracy(2)
    assert again.learning_curve_ == clf.learning_curve_
    assert repr(again.leaderboard_) == repr(clf.leaderboard_)
    rows = linear.rows(linear.split("standard").seen)
    frozen = clf.frozen().fit(linear.X[rows], linear.y[rows])
    assert (frozen.cv_results_, frozen.best_params_, len(frozen.leaderboard_)) == (None, {}, 0)
    np.testing.assert_allclose(frozen.decision_function(linear.X), clf.decision_function(linear.X))


def test_a_member_that_fails_is_a_row_with_its_reason(linear):
    class Broken(RRZSLClassifier):
        def _fit(self, X, y):
            raise ValueError("the machine is on fire. Call help.")

    clf = fitted(linear, portfolio=[Broken(), *QUICK])
    row = clf.leaderboard_.rows[-1]
    assert (row["member"], row["note"]) == ("Broken", "failed: the machine is on fire")
    assert row["accuracy"] is None
    assert clf.leaderboard_.to_frame().shape == (4, 8)  # with the mean of the other two


def test_what_rivals_warn_of_stays_inside_whatever_they_do_to_the_filters(linear, recwarn):
    everything = len(linear.rows(linear.split("standard").seen))
    said = []

    class Loud(RRZSLClassifier):
        def _fit(self, X, y):
            if len(y) < everything:
                warnings.resetwarnings()  # as scikit-learn does for a moment, seen by all threads
                warnings.warn("of no interest", UserWarning, stacklevel=1)
                said.append(len(y))
            super()._fit(X, y)

    fitted(linear, portfolio=[Loud(lam=1.0), *QUICK[1:]])
    assert said
    assert not [one for one in recwarn if "of no interest" in str(one.message)]


def test_members_without_time_are_left_out_and_the_best_judged_one_is_fitted(linear, monkeypatch):
    clock = iter(np.arange(0.0, 1e6, 0.5))  # every look at the clock takes half a second
    monkeypatch.setattr(judging, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(budget, "perf_counter", lambda: next(clock))
    monkeypatch.setattr("zslearn.zero_shot.auto.classifier.perf_counter", lambda: next(clock))
    clf = fitted(linear, portfolio=["rrzsl", "eszsl", "sae", "exem"], time_budget=40.0)
    assert next(clock) <= 50.0  # a quarter more at most
    notes = dict(zip(clf.leaderboard_["member"], clf.leaderboard_["note"], strict=True))
    assert notes[clf.member_] == "taken"
    assert "the time budget was spent" in notes.values()


def test_the_recommended_member_is_judged_before_the_time_is_spent(linear, monkeypatch):
    clock = iter(np.arange(0.0, 1e6, 0.5))
    monkeypatch.setattr(judging, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(budget, "perf_counter", lambda: next(clock))
    monkeypatch.setattr("zslearn.zero_shot.auto.classifier.perf_counter", lambda: next(clock))
    clf = fitted(linear, portfolio=["rrzsl", "eszsl", "prototype-regression"], time_budget=12.0)
    judged = [row["member"] for row in clf.leaderboard_ if row["accuracy"] is not None]
    assert "prototype-regression" in judged
    assert "eszsl" not in judged


def test_the_time_of_a_fit_grows_faster_while_there_are_fewer_rows_than_features():
    member = members_of(["sae"], [], 0)[0]
    wide, narrow = (Record(member, times={600: 1.0}, n_features=n) for n in (2400, 50))
    assert wide.seconds_for(1200) == pytest.approx(4.0)
    assert wide.seconds_for(4800) == pytest.approx(16.0 * 2**0.8)
    assert narrow.seconds_for(1200) == pytest.approx(2**0.8)
    wide.times[1200] = 2.0
    assert wide.seconds_for(2400) == pytest.approx(4.0)  # as it grew before


def test_a_trial_on_too_few_rows_is_no_failure():
    X, y, table = machines(n_per_class=40)
    member = "standardize > dap + quadratic"
    clf = AutoZeroShotClassifier(table, portfolio=[member], time_budget=600).fit(X, y)
    assert clf.leaderboard_["note"] == ["taken"]
    assert clf.expected_accuracy_ is not None


def test_too_few_classes_take_the_recommended_member_with_a_warning():
    data = make_zero_shot(3, 2, n_per_class=8, n_features=6, n_dimensions=4, random_state=0)
    with pytest.warns(ZslearnWarning, match="3 seen classes, four are needed"):
        clf = fitted(data)
    assert clf.member_ == "prototype-regression"
    assert clf.expected_accuracy_ is None
    with pytest.raises(InvalidInputError, match="nothing was judged"):
        clf.expected_accuracy(2)


def test_signatures_without_information_are_told():
    data = make_zero_shot(12, 3, n_per_class=10, n_features=12, n_dimensions=6, random_state=3)
    other = np.random.default_rng(1).standard_normal(data.signatures.shape)
    rows = data.rows(data.split("standard").seen)
    clf = AutoZeroShotClassifier(Signatures(data.classes, other), portfolio=QUICK)
    with pytest.warns(ZslearnWarning, match="the signatures say nothing that these features show"):
        clf.fit(data.X[rows], data.y[rows])


def test_one_hot_signatures_hold_out_samples():
    data = make_zero_shot(5, 1, n_per_class=12, n_features=8, n_dimensions=4, random_state=0)
    clf = AutoZeroShotClassifier(portfolio=QUICK).fit(data.X, data.y)
    assert clf.score(data.X, data.y) > 0.9
    assert max(clf.leaderboard_["accuracy"]) > 0.8
    assert clf.expected_accuracy_ is None


def test_names_of_the_portfolio_are_checked(linear):
    with pytest.raises(InvalidInputError, match=r"preparation 'standardise'.* 'standardize'"):
        fitted(linear, portfolio=["standardise > sae"])
    with pytest.raises(InvalidInputError, match=r"classifier 'naive'.* Known: naive-bayes"):
        fitted(linear, portfolio=["dap + naive"])
    with pytest.raises(InvalidInputError, match="no method 'saee'"):
        fitted(linear, portfolio=["saee"])


def test_every_default_member_can_be_made_and_preprocess_narrows_them():
    names = default_names(20)
    assert [member.name for member in members_of("default", names, 0)] == names
    assert len(set(names)) == len(names) > len(default_names(2000)) > 10
    assert all(">" not in name for name in default_names(20, preprocess=None))
    kinds = {name.split(" > ")[0] for name in default_names(20, preprocess=["quantile"])}
    assert kinds >= {"quantile", "sae"}
    assert "standardize" not in kinds
    twice = members_of([SAEClassifier(), SAEClassifier()], [], 0)
    assert [member.name for member in twice] == ["SAEClassifier", "SAEClassifier (2)"]


@pytest.mark.parametrize("zero", ["seen", "unseen"])
def test_a_class_without_any_attribute_is_recognized_too(zero):
    # "Nothing is wrong" is a class of its own in many tables; its signature has no direction.
    rng = np.random.default_rng(0)
    has = 1 + np.arange(13)[:, None] >> np.arange(4) & 1
    has[3 if zero == "seen" else 12] = 0
    index = np.repeat(np.arange(13), 12)
    X = (2.0 * has - 1)[index] @ rng.standard_normal((4, 12)) + rng.standard_normal((156, 12)) / 3
    names = np.array([f"machine {i:02d}" for i in range(13)])
    y, seen = names[index], index < 10
    clf = AutoZeroShotClassifier(Signatures(names, has), portfolio=["sae", "prototype-regression"])
    clf.fit(X[seen], y[seen])
    assert clf.member_ == "prototype-regression"
    assert not any("failed" in note for note in clf.leaderboard_["note"])
    answers = clf.predict(X[~seen], candidates=names[10:])
    assert (answers == y[~seen]).mean() > 0.9


def test_given_estimators_are_judged_with_their_parameters():
    X, y, table = machines()
    seen = np.isin(y, table.names[:9])
    bayes = make_pipeline(
        StandardScaler(), DAPClassifier(feature_norm=None, classifier=GaussianNB())
    )
    clf = AutoZeroShotClassifier(table, portfolio=[RRZSLClassifier(lam=1.0), bayes])
    clf.fit(X[seen], y[seen])
    assert clf.best_params_ == {"portfolio": "StandardScaler > DAPClassifier"}
    assert bayes[-1].signatures is None


def test_the_recommended_member_stays_unless_another_is_clearly_better():
    rng = np.random.default_rng(0)
    recommended = rng.random(20)
    noisy = recommended + 0.02 + 0.2 * rng.standard_normal(20)
    clear = recommended + 0.02 + 0.01 * rng.standard_normal(20)
    assert guarded(np.stack([noisy, recommended], axis=1), recommended=1) == 1
    assert guarded(np.stack([clear, recommended], axis=1), recommended=1) == 0
    little = recommended + 0.005  # two standard errors, which are zero, but half a point only
    assert guarded(np.stack([little, recommended], axis=1), recommended=1) == 1


def test_the_best_of_many_members_that_are_as_good_rarely_takes_the_place():
    rng = np.random.default_rng(0)
    taken = []
    for _ in range(300):
        classes = rng.random((22, 1))
        table = classes + 0.15 * rng.standard_normal((22, 25))
        taken.append(guarded(table, recommended=4, rivals=Rivals(24, 1 / 6)) != 4)
    assert np.mean(taken) < 0.08


def test_two_standard_errors_are_enough_where_the_recommended_member_is_near_chance():
    recommended = np.full(12, 0.45)
    spread = np.linspace(-1, 1, 12) / np.linspace(-1, 1, 12).std(ddof=1) * np.sqrt(12)
    for gain, errors, better in ((0.3, 2.2, True), (0.3, 1.8, False), (0.1, 2.2, False)):
        other = recommended + gain + gain / errors * spread
        table = np.stack([other, recommended], axis=1)
        found = clearly_better(table, 1, Rivals(30, chance=1 / 3))
        assert found.tolist() == [better, False]
        assert clearly_better(table, 1, Rivals(1, chance=1 / 3))[0] == (errors > 2)
        assert not clearly_better(table, 1, Rivals(30, chance=0.0))[0]


def test_only_what_is_itself_clearly_better_takes_the_place_of_the_recommended_member():
    recommended = np.array([0.2, 0.4, 0.6, 0.8] * 5)
    wiggle = np.tile([0.2, -0.2, 0.2, -0.2], 5)
    clear, doubtful = recommended + 0.05, recommended + 0.055 + wiggle
    assert guarded(np.stack([doubtful, recommended, clear], axis=1), recommended=1) == 2
    # Nothing but means of members: the one of the fewest.
    other = clear + 0.005 + wiggle / 5  # within a standard error
    table = np.stack([doubtful, recommended, clear, other], axis=1)
    assert guarded(table, n_single=2, recommended=1) == 2


def test_a_mean_has_to_be_better_by_an_error_and_a_point():
    single = np.array([0.5, 0.6, 0.7, 0.8])
    for gain, taken in ((0.005, 0), (0.015, 1)):
        assert guarded(np.stack([single, single + gain], axis=1), n_single=1) == taken
    doubtful = np.add(single, [0.2, -0.15, 0.1, -0.05])
    assert guarded(np.stack([single, doubtful], axis=1), n_single=1) == 0


def test_what_is_taken_does_not_depend_on_the_units_of_columns(linear):
    scaled = "standardize > prototype-regression"
    portfolio = ["eszsl", "prototype-regression", scaled]
    rows = linear.rows(linear.split("standard").seen)
    units = 10.0 ** np.random.default_rng(0).uniform(-3, 3, linear.X.shape[1])
    taken = []
    for other in (1.0, np.random.default_rng(1).permutation(12) + 1.0):
        clf = AutoZeroShotClassifier(linear.signatures, portfolio=portfolio)
        clf.fit(linear.X[rows] * units * other, linear.y[rows])
        taken.append(clf.member_)
    assert taken == [scaled] * 2
    assert fitted(linear, portfolio=portfolio).member_ == "prototype-regression"
    # It is recommended only where it is there.
    marked = with_recommended(members_of(portfolio[:2], [], 0), linear.X * units)
    assert [one.recommended for one in marked] == [False, True]


def test_the_recommended_member_is_judged_to_the_end():
    X, y, table = machines()
    others = [BAYES, *(f"quantile > dap + {one}" for one in ("naive-bayes", "quadratic"))]
    others += [f"standardize > {one}" for one in ("dap + quadratic", "iap + naive-bayes", "dap")]
    clf = AutoZeroShotClassifier(table, portfolio=["prototype-regression", *others])
    clf.fit(X, y)
    last = [row["member"] for row in clf.leaderboard_ if row["folds"] and not row["note"]]
    assert "prototype-regression" in last
    assert "dap + " in clf.member_


def test_a_single_member_is_judged_and_without_folds_it_is_not(linear):
    clf = fitted(linear, portfolio=["rrzsl"])
    assert (clf.best_params_, clf.cv_results_, len(clf.leaderboard_)) == ({}, None, 1)
    assert clf.expected_accuracy_.n_candidates == 3
    again = fitted(linear, portfolio=["rrzsl"], cv=None)
    assert (again.expected_accuracy_, len(again.leaderboard_)) == (None, 0)
    np.testing.assert_array_equal(
        again.decision_function(linear.X), clf.decision_function(linear.X)
    )


def test_the_guard_takes_the_simplest_within_one_standard_error():
    best = np.array([0.5, 0.6, 0.7, 0.8])
    near = best - [0.1, -0.1, 0.05, -0.04]  # 0.0025 below, error 0.046
    far = best - [0.1, 0.1, 0.11, 0.1]
    assert guarded(np.stack([far, near, best], axis=1)) == 1
    assert guarded(np.stack([near, far, best], axis=1)) == 0
    assert guarded(np.stack([far, best], axis=1)) == 1
    assert guarded(np.array([[0.2, 0.3]])) == 1
    doubtful = best - [0.3, -0.2, 0.2, -0.2]  # 0.025 below, error 0.13: more than a point
    assert guarded(np.stack([doubtful, best], axis=1)) == 1


def test_the_correction_for_the_choice_is_nothing_where_there_is_no_choice():
    column = np.linspace(0, 1, 30)[:, None]
    assert abs(mean_after_choice(column, n_draws=2000) - 0.5) < 0.01


def test_ranks_and_accuracies_among_fewer_candidates_are_those_of_an_enumeration():
    rng = np.random.default_rng(0)
    scores, truth = rng.standard_normal((40, 5)).round(1), rng.integers(0, 5, 40)
    fold = FoldRanks.of(scores, truth, np.arange(5))
    right = scores.argmax(axis=1) == truth
    np.testing.assert_allclose(
        fold.accuracies, [right[truth == c].mean() for c in np.unique(truth)]
    )
    # Two candidates: the true class against each of the four others in turn.
    plain = rng.standard_normal((40, 5))
    fold = FoldRanks.of(plain, truth, np.arange(5))
    own = plain[np.arange(40), truth][:, None]
    wins = ((plain < own).sum(axis=1)) / 4
    by_hand = [wins[truth == c].mean() for c in np.unique(truth)]
    np.testing.assert_allclose(accuracy_among(fold.shares, 2), by_hand)
    np.testing.assert_allclose(accuracy_among(fold.shares, 5), fold.accuracies)
    assert (accuracy_among(fold.shares, 9) <= fold.accuracies).all()


def test_the_interval_holds_nine_of_ten_means_of_new_classes():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        share = rng.beta(4, 3, 30)
        folds = [
            FoldRanks(part, np.stack([share[part], 1 - share[part]], axis=1))
            for part in np.split(rng.permutation(30), 5)
        ]
        found = expect(folds, 2)
        hits += found.low <= rng.beta(4, 3, 2).mean() <= found.high
    assert 0.85 < hits / 300 < 0.96


def test_the_learning_curve_says_what_more_classes_bring(linear):
    curve = LearningCurve((5, 10, 20), (0.3, 0.4, 0.5))
    assert curve.gain(20, 20) == pytest.approx(0.1)
    assert LearningCurve((10, 20), (0.5, 0.4)).gain(20, 10) == 0
    found = fitted(linear, portfolio=QUICK).learning_curve_
    assert found.n_classes[-1] == 6  # ten classes less the largest fold
    assert found.accuracy[-1] > found.accuracy[0]


def test_shuffled_signatures_leave_no_seen_class_its_own(linear):
    seen = linear.split("standard").seen
    other = shuffled(linear.signatures, seen, 0)
    assert not (other.rows(seen) == linear.signatures.rows(seen)).all(axis=1).any()
    unseen = linear.split("standard").unseen
    np.testing.assert_array_equal(other.rows(unseen), linear.signatures.rows(unseen))
