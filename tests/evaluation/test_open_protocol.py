"""Seen, unseen and unknown classes together."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.datasets import load_animals, make_zero_shot
from zslearn.evaluation import GeneralizedProtocol, OpenAnswers, OpenProtocol, evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import rejection_curve
from zslearn.zero_shot import CalibratedStacking, SAEClassifier


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(40, 9, n_per_class=15, noise=1.5, random_state=0)


@pytest.fixture(scope="module")
def task(data):
    return OpenProtocol().task(data)


def answers_of(task, y, predicted, rejected):
    """Answers with confidence by rejection and certain probabilities of what was predicted."""
    own = (predicted[:, None] == task.candidates).astype(float)
    among_unseen = np.tile(np.eye(len(task.unseen))[0], (len(y), 1))
    return OpenAnswers(predicted, 1.0 - rejected, rejected, own, among_unseen)


def test_a_third_of_the_unseen_classes_is_unknown(data, task):
    closed = GeneralizedProtocol().task(data)
    assert len(task.unknown) == 3
    assert sorted([*task.unseen, *task.unknown]) == sorted(closed.unseen)
    assert sorted(task.candidates) == sorted([*task.seen, *task.unseen])
    np.testing.assert_array_equal(task.train, closed.train)
    np.testing.assert_array_equal(task.test, closed.test)
    others = [OpenProtocol(random_state=seed).task(data).unknown.tolist() for seed in range(1, 6)]
    assert len({tuple(names) for names in others}) > 1


def test_unknown_classes_can_be_named(data):
    task = OpenProtocol(unknown=["unseen1", "unseen4"]).task(data)
    assert task.unknown.tolist() == ["unseen1", "unseen4"]
    assert len(task.unseen) == 7


@pytest.mark.parametrize("unknown", [["seen1"], [], [f"unseen{i}" for i in range(9)]])
def test_unknown_classes_must_be_some_of_the_unseen_ones(data, unknown):
    with pytest.raises(InvalidInputError, match="must name some, not all, of the 9 unseen"):
        OpenProtocol(unknown=unknown).task(data)


def test_one_unseen_class_is_too_few():
    with pytest.raises(InvalidInputError, match="needs two unseen classes or more; got 1"):
        OpenProtocol().task(make_zero_shot(6, 1, random_state=0))


def test_perfect_and_useless_answers(data, task):
    y = data.y[task.test]
    unknown = np.isin(y, task.unknown)
    predicted = np.where(unknown, task.candidates[0], y)
    perfect = OpenProtocol().measure(task, y, answers_of(task, y, predicted, unknown))
    for name in ("seen_accuracy", "unseen_accuracy", "unknown_accuracy", "harmonic_mean"):
        assert perfect[name] == 1.0
    assert perfect["unknown_auroc"] == 1.0
    assert perfect["known_rejected"] == perfect["calibration_error"] == 0.0
    everything = OpenProtocol().measure(task, y, answers_of(task, y, predicted, unknown | True))
    assert everything["unknown_accuracy"] == everything["known_rejected"] == 1.0
    assert everything["seen_accuracy"] == everything["harmonic_mean"] == 0.0
    assert everything["forced_seen_accuracy"] == everything["forced_unseen_accuracy"] == 1.0


def test_the_harmonic_mean_is_of_three_sides(data, task):
    y = data.y[task.test]
    unknown, seen = np.isin(y, task.unknown), np.isin(y, task.seen)
    predicted = np.where(unknown, task.candidates[0], y)
    half = np.zeros(len(y), dtype=bool)
    for name in task.seen:
        rows = np.flatnonzero(y == name)
        half[rows[: len(rows) // 3]] = True
    found = OpenProtocol().measure(task, y, answers_of(task, y, predicted, unknown | half))
    assert found["seen_accuracy"] == pytest.approx(2 / 3)
    assert found["harmonic_mean"] == pytest.approx(3 / (1 + 1 + 3 / 2))
    assert found["known_rejected"] == pytest.approx(half.sum() / (~unknown).sum())
    assert seen.any()


def test_evaluate_is_the_calibrated_classifier_by_hand(data, task):
    known = data.signatures.drop(task.unknown)
    clf = CalibratedStacking(SAEClassifier(known, lam=1.0))
    clf.fit(data.X[task.train], data.y[task.train])
    X, y = data.X[task.test], data.y[task.test]
    recognizer = clf.recognizer(task.candidates)
    curve = rejection_curve(
        y, recognizer.predict(X), recognizer.confidence(X), candidates=task.candidates
    )
    result = evaluate(data, SAEClassifier(data.signatures, lam=1.0), OpenProtocol())
    assert result.protocol == "open"
    assert result.method == "SAEClassifier"
    assert result.metrics["unknown_auroc"] == curve.auroc > 0.8
    assert result.metrics["gamma"] == clf.gamma_
    assert result.metrics["threshold"] == clf.threshold_["all"]
    np.testing.assert_array_equal(result.rejection.thresholds, curve.thresholds)
    assert "rejection" not in result.as_dict()


def test_a_calibrated_classifier_keeps_its_settings_and_pipelines_work(data):
    stacked = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), max_rejected=0.5)
    result = evaluate(data, stacked, OpenProtocol())
    assert result.metrics["known_rejected"] > 0.3
    last = SAEClassifier(data.signatures, lam=1.0, feature_norm=None)
    for pipeline in (
        make_pipeline(StandardScaler(), last),
        make_pipeline(StandardScaler(), CalibratedStacking(last)),
    ):
        assert evaluate(data, pipeline, OpenProtocol()).metrics["unknown_auroc"] > 0.7


def test_animals_by_name():
    result = evaluate(load_animals(), "sae", OpenProtocol())
    assert result.n_candidates == 26
    assert 0.5 < result.metrics["unknown_auroc"] < 1
