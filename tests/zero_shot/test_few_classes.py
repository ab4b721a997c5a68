"""Calibration with few seen classes: one is held out at a time, and classes are what counts."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from zslearn.cli.output import rejection_of
from zslearn.core.confidence import (
    fit_confidence,
    learned_confidence,
    share_of_left_out,
    threshold_for_classes,
    weighted_median,
)
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import ZslearnWarning
from zslearn.persistence import load, save
from zslearn.zero_shot import CalibratedStacking, LegacyCUB, SAEClassifier, calibration
from zslearn.zero_shot.expectation import ExpectedRejection, FoldRanks, expect
from zslearn.zero_shot.held_out import HeldOut, RejectionRule, gamma_of_gaps, open_answers

CLASSES = np.array(["a", "b", "c", "guest"])
# Columns a, b, c, guest; c is held out in place of the guest. Gaps of the seen samples: 4, 3, 3 of
# a and 2 of b; of c's: -1, 1, -3.
SCORES = np.array(
    [
        [5.0, 0.0, 1.0, 0.0],
        [3.0, 0.0, 0.0, 2.0],
        [4.0, 1.0, 1.0, 1.0],
        [0.0, 4.0, 2.0, 2.0],
        [1.0, 0.0, 2.0, 0.0],
        [2.0, 2.0, 1.0, 2.0],
        [1.0, 0.0, 4.0, 0.0],
    ]
)
Y = np.array(["a", "a", "a", "b", "c", "c", "c"])


def held_out(scores=SCORES, y=Y, classes=CLASSES, held=("c", "guest"), n_unseen=2):
    def of(candidates):
        return scores[:, np.searchsorted(classes, candidates)]

    seen = np.setdiff1d(classes, held)
    return HeldOut(_Curve(), y, classes, seen, of, n_unseen=n_unseen)


class _Curve:
    """Stands for a curve where only the bias is of interest."""

    def at(self, gamma):
        return type("Point", (), {"harmonic_mean": 0.5})


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(11, 4, n_per_class=12, noise=2.0, random_state=3)


@pytest.fixture(scope="module")
def clf(data):
    return fitted(data)


def rows_of(data):
    split = data.split("standard")
    return data.rows(split.seen), data.rows(split.unseen)


def fitted(data, table=None, **parameters):
    rows, _ = rows_of(data)
    table = data.signatures if table is None else table
    model = CalibratedStacking(SAEClassifier(table, lam=1.0), **parameters)
    return model.fit(data.X[rows], data.y[rows])


def folds_of(monkeypatch, data, **parameters):
    """Fit, and return the folds that were learned from."""
    found = []
    real = calibration.held_out_folds

    def watch(*args):
        for fold in real(*args):
            found.append(fold)
            yield fold

    monkeypatch.setattr(calibration, "held_out_folds", watch)
    return fitted(data, **parameters), found


def test_gamma_is_the_middle_of_the_median_gaps_of_both_sides():
    # The gap 2 of b weighs as much as all of a, so that the middle of 2 and 3 is the median.
    assert held_out().middle_gap() == 0.5 * (2.5 + -1)
    other = held_out(SCORES + np.array([1.0, 1.0, 0.0, 0.0]))  # every gap larger by one
    assert gamma_of_gaps([held_out(), other]).best_params == {"gamma": 0.5 * (0.75 + 1.75)}


def test_as_many_unseen_classes_compete_for_gamma_as_there_will_be():
    """The class held out is one too many: each of the others is missing once."""
    rng = np.random.default_rng(5)
    for n_guests in (1, 2, 5):
        scores, names = rng.normal(size=(30, 3 + n_guests)), np.arange(3 + n_guests)
        y = np.arange(30) % 3
        fold = held_out(scores, y, names, held=names[2:], n_unseen=max(2, n_guests))
        best = [np.delete(scores, [0, 1, guest], axis=1).max(axis=1) for guest in names[3:]]
        gaps = scores[:, :2].max(axis=1) - np.mean(best, axis=0)
        medians = np.median(gaps[y < 2]), np.median(gaps[y == 2])
        assert fold.middle_gap() == pytest.approx(np.mean(medians))


def test_a_weighted_median_is_that_of_repeated_values():
    rng = np.random.default_rng(0)
    for n in range(1, 12):
        values, times = rng.integers(0, 6, n).astype(float), rng.integers(1, 4, n)
        assert weighted_median(values, times / 7) == np.median(np.repeat(values, times))


def test_gamma_depends_on_no_order():
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(Y)), rng.permutation(4)
    names = CLASSES[np.argsort(columns)]  # every class gets another name, and so another column
    renamed = dict(zip(CLASSES.tolist(), names.tolist(), strict=True))
    y = np.array([renamed[name] for name in Y[rows].tolist()])
    mixed = held_out(SCORES[rows][:, np.argsort(names)], y, held=(renamed["c"], renamed["guest"]))
    assert mixed.middle_gap() == held_out().middle_gap()
    folds = [held_out(SCORES * k) for k in (1, 3, 8)]
    assert gamma_of_gaps(folds).best_params == gamma_of_gaps(folds[::-1]).best_params


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.9])
def test_the_threshold_is_the_highest_that_keeps_the_promise(share):
    rng = np.random.default_rng(2)
    confidence, classes = rng.random(90).round(2), rng.integers(0, 12, 90)
    found, promised = threshold_for_classes(confidence, classes, share)

    def bound(t):
        lost = [(confidence[classes == c] < t).mean() for c in range(12)]
        return (1 + sum(lost)) / 13

    kept = [t for t in np.unique(confidence) if bound(t) <= share]
    assert found == max(kept, default=confidence.min())
    assert promised == pytest.approx(bound(found))
    assert bool(kept) == (share >= 1 / 13)


def test_the_promise_holds_for_classes_that_took_no_part():
    rng = np.random.default_rng(3)
    rejected = []
    for _ in range(400):
        # Classes of different confidence: what new classes lose depends on classes, not samples.
        values = rng.normal(size=(12, 1)) + rng.normal(size=(12, 20))
        t, promised = threshold_for_classes(values[:11].ravel(), np.repeat(range(11), 20), 0.2)
        assert promised <= 0.2 + 1e-12
        rejected.append((values[11] < t).mean())
    assert 0.05 < np.mean(rejected) <= 0.2


def test_one_class_at_a_time_among_as_many_candidates_as_later(data, monkeypatch):
    clf, folds = folds_of(monkeypatch, data)
    names = np.sort(data.signatures.names)
    assert len(folds) == 11
    alone = []
    for fold in folds:
        np.testing.assert_array_equal(fold.candidates("all"), names)
        (held,) = np.setdiff1d(clf.seen_classes_, fold.seen)
        alone.append(held)
        candidates = fold.candidates("unseen")
        assert len(candidates) == 4
        assert set(candidates) - {held} < set(data.split("standard").unseen)
        assert held in candidates
        np.testing.assert_array_equal(fold.candidates("all", [held]), names[names != held])
    np.testing.assert_array_equal(np.sort(alone), clf.seen_classes_)
    assert clf.gamma_ == pytest.approx(np.mean([fold.middle_gap() for fold in folds]))


@pytest.mark.parametrize(("method", "parameters"), [("sae", {"cv": 3}), ("legacy", {})])
def test_folds_asked_for_and_methods_of_many_steps_hold_out_several(
    data, monkeypatch, method, parameters
):
    table = data.signatures
    inner = SAEClassifier(table, lam=1.0) if method == "sae" else LegacyCUB(table)
    tags = inner.zero_shot_tags
    rows, _ = rows_of(data)
    model = CalibratedStacking(inner, **parameters)
    n_folds = len(model.fit(data.X[rows], data.y[rows]).curves_)
    assert n_folds == (11 if not parameters and tags.closed_form else parameters.get("cv", 4))


def test_samples_of_known_classes_are_asked_about_once(data, monkeypatch):
    clf, folds = folds_of(monkeypatch, data)
    answers = open_answers(folds, "all", clf.gamma_, clf.temperature_["all"], 0)
    n_held_out = sum((~np.isin(fold.y, fold.seen)).sum() for fold in folds)
    n_seen = sum(np.isin(fold.y, fold.seen).sum() for fold in folds)
    assert np.bincount(answers.side).tolist() == [n_seen, n_held_out, n_held_out]
    assert not answers.right[answers.side == 2].any()
    totals = np.bincount(answers.side, weights=answers.weights)
    np.testing.assert_allclose(totals, 11)
    threshold = clf.threshold_["all"]
    rule = RejectionRule("right", 0.05, None, 0)
    assert rule.learn(folds, clf.gamma_, clf.temperature_).thresholds["all"] == threshold


def test_the_threshold_is_learned_by_confidences_of_other_classes(data, monkeypatch):
    """Of answers to a class, how sure they are is not learned of these answers themselves."""
    clf, folds = folds_of(monkeypatch, data)
    answers = open_answers(folds, "all", clf.gamma_, clf.temperature_["all"], 0)
    sure = np.empty(len(answers.y))
    for part in range(3):
        mine = answers.fold % 3 == part
        mixed = fit_confidence(
            answers.measures[~mine], answers.right[~mine], answers.weights[~mine]
        )
        sure[mine] = learned_confidence(answers.measures[mine], mixed)
    unseen = answers.side == 1
    threshold, promised = threshold_for_classes(sure[unseen], answers.y[unseen], 0.1)
    assert clf.threshold_["all"] == pytest.approx(threshold, abs=2e-3)
    expected = clf.expected_rejection_["all"]
    assert expected.promised == pytest.approx(promised, abs=0.01)
    # What is expected of a class comes from the threshold without it.
    assert expected.unseen == pytest.approx(
        share_of_left_out(sure[unseen], answers.y[unseen], 0.1), abs=0.02
    )


def test_the_share_of_a_class_left_out_is_that_of_new_classes():
    rng = np.random.default_rng(6)
    told, found = [], []
    for _ in range(300):
        values = rng.normal(size=(12, 1)) + rng.normal(size=(12, 20))
        names = np.repeat(range(11), 20)
        told.append(share_of_left_out(values[:11].ravel(), names, 0.2))
        t, _ = threshold_for_classes(values[:11].ravel(), names, 0.2)
        found.append((values[11] < t).mean())
    assert np.mean(told) == pytest.approx(np.mean(found), abs=0.02)
    assert share_of_left_out(np.arange(3.0), np.zeros(3), 0.2) == 0.0


def test_few_samples_of_new_classes_are_rejected(clf, data):
    """The folds of before, with fewer candidates than later, had many of them rejected."""
    _, rows = rows_of(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZslearnWarning)
        for among in ("all", "unseen"):
            assert clf.recognizer(among).rejected(data.X[rows]).mean() <= 0.2


def test_nothing_depends_on_the_order_of_the_class_table(clf, data):
    order = np.random.default_rng(4).permutation(data.signatures.names)
    again = fitted(data, data.signatures.subset(order.tolist()))
    assert again.gamma_ == pytest.approx(clf.gamma_, rel=1e-9)
    assert again.threshold_ == pytest.approx(clf.threshold_, rel=1e-6)


def test_expected_shares_count_every_class_the_same():
    sure = np.array([0.1, 0.9, 0.9, 0.9, 0.2, 0.8, 0.1, 0.3])
    side = np.array([0, 0, 1, 1, 1, 1, 2, 2])
    y = np.array(["a", "b", "c", "c", "d", "d", "c", "d"])
    found = ExpectedRejection.of(sure, 0.25, side, y, promised=0.1)
    assert (found.seen, found.unseen, found.strangers) == (0.5, 0.25, 0.5)
    assert found.auroc == pytest.approx(roc_auc_score([1, 1, 1, 1, 0, 0], sure[2:]))
    assert str(found) == (
        "50% of seen, 25% of unseen, 50% of undescribed samples; tells the last two apart with "
        f"AUROC {found.auroc:.2f}"
    )
    alone = ExpectedRejection.of(sure[:2], 0.25, side[:2], y[:2])
    assert (alone.unseen, alone.strangers, alone.auroc) == (None, None, None)


def test_folds_of_one_class_have_a_wider_interval_than_their_classes_show():
    """mean ± t·√(s² + g·(1 − g)/5)·√(1/m + 1/c), and the spread alone for folds of several."""
    right = np.array([0.5, 0.9, 1.0, 0.4, 0.7])
    shares = np.stack([right, 1 - right], axis=1)
    alone = expect([FoldRanks(np.array([i]), shares[[i]]) for i in range(5)], 2)
    together = expect([FoldRanks(np.arange(5), shares)], 2)
    factor = stats.t.ppf(0.95, 4) * np.sqrt(1 / 2 + 1 / 5)
    assert alone.accuracy == together.accuracy == pytest.approx(0.7)
    variance = right.var(ddof=1)
    assert alone.low == pytest.approx(0.7 - factor * np.sqrt(variance + 0.2 * 0.7 * 0.3))
    assert together.low == pytest.approx(0.7 - factor * np.sqrt(variance))


def test_the_command_line_finds_what_rejection_is_expected_to_do(clf):
    assert rejection_of(clf) is clf.expected_rejection_["all"]
    assert rejection_of(SAEClassifier()) is None


def test_chance_among_all_classes_is_that_of_all_of_them(clf):
    alone, among = clf.expected_accuracy(4), clf.expected_accuracy(4, among="all")
    n_seen = len(clf.seen_classes_)
    assert (alone.chance, among.chance) == (1 / 4, 1 / (4 + n_seen))
    assert str(alone).endswith("among 4 unseen classes, chance 0.25")
    assert f"among 4 unseen and {n_seen} seen classes" in str(among)


def test_what_is_expected_is_saved(clf, tmp_path):
    assert set(clf.expected_rejection_) == {"all", "unseen"}
    assert clf.expected_rejection_["unseen"].seen is None
    assert 0 <= clf.expected_rejection_["all"].seen <= 0.1
    save(clf, tmp_path / "model.zsl")
    assert load(tmp_path / "model.zsl").expected_rejection_ == clf.expected_rejection_


def test_a_threshold_that_cannot_tell_strangers_says_so_where_it_is_asked(clf, data):
    weak = ExpectedRejection(0.0, 0.04, 0.06, 0.55, 0.1)
    strong = ExpectedRejection(0.0, 0.04, 0.6, 0.9, 0.1)
    twin = fitted(data)
    X = data.X[:5]
    twin.expected_rejection_ = {"all": weak, "unseen": strong}
    with pytest.warns(ZslearnWarning, match=r"can hardly be told .*AUROC 0.55.*expect 6% of them"):
        twin.predict(X, reject=True)
    twin.predict(X)
    twin.predict(X, "unseen", reject=True)
    twin.set_params(threshold=0.5)  # a number of the user's own promises nothing
    twin.predict(X, reject=True)


def test_too_few_classes_to_promise_anything_say_so():
    data = make_zero_shot(6, 4, n_per_class=12, noise=0.5, random_state=0)
    clf = fitted(data)
    expected = clf.expected_rejection_["all"]
    assert expected.promised == pytest.approx(1 / 7)
    doubt = ExpectedRejection(0.0, 0.0, 0.9, 0.95, expected.promised).doubt(2 * clf.max_rejected)
    assert doubt.startswith("seen classes are too few to promise that at most 10% of an unseen")
    assert ExpectedRejection(0.0, 0.0, 0.9, 0.95, 0.1).doubt(0.1) == ""
