"""The choice among methods: checks, known winners, calibration, budgets, what to expect."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.datasets import make_family, make_zero_shot
from zslearn.encoders import EncoderIdentity
from zslearn.estimator_checks import parametrize_with_zero_shot_checks
from zslearn.exceptions import InvalidInputError, ZslearnWarning
from zslearn.persistence import load, save
from zslearn.persistence.model import Decoder
from zslearn.serve.changes import learns_from_examples
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    AutoZeroShotClassifier,
    CalibratedStacking,
    DAPClassifier,
    RRZSLClassifier,
    SAEClassifier,
    auto,
)
from zslearn.zero_shot.portfolio import PORTFOLIO, Deviations, default_names, members_of
from zslearn.zero_shot.registry import RECOMMENDED

QUICK = [RRZSLClassifier(lam=1.0), SAEClassifier(lam=1.0, direction="encode")]
BAYES = "standardize > dap + naive-bayes"


@parametrize_with_zero_shot_checks([AutoZeroShotClassifier(portfolio=QUICK, cv=2)])
def test_zero_shot_checks(case, check):
    check(case)


@pytest.fixture(scope="module")
def linear():
    return make_zero_shot(10, 3, n_per_class=12, n_features=12, n_dimensions=6, random_state=0)


def fitted(data, **parameters):
    rows = data.rows(data.split("standard").seen)
    return AutoZeroShotClassifier(data.signatures, **parameters).fit(data.X[rows], data.y[rows])


def reached(clf, data, candidates="unseen"):
    rows = data.rows(data.split("standard").unseen)
    return clf.score(data.X[rows], data.y[rows], candidates=candidates)


@pytest.mark.parametrize(
    ("family", "taken"),
    [
        ("linear", "prototype-regression"),
        ("few classes", "quantile > deviations > prototype-regression"),
        ("product", "nystroem > prototype-regression"),
    ],
)
def test_a_member_of_the_right_kind_is_taken(family, taken):
    data = make_family(family, random_state=0)
    portfolio = [*list(PORTFOLIO)[:2], "quantile > deviations > prototype-regression"]
    clf = fitted(data, portfolio=[*portfolio, "nystroem > prototype-regression"], max_rows=400)
    assert clf.member_ == taken
    assert clf.best_params_ == {"portfolio": taken}
    assert reached(clf, data) > 0.85
    assert clf.expected_accuracy_.low <= reached(clf, data) <= clf.expected_accuracy_.high


def test_naive_bayes_is_taken_on_sensors_with_twelve_classes():
    data = make_family("sensors", random_state=0)
    clf = fitted(data, portfolio=["eszsl", "prototype-regression", BAYES])
    assert (clf.member_, clf.leaderboard_["member"][0]) == (BAYES, BAYES)
    assert reached(clf, data) > 0.6


def test_it_scores_as_the_member_taken_does_less_the_bias(linear):
    clf = fitted(linear, portfolio={"scaled": make_pipeline(StandardScaler(), QUICK[0])})
    rows = linear.rows(linear.split("standard").seen)
    alone = make_pipeline(StandardScaler(), clone(QUICK[0]).set_params(signatures=clf.signatures))
    alone.fit(linear.X[rows], linear.y[rows])
    bias = clf.gamma_ * np.isin(clf.classes_, clf.seen_classes_)
    assert clf.gamma_ != 0
    np.testing.assert_allclose(
        clf.decision_function(linear.X), alone.decision_function(linear.X) - bias
    )
    assert clf.recognizer().linear_form().steps[0].mean_.shape == (12,)
    frozen = clf.frozen().fit(linear.X[rows], linear.y[rows])
    assert isinstance(frozen, CalibratedStacking)
    np.testing.assert_allclose(frozen.predict_proba(linear.X), clf.predict_proba(linear.X))
    np.testing.assert_array_equal(
        frozen.predict(linear.X, reject=True), clf.predict(linear.X, reject=True)
    )


@pytest.mark.filterwarnings("ignore:samples of classes that nobody described can hardly be told")
def test_the_calibration_does_not_depend_on_the_size_of_scores():
    """A member whose scores are ten times as large has the same probabilities."""

    class Loud(RRZSLClassifier):
        def compare(self, queries, classes):
            return 10 * super().compare(queries, classes)

    data = make_zero_shot(12, 4, n_per_class=15, n_features=12, noise=2.5, random_state=1)
    quiet, loud = (
        fitted(data, portfolio=[kind(lam=1.0)], max_rejected=0.2)
        for kind in (RRZSLClassifier, Loud)
    )
    assert loud.gamma_ == pytest.approx(10 * quiet.gamma_)
    for candidates in (None, "unseen"):
        np.testing.assert_allclose(
            loud.predict_proba(data.X, candidates), quiet.predict_proba(data.X, candidates)
        )
        rejected = [one.predict(data.X, candidates, reject=True) for one in (quiet, loud)]
        np.testing.assert_array_equal(*rejected)
    assert (rejected[0] == "none of these").any()


def test_the_bias_finds_unseen_classes_among_all():
    data = make_zero_shot(20, 5, n_per_class=20, n_features=20, noise=2.0, random_state=0)
    clf = fitted(data, portfolio=[SAEClassifier(lam=1.0)])
    rows = data.rows(data.split("standard").seen)
    plain = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    found = reached(clf, data, "all")
    assert found > reached(plain, data, "all") + 0.05
    expected = clf.expected_accuracy(5, among="all")
    assert expected.low <= found <= expected.high
    assert expected.accuracy <= clf.expected_accuracy(5).accuracy


def test_unseen_classes_are_candidates_of_the_folds(linear):
    """Half of the seen classes need not be held out to know what to expect among many."""
    clf = fitted(linear, portfolio=["rrzsl"])
    seen, unseen = (getattr(linear.split("standard"), side) for side in ("seen", "unseen"))
    held_out = [fold.shares.shape for fold in clf.ranks_["unseen"]]
    assert sum(n for n, _ in held_out) == len(seen) == len(clf.held_out_accuracies_["rrzsl"])
    assert all(candidates == n + len(unseen) for n, candidates in held_out)
    rows = linear.rows(seen)
    bare = AutoZeroShotClassifier(linear.signatures.subset(seen), portfolio=["rrzsl"])
    bare.fit(linear.X[rows], linear.y[rows])
    assert all(n == candidates for n, candidates in (f.shares.shape for f in bare.ranks_["unseen"]))


def test_guests_are_not_rejected_for_the_number_of_candidates():
    """Of the samples of unseen classes about as many are rejected as was asked for."""
    shares = {"unseen": [], "all": []}
    for seed in range(4):
        data = make_zero_shot(11, 4, n_per_class=25, n_features=20, noise=2.0, random_state=seed)
        clf = fitted(data, portfolio=["prototype-regression"], max_rejected=0.05)
        rows = data.rows(data.split("standard").unseen)
        for among, found in shares.items():
            found.append(clf.recognizer(among).rejected(data.X[rows]).mean())
    assert np.mean(shares["unseen"]) < 0.12
    assert np.mean(shares["all"]) < 0.12


def test_it_says_what_rejection_will_do_and_warns_where_it_is_a_guess(linear):
    clf = fitted(linear, portfolio=QUICK)
    for one in clf.expected_rejection_.values():
        assert 0 <= one.unseen <= one.promised <= 0.1
        assert 0 <= one.strangers <= 1
        assert one.auroc > 0.6
    told = clf.expected_rejection_["all"]
    clf.expected_rejection_["all"] = replace(told, auroc=0.55)
    with pytest.warns(ZslearnWarning, match=r"can hardly be told .*AUROC 0\.55"):
        clf.predict(linear.X, reject=True)


def test_a_model_that_cannot_be_taught_can_be_served(linear):
    linear_map, taught = (fitted(linear, portfolio=[one]) for one in ("rrzsl", RECOMMENDED))
    assert not hasattr(linear_map, "kappa_")
    assert not hasattr(linear_map, "partial_fit")
    assert not learns_from_examples(linear_map)
    assert learns_from_examples(taught)


def test_a_second_fit_is_the_same_and_another_seed_judges_others(linear):
    first, second, other = (fitted(linear, portfolio=QUICK, random_state=s) for s in (0, 0, 1))
    key = "split0_test_score"
    np.testing.assert_array_equal(first.cv_results_[key], second.cv_results_[key])
    np.testing.assert_array_equal(first.predict_proba(linear.X), second.predict_proba(linear.X))
    assert not np.array_equal(first.cv_results_[key], other.cv_results_[key])


def test_save_and_load_keep_everything(linear, tmp_path):
    names = ["root > exem", "quantile > deviations > prototype-regression"]
    clf = fitted(linear, portfolio=names, reject_label="?")
    save(clf, tmp_path / "m.zsl")
    again = load(tmp_path / "m.zsl")
    np.testing.assert_array_equal(again.predict_proba(linear.X), clf.predict_proba(linear.X))
    np.testing.assert_array_equal(
        again.predict(linear.X, reject=True), clf.predict(linear.X, reject=True)
    )
    assert again.expected_accuracy_ == clf.expected_accuracy_
    assert again.expected_accuracy(2, among="all") == clf.expected_accuracy(2, among="all")
    assert repr(again.leaderboard_) == repr(clf.leaderboard_)


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ({"kind": "estimator", "class": "AverageClassifier"}, "AverageClassifier"),
        ({"kind": "record", "class": "LearningCurve", "fields": {}}, "LearningCurve"),
        (
            {
                "kind": "estimator",
                "class": "AutoZeroShotClassifier",
                "parameters": {"preprocess": "all"},
                "state": {},
            },
            "AutoZeroShotClassifier",
        ),
    ],
)
def test_what_is_gone_is_refused_by_name(node, name):
    with pytest.raises(InvalidInputError, match=f"{name} is of a form that is gone; fit it again"):
        Decoder({}).decode(node)


def test_a_member_that_fails_is_a_row_with_its_reason(linear):
    class Broken(RRZSLClassifier):
        def _fit(self, X, y):
            raise ValueError("the machine is on fire. Call help.")

    clf = fitted(linear, portfolio=[Broken(), *QUICK])
    row = clf.leaderboard_.rows[-1]
    assert (row["member"], row["note"]) == ("Broken", "failed: the machine is on fire")
    assert row["accuracy"] is None
    assert clf.leaderboard_.to_frame().shape == (3, 9)
    assert clf.member_ == "RRZSLClassifier"


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


def test_no_member_is_begun_after_the_time_is_spent(linear, monkeypatch):
    clock = iter(np.arange(0.0, 1e6, 0.5))  # every look at the clock takes half a second
    monkeypatch.setattr(auto, "perf_counter", lambda: next(clock))
    clf = fitted(linear, portfolio=["rrzsl", "eszsl", "sae"], time_budget=2.0)
    notes = dict(zip(clf.leaderboard_["member"], clf.leaderboard_["note"], strict=True))
    assert notes == {"rrzsl": "taken", "eszsl": "", "sae": "the time was spent"}
    clock = iter(np.arange(0.0, 1e6, 0.5))
    assert fitted(linear, portfolio=["rrzsl"], time_budget=0.1).expected_accuracy_ is not None


def test_too_few_classes_take_the_recommended_member_with_a_warning():
    data = make_zero_shot(3, 2, n_per_class=8, n_features=6, n_dimensions=4, random_state=0)
    with pytest.warns(ZslearnWarning, match="3 seen classes, four are needed"):
        clf = fitted(data)
    assert clf.member_ == "prototype-regression"
    assert (clf.expected_accuracy_, clf.gamma_) == (None, 0.0)
    with pytest.raises(InvalidInputError, match="nothing was judged"):
        clf.expected_accuracy(2)
    with pytest.raises(InvalidInputError, match="no threshold could be learned"):
        clf.predict(data.X, reject=True)


def test_one_sample_per_class_is_judged_though_nothing_can_be_calibrated():
    data = make_zero_shot(12, 3, n_per_class=1, n_features=8, noise=0.1, random_state=0)
    clf = fitted(data, portfolio=QUICK)
    assert clf.expected_accuracy_.accuracy > 0.5
    assert (clf.gamma_, clf.threshold_["all"]) == (0.0, None)


def test_signatures_without_information_are_told():
    data = make_zero_shot(12, 3, n_per_class=10, n_features=12, n_dimensions=6, random_state=3)
    other = np.random.default_rng(1).standard_normal(data.signatures.shape)
    rows = data.rows(data.split("standard").seen)
    clf = AutoZeroShotClassifier(Signatures(data.classes, other), portfolio=QUICK)
    with pytest.warns(ZslearnWarning, match=r"Classifier reaches 0.* and guessing 0.33: the sign"):
        clf.fit(data.X[rows], data.y[rows])


def test_one_hot_signatures_hold_out_samples():
    data = make_zero_shot(5, 1, n_per_class=12, n_features=8, n_dimensions=4, random_state=0)
    clf = AutoZeroShotClassifier(portfolio=QUICK).fit(data.X, data.y)
    assert clf.score(data.X, data.y) > 0.9
    assert max(clf.leaderboard_["accuracy"]) > 0.8
    assert clf.expected_accuracy_ is None


def test_given_estimators_are_judged_with_their_parameters():
    data = make_family("few classes", random_state=0)
    bayes = make_pipeline(
        StandardScaler(), DAPClassifier(feature_norm=None, classifier=GaussianNB())
    )
    clf = fitted(data, portfolio=[RRZSLClassifier(lam=1.0), bayes])
    assert clf.best_params_ == {"portfolio": "StandardScaler > DAPClassifier"}
    assert bayes[-1].signatures is None


def test_a_single_member_is_judged_and_without_folds_it_is_not(linear):
    clf = fitted(linear, portfolio=["rrzsl"])
    assert (clf.best_params_, clf.cv_results_, len(clf.leaderboard_)) == ({}, None, 1)
    assert clf.expected_accuracy_.n_candidates == 3
    plain = fitted(linear, portfolio=["rrzsl"], cv=None)
    assert (plain.expected_accuracy_, plain.gamma_) == (None, 0.0)
    np.testing.assert_array_equal(
        plain.decision_function(linear.X), plain.estimator_.decision_function(linear.X)
    )


class Letters:
    """An encoder of texts: how often each of eight letters is in them."""

    identity = EncoderIdentity("letters", "0" * 64)

    def fit(self, X=None, y=None):
        return self

    def transform(self, X):
        assert isinstance(X[0], str)
        return np.array([[text.count(letter) for letter in "abcdefgh"] for text in X], float)


def test_raw_samples_are_encoded_and_vectors_are_taken_as_they_are():
    rng = np.random.default_rng(0)
    has = (1 + np.arange(12)[:, None] >> np.arange(4) & 1).astype(float)
    names = np.array([f"class {i:02d}" for i in range(12)])
    index = np.repeat(np.arange(12), 10)
    counts = rng.poisson(2 + 6 * np.repeat(has, 2, axis=1)[index])
    texts = ["".join(map(str.__mul__, "abcdefgh", row)) for row in counts.tolist()]
    y, seen = names[index], index < 9
    table = Signatures(names, has)
    told = AutoZeroShotClassifier(table, portfolio=QUICK, encoder=Letters())
    told.fit([text for text, one in zip(texts, seen, strict=True) if one], y[seen])
    plain = AutoZeroShotClassifier(table, portfolio=QUICK).fit(counts[seen], y[seen])
    np.testing.assert_allclose(told.predict_proba(texts), plain.predict_proba(counts))
    np.testing.assert_allclose(told.predict_proba(counts), plain.predict_proba(counts))
    assert told.recognizer("unseen").predict(texts[-3:]).tolist() == ["class 11"] * 3
    assert told.encoder_["model"] == "letters"
    with pytest.raises(InvalidInputError, match="encoder must be None or an encoder such as Text"):
        AutoZeroShotClassifier(table, encoder="minilm").fit(texts, y)


def test_names_of_the_portfolio_are_checked(linear):
    with pytest.raises(InvalidInputError, match=r"'standardise > sae', which is unknown.*Known"):
        fitted(linear, portfolio=["standardise > sae"])
    with pytest.raises(InvalidInputError, match="Did you mean 'sae'"):
        fitted(linear, portfolio=["saee"])
    with pytest.raises(InvalidInputError, match="portfolio must be 'default' or a list of names"):
        fitted(linear, portfolio=[])


@pytest.mark.parametrize("n_features", [20, 2000])
def test_the_portfolio_is_small_and_begins_with_the_recommended_member(n_features):
    X = np.zeros((2, n_features))
    many, few = default_names(X, 100), default_names(X, 12)
    assert few == many[: len(few)]
    assert many[0] == "prototype-regression"
    assert len(few) <= 6
    assert len(many) <= 10
    assert list(members_of("default", X, 100, 0)) == many
    twice = members_of([SAEClassifier(), SAEClassifier()], X, 100, 0)
    assert list(twice) == ["SAEClassifier", "SAEClassifier (2)"]


def test_deviations_are_those_of_standardized_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((50, 3)) * [1, 10, 0.1] + 5, np.ones(50)])
    Z = Deviations().fit_transform(X)
    np.testing.assert_allclose(Z[:, :3], StandardScaler().fit_transform(X[:, :3]))
    np.testing.assert_allclose(Z[:, 4:7], StandardScaler().fit_transform(np.abs(Z[:, :3])))
    np.testing.assert_array_equal(Z[:, [3, 7]], 0.0)
