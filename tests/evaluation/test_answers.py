"""Accuracies, intervals, confusions and mistakes of answers to labeled samples."""

import numpy as np
import pytest
from scipy import stats

from zslearn.datasets import make_zero_shot
from zslearn.evaluation import Answers, answer_held_out, answer_samples
from zslearn.exceptions import InvalidInputError, UnknownClassError
from zslearn.metrics import harmonic_mean, per_class_accuracy
from zslearn.zero_shot import (
    AutoZeroShotClassifier,
    CalibratedStacking,
    PrototypeRegression,
    SAEClassifier,
)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(12, 4, n_per_class=10, noise=2.0, domain_shift=0.3, random_state=1)


@pytest.fixture(scope="module")
def training(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


@pytest.fixture(scope="module")
def model(data, training):
    return CalibratedStacking(PrototypeRegression(data.signatures)).fit(*training)


@pytest.fixture
def by_hand():
    truth = np.array(["ox"] * 4 + ["cow"] * 4 + ["bat"] * 2)
    answers = np.array(["ox", "ox", "ox", "cow", "ox", "ox", "cow", "bat", "bat", "bat"])
    unseen = np.array([True] * 4 + [False] * 6)
    sure = np.array([0.9, 0.8, 0.7, 0.6, 0.55, 0.95, 0.8, 0.5, 0.9, 0.9])
    return Answers(np.arange(10, 20), truth, answers, unseen, sure, 3)


def test_accuracies_are_means_over_the_classes_of_a_side(by_hand):
    assert by_hand.accuracy(unseen=True).value == 0.75
    assert by_hand.accuracy(unseen=False).value == pytest.approx((0.25 + 1) / 2)
    assert by_hand.harmonic_mean().value == pytest.approx(harmonic_mean(0.625, 0.75))
    assert str(by_hand.accuracy(unseen=True)).startswith("75 % (")
    assert by_hand.side(unseen=True).accuracy(unseen=False) is None
    assert by_hand.side(unseen=True).harmonic_mean() is None
    assert by_hand.side(unseen=False).rows.tolist() == [14, 15, 16, 17, 18, 19]


def test_classes_and_confusions(by_hand):
    found = {one.name: one for one in by_hand.classes}
    assert [one.name for one in by_hand.classes] == ["ox", "bat", "cow"]  # unseen ones first
    assert (found["cow"].mistaken_for, found["cow"].n_mistaken) == ("ox", 2)
    assert (found["bat"].mistaken_for, found["bat"].n_mistaken) == (None, 0)
    assert by_hand.confusions() == [("cow", "ox", 2, 4), ("cow", "bat", 1, 4), ("ox", "cow", 1, 4)]
    # Of cows taken for oxen the surest, which is the sixth answer.
    assert by_hand.mistakes(1).tolist() == [5]
    assert by_hand.mistakes(9).tolist() == [5, 7, 3]


def test_an_interval_of_one_class_is_that_of_jeffreys(by_hand):
    low, high = stats.beta(3.5, 1.5).ppf([0.05, 0.95])
    assert by_hand.classes[0].accuracy[1:] == pytest.approx((low, high))
    assert by_hand.accuracy(unseen=True)[1:] == pytest.approx((low, high), abs=0.05)  # of a mean
    whole = by_hand.classes[1].accuracy  # two of two: the figure itself is inside
    assert (whole.value, whole.high) == (1.0, 1.0)
    assert whole.low < 0.6


@pytest.mark.parametrize(("n_classes", "n", "low", "high"), [(6, 20, 0.2, 0.95), (40, 8, 0.7, 1.0)])
def test_nine_of_ten_intervals_hold(n_classes, n, low, high):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(n_classes), n)
    shares, half = rng.uniform(low, high, n_classes), n_classes // 2
    held = 0
    for _ in range(200):
        right = rng.random(len(truth)) < shares[truth]
        answers = Answers(truth, truth, np.where(right, truth, -1), truth < half, None, n_classes)
        share = answers.harmonic_mean()
        true = harmonic_mean(shares[half:].mean(), shares[:half].mean())
        held += share.low <= true <= share.high
    assert 0.83 < held / 200 < 0.97


