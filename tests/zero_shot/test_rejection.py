"""Probabilities to believe, and answers of "none of these"."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.core.confidence import MEASURES, confidence_measures
from zslearn.datasets import make_zero_shot
from zslearn.evaluation import GeneralizedProtocol
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import expected_calibration_error
from zslearn.persistence import load, save
from zslearn.zero_shot import (
    AMPClassifier,
    CalibratedStacking,
    ESZSLClassifier,
    LegacyCUB,
    SAEClassifier,
)
from zslearn.zero_shot.held_out import LEARNED, held_out_folds, open_answers

KINDS = (*LEARNED, *MEASURES)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(60, 12, n_per_class=15, noise=1.5, random_state=0)


@pytest.fixture(scope="module")
def task(data):
    return GeneralizedProtocol().task(data)


@pytest.fixture(scope="module")
def clf(data, task):
    return fitted(data, task)


def fitted(data, task, **parameters):
    model = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), **parameters)
    return model.fit(data.X[task.train], data.y[task.train])


def samples_of(data, task):
    return data.X[task.test], data.y[task.test]


@pytest.mark.parametrize("setting", ["all", "unseen"])
def test_probabilities_are_the_softmax_at_the_temperature_of_the_setting(data, task, clf, setting):
    X, _ = samples_of(data, task)
    want = softmax(clf.decision_function(X, setting) / clf.temperature_[setting], axis=1)
    np.testing.assert_allclose(clf.predict_proba(X, setting), want)
    np.testing.assert_allclose(clf.recognizer(setting).probabilities(X), want)


@pytest.mark.parametrize("setting", ["all", "unseen"])
def test_probabilities_can_be_believed(data, task, clf, setting):
    X, y = samples_of(data, task)
    rows = np.isin(y, clf.candidate_names(setting))
    plain = clf.estimator_.predict_proba(X[rows], setting)
    found = clf.predict_proba(X[rows], setting)
    names = clf.candidate_names(setting)
    error = expected_calibration_error(y[rows], found, candidates=names)
    assert error < 0.07
    assert error < 0.5 * expected_calibration_error(y[rows], plain, candidates=names)


@pytest.mark.parametrize("confidence", KINDS)
def test_few_known_samples_are_rejected_and_more_unknown_ones(data, task, confidence):
    clf = fitted(data, task, confidence=confidence)
    X, y = samples_of(data, task)
    unknown = np.isin(y, task.unseen[:4])
    candidates = np.setdiff1d(task.candidates, task.unseen[:4])
    rejected = clf.recognizer(candidates).rejected(X)
    assert rejected[~unknown].mean() < 0.1
    assert rejected[unknown].mean() > max(0.15, 2 * rejected[~unknown].mean())


def test_the_threshold_holds_the_share_on_the_folds(data, task):
    shares = []
    for share in (0.0, 0.05, 0.5):
        clf = fitted(data, task, confidence="score", max_rejected=share)
        X, _ = samples_of(data, task)
        shares.append(clf.recognizer(task.candidates).rejected(X).mean())
    assert shares[0] < 0.02
    assert shares[0] <= shares[1] < 0.12
    assert 0.3 < shares[2] < 0.7


def test_a_dearer_rejection_rejects_less(data, task):
    X, _ = samples_of(data, task)
    rejected = [
        fitted(data, task, reject_cost=cost).recognizer(task.candidates).rejected(X).mean()
        for cost in (0.05, 0.5, 5.0)
    ]
    assert rejected[0] > rejected[1] > rejected[2]


def test_rejected_samples_get_the_label_and_others_their_answer(data, task, clf):
    X, _ = samples_of(data, task)
    plain, rejected = clf.predict(X), clf.recognizer().rejected(X)
    assert rejected.any()
    assert not rejected.all()
    for given in (None, "a label of some length"):
        label = given or "none of these"
        found = clf.predict(X, reject=True, reject_label=given)
        np.testing.assert_array_equal(found[rejected], label)
        np.testing.assert_array_equal(found[~rejected], plain[~rejected])
    np.testing.assert_array_equal(clf.predict(X, reject=False), plain)


def test_confidence_is_the_measure_asked_for(data, task):
    X, _ = samples_of(data, task)
    for name in MEASURES:
        clf = fitted(data, task, gamma=0.1, temperature=0.2, threshold=0.0, confidence=name)
        scores = clf.decision_function(X)
        want = confidence_measures(scores, 0.2)[:, MEASURES.index(name)]
        np.testing.assert_allclose(clf.recognizer().confidence(X), want)
        np.testing.assert_array_equal(clf.recognizer().rejected(X), want < 0.0)


def test_the_learned_confidence_is_a_probability_of_being_right(data, task, clf):
    X, y = samples_of(data, task)
    confidence = clf.recognizer(task.candidates).confidence(X)
    right = clf.predict(X, task.candidates) == y
    assert 0 <= confidence.min() <= confidence.max() <= 1
    assert confidence[right].mean() > confidence[~right].mean() + 0.1


def test_candidates_without_seen_classes_have_a_threshold_of_their_own(data, task, clf):
    X, _ = samples_of(data, task)
    assert clf.threshold_["all"] != clf.threshold_["unseen"]
    for names, setting in ((task.unseen, "unseen"), (task.seen, "all"), (task.candidates, "all")):
        recognizer = clf.recognizer(names)
        want = recognizer.confidence(X) < clf.threshold_[setting]
        np.testing.assert_array_equal(recognizer.rejected(X), want)


def test_whole_numbers_as_classes(data, task):
    numbers = {name: i for i, name in enumerate(data.signatures.names)}
    table = type(data.signatures)(list(range(72)), data.signatures.vectors)
    y = np.array([numbers[name] for name in data.y])
    clf = CalibratedStacking(SAEClassifier(table, lam=1.0), max_rejected=0.3)
    clf.fit(data.X[task.train], y[task.train])
    found = clf.predict(data.X[task.test], reject=True)
    assert found.dtype.kind == "i"
    assert (found == -1).any()
    named = clf.predict(data.X[task.test], reject=True, reject_label="unknown")
    np.testing.assert_array_equal(named == "unknown", found == -1)


def test_a_label_that_is_a_class_is_refused(data, task, clf):
    with pytest.raises(InvalidInputError, match="reject_label 'seen1' is the name of a class"):
        clf.predict(data.X[:2], reject=True, reject_label="seen1")


def test_other_classifiers_say_who_can_reject(data, task, clf):
    with pytest.raises(InvalidInputError, match=r"fit CalibratedStacking\(SAEClassifier"):
        clf.estimator_.predict(data.X[:2], reject=True)
    with pytest.raises(InvalidInputError, match="has not learned how sure it is"):
        clf.estimator_.recognizer().confidence(data.X[:2])


def test_too_few_classes_give_no_threshold(data):
    rows = np.isin(data.y, ["seen0", "seen1", "seen2"])
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0))
    clf.fit(data.X[rows], data.y[rows])
    assert clf.threshold_ == {"all": None, "unseen": None}
    assert clf.temperature_ == {"all": 1.0, "unseen": 1.0}
    with pytest.raises(InvalidInputError, match="no threshold could be learned"):
        clf.predict(data.X[:2], reject=True)
    assert clf.frozen().threshold == "auto"


def test_folds_of_two_classes_take_other_candidates_from_the_table(data):
    rows = np.isin(data.y, [f"seen{i}" for i in range(4)])
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), cv=2)
    clf.fit(data.X[rows], data.y[rows])
    assert None not in clf.threshold_.values()
    assert clf.threshold_["all"] != clf.threshold_["unseen"]
    few = data.signatures.subset([f"seen{i}" for i in range(4)])
    clf = CalibratedStacking(SAEClassifier(few, lam=1.0), cv=2)
    clf.fit(data.X[rows], data.y[rows])
    assert clf.threshold_["all"] == clf.threshold_["unseen"]
    assert clf.temperature_["all"] != clf.temperature_["unseen"]


@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_seen_samples_lose_their_share_at_most_and_unseen_ones_twice_of_it(
    data, task, monkeypatch, share
):
    """On the folds, by a single measure, which is the same whatever else was learned."""
    kept = []

    def folds(*given, **named):
        kept.extend(held_out_folds(*given, **named))
        return iter(kept)

    monkeypatch.setattr("zslearn.zero_shot.calibration.held_out_folds", folds)
    clf = fitted(data, task, confidence="score", max_rejected=share)
    for setting, threshold in clf.threshold_.items():
        answers = open_answers(kept, setting, clf.gamma_, clf.temperature_[setting], 0)
        below = answers.measures[:, MEASURES.index("score")] < threshold
        seen, unseen = answers.side == 0, answers.side == 1
        if seen.any():
            assert np.average(below[seen], weights=answers.weights[seen]) <= share + 1e-12
        lost = [below[unseen & (answers.y == c)].mean() for c in task.seen]
        promised = (1 + sum(lost)) / (len(lost) + 1)
        assert promised <= 2 * share
        assert clf.expected_rejection_[setting].promised == pytest.approx(promised)
        # The next higher threshold would break one of the two promises.
        higher = np.unique(answers.measures[unseen, MEASURES.index("score")])
        higher = higher[higher > threshold][0]
        below = answers.measures[:, MEASURES.index("score")] < higher
        lost = [below[unseen & (answers.y == c)].mean() for c in task.seen]
        broken = (1 + sum(lost)) / (len(lost) + 1) > 2 * share
        if seen.any():
            broken |= np.average(below[seen], weights=answers.weights[seen]) > share
        assert broken


@pytest.mark.parametrize("confidence", ["right", "score"])
def test_frozen_copies_and_files_answer_the_same_without_folds(
    data, task, tmp_path, confidence, monkeypatch
):
    clf = fitted(data, task, confidence=confidence, reject_label="?")
    save(clf, tmp_path / "model.zsl")
    loaded = load(tmp_path / "model.zsl")
    frozen = clone(clf.frozen())
    monkeypatch.setattr("zslearn.zero_shot.calibration.held_out_folds", None)
    frozen.fit(data.X[task.train], data.y[task.train])
    X, _ = samples_of(data, task)
    for again in (loaded, frozen):
        assert again.threshold_ == clf.threshold_
        for candidates in (task.candidates, task.unseen):
            np.testing.assert_array_equal(
                again.predict(X, candidates, reject=True), clf.predict(X, candidates, reject=True)
            )
            np.testing.assert_allclose(
                again.predict_proba(X, candidates), clf.predict_proba(X, candidates)
            )


def test_bias_and_temperature_do_not_depend_on_the_unseen_classes(data, task, clf):
    """Their signatures are candidates where the threshold is learned, and nowhere else."""
    vectors = data.signatures.vectors.copy()
    vectors[data.signatures.index_of(task.unseen)] = 77.0
    other = type(data.signatures)(data.signatures.names, vectors)
    again = CalibratedStacking(SAEClassifier(other, lam=1.0))
    again.fit(data.X[task.train], data.y[task.train])
    assert again.gamma_ == clf.gamma_
    assert again.temperature_ == clf.temperature_


def test_known_and_unknown_samples_meet_as_many_unseen_candidates(data, task, monkeypatch):
    """As many as there will be: how sure an answer is depends on their number."""
    kept = []

    def folds(*given, **named):
        kept.extend(held_out_folds(*given, **named))
        return iter(kept)

    monkeypatch.setattr("zslearn.zero_shot.calibration.held_out_folds", folds)
    clf = fitted(data, task)
    for fold in kept:
        assert not np.isin(fold.classes, task.unseen).any()
        for unknown in fold.unknown_parts(0):
            for setting, n_seen in (("unseen", 0), ("all", len(fold.seen))):
                found = fold.filled(fold.candidates(setting, unknown))
                assert not np.isin(unknown, found).any()
                assert len(found) == n_seen + len(task.unseen)
    # A confidence that told samples by the number of candidates would be nearly always right.
    plain = fitted(data, task, confidence="entropy")
    learned, single = (one.expected_rejection_["unseen"].auroc for one in (clf, plain))
    assert learned < single + 0.1


def test_scores_in_other_units_give_the_same_probabilities_and_rejections(data, task):
    """A classifier's scores have no scale: temperature and threshold must follow."""

    class Louder(ESZSLClassifier):
        def compare(self, queries, classes):
            return 1000.0 * super().compare(queries, classes)

    X, _ = samples_of(data, task)
    found = []
    for kind in (ESZSLClassifier, Louder):
        clf = CalibratedStacking(kind(data.signatures, gamma=1.0, lam=1.0))
        clf.fit(data.X[task.train], data.y[task.train])
        found.append((clf.predict_proba(X), clf.recognizer().rejected(X)))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-3)
    assert (found[0][1] == found[1][1]).mean() > 0.99