def test_reliability_counts_every_answer_once(by_hand):
    curve = by_hand.reliability(n_bins=2)
    assert curve.share.tolist() == [1.0]
    assert curve.confidence[0] == pytest.approx(by_hand.sure.mean())
    assert curve.accuracy[0] == pytest.approx(0.6)
    assert Answers(*[np.array([])] * 4, None, 2).reliability() is None


def test_answers_to_samples_are_those_of_the_classifier(model, data):
    rows = np.arange(0, len(data.y), 3)
    found = answer_samples(model, data.X[rows], data.y[rows])
    assert found.answers.tolist() == model.predict(data.X[rows]).tolist()
    assert found.sure == pytest.approx(model.predict_proba(data.X[rows]).max(axis=1))
    side = ~np.isin(data.y[rows], model.seen_classes_)
    assert found.accuracy(unseen=True).value == pytest.approx(
        per_class_accuracy(data.y[rows][side], found.answers[side])
    )
    some = model.candidate_names("unseen").tolist()
    assert set(answer_samples(model, data.X[rows][side], data.y[rows][side], some).answers) <= {
        *some
    }
    plain = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y)
    assert answer_samples(plain, data.X[rows], data.y[rows]).sure is None
    with pytest.raises(UnknownClassError, match="Every sample needs a class that may be answered"):
        answer_samples(model, data.X[:2], np.array(["wug", "wug"]))


@pytest.mark.parametrize("kind", ["calibrated", "auto", "plain"])
def test_every_class_is_held_out_once_and_no_answer_comes_from_its_own_training(
    data, training, model, kind
):
    X, y = training
    fitted = {
        "calibrated": lambda: model,
        "auto": lambda: AutoZeroShotClassifier(data.signatures, portfolio=["sae"]).fit(X, y),
        "plain": lambda: SAEClassifier(data.signatures).fit(X, y),
    }[kind]()
    found = answer_held_out(fitted, X, y)
    unseen = found.side(unseen=True)
    assert sorted(unseen.rows.tolist()) == list(range(len(y)))
    assert found.truth.tolist() == y[found.rows].tolist()
    assert 0 < len(found) - len(unseen) < len(y)
    assert (found.sure is None) == (kind == "plain")
    assert found.n_candidates == len(data.signatures)
    assert found.accuracy(unseen=True).value > 2 / 16
    again = answer_held_out(fitted, X, y)
    assert again.answers.tolist() == found.answers.tolist()
    few = answer_held_out(fitted, X, y, max_rows=50)
    assert len(few.side(unseen=True)) <= 50


@pytest.mark.parametrize(("n_classes", "known"), [(8, [7] * 8), (20, [16] * 5)])
def test_few_classes_are_held_out_one_at_a_time(n_classes, known, monkeypatch):
    data = make_zero_shot(n_classes, 3, n_per_class=10, noise=2.0, random_state=0)
    rows = data.rows(data.split("standard").seen)
    X, y = data.X[rows], data.y[rows]
    model, found, fit = SAEClassifier(data.signatures, lam=1.0).fit(X, y), [], SAEClassifier.fit

    def recorded(self, X, y):
        found.append(len(np.unique(y)))
        return fit(self, X, y)

    monkeypatch.setattr(SAEClassifier, "fit", recorded)
    answers = answer_held_out(model, X, y)
    assert found == known
    assert sorted(answers.side(unseen=True).rows.tolist()) == list(range(len(y)))
    assert 0 < len(answers.side(unseen=False)) < len(y)


def test_held_out_answers_know_nothing_of_the_class(data, training, model):
    # With another class's features in its place, a class that is held out is never right.
    X, y = training
    wrong = X.copy()
    first, second = np.unique(y)[:2]
    wrong[y == first] = X[y == second][: (y == first).sum()]
    found = answer_held_out(model, wrong, y).side(unseen=True)
    answers = found.answers[found.truth == first]
    assert np.mean(answers == first) < 0.3


def test_too_few_classes_are_refused(data):
    rows = data.rows(data.split("standard").seen[:3])
    few = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    with pytest.raises(InvalidInputError, match="held out of at least 4 described ones; got 3"):
        answer_held_out(few, data.X[rows], data.y[rows])