def test_the_end_of_a_pipeline_rejects(data, task):
    last = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0, feature_norm=None))
    model = make_pipeline(StandardScaler(), last).fit(data.X[task.train], data.y[task.train])
    X, _ = samples_of(data, task)
    found = model.predict(X, reject=True, reject_label="?")
    assert 0 < (found == "?").mean() < 0.5


@pytest.mark.parametrize("kind", [AMPClassifier, LegacyCUB])
def test_methods_whose_scores_depend_on_the_candidates(data, task, kind):
    clf = CalibratedStacking(kind(data.signatures), cv=3)
    clf.fit(data.X[task.train], data.y[task.train])
    X, _ = samples_of(data, task)
    assert clf.recognizer(task.unseen).rejected(X).mean() < 1
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0.0}, "temperature must be 'auto', a positive number or a dict"),
        ({"temperature": {"all": 1.0}}, "temperature must be"),
        ({"threshold": "best"}, "threshold must be 'auto', a number or a dict"),
        ({"confidence": "luck"}, "confidence must be 'right', 'known', 'score'"),
        ({"confidence": {"all": [1.0], "unseen": [1.0]}}, "6 numbers, for score, lead"),
        ({"max_rejected": 1.0}, "max_rejected must be a number of at least 0 and below 1"),
        ({"reject_cost": 0}, "reject_cost must be None or a positive number"),
        ({"reject_label": 1.5}, "reject_label must be"),
    ],
)
def test_refuses_wrong_choices(data, task, changes, message):
    with pytest.raises(InvalidInputError, match=message):
        fitted(data, task, **changes)
