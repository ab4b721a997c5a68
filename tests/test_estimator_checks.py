"""The checks pass on a sound classifier, and each of them fails on one broken for it."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

from tests import broken_classifiers
from tests.broken_classifiers import BROKEN, AnotherFitAnotherModel, NotAtAllSound
from zslearn.estimator_checks import (
    Case,
    CheckData,
    check_zero_shot_classifier,
    parametrize_with_zero_shot_checks,
    zero_shot_checks,
)
from zslearn.model_selection import choose
from zslearn.zero_shot import CalibratedStacking, SAEClassifier, ZeroShotTags

CHECKS = {check.__name__: check for check in zero_shot_checks()}


@parametrize_with_zero_shot_checks([SAEClassifier(lam=1.0)])
def test_a_sound_classifier_passes_each_check(case, check):
    check(case)


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("direction", ["encode", "decode", "both"])
@pytest.mark.parametrize("lam", [0.3, "cv"])
def test_the_autoencoder_passes_in_every_direction_and_metric(direction, metric, lam):
    check_zero_shot_classifier(SAEClassifier(direction=direction, metric=metric, lam=lam))


@pytest.mark.parametrize("name", CHECKS)
def test_each_check_finds_its_fault(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = Case(BROKEN[name](lam=1.0))
        with pytest.raises(Exception, match=r".") as caught:
            CHECKS[name](case)
    # An estimator may fail by an error of its own only where a check cannot tell it what to raise.
    own = {"CopiesItsSignatures", "RefusesOneSample", "ClaimsToTakeSparse"}
    own |= {"InvertsTheFeatureGram", "InvertsTheSemanticGram"}
    assert isinstance(caught.value, AssertionError) or BROKEN[name].__name__ in own


@pytest.mark.parametrize(
    ("changes", "best", "message"),
    [
        ({}, {"lam": 3.0}, r"must come from cv_results_\['params'\]; \['lam'\] do not"),
        ({}, {"lambda": 1.0}, r"must name parameters; it names \['lambda'\]"),
        ({"std_test_score": np.zeros(3)}, {"lam": 1.0}, "one entry per point everywhere"),
        ({"split2_test_score": np.zeros(2)}, {"lam": 1.0}, "must be the mean of the splits"),
        ({"split3_test_score": np.zeros(2)}, {"lam": 1.0}, "must have the keys of scikit-learn"),
        ({"rank_test_score": np.array([1, 2])}, {"lam": 1.0}, "must be 1 for the best mean"),
    ],
)
def test_inconsistent_choices_are_found(changes, best, message):
    found = choose([{"lam": 2.0}, {"lam": 1.0}], [0.1, 0.3], lambda fold: [0.0, fold])

    class Confused(SAEClassifier):
        def _fit(self, X, y):
            super()._fit(X, y)
            self.cv_results_, self.best_params_ = found.cv_results | changes, best

    with pytest.raises(AssertionError, match=message):
        CHECKS["check_choices"](Case(Confused(lam=1.0)))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("KeepsItsLastAnswer", r"not write to itself; it changed \['KeepsItsLastAnswer.last_'\]"),
        (
            "ScalesItsWeights",
            "not write to itself; it changed .*'ScalesItsWeights.coef_encode_'",
        ),
        ("SortsItsSamples", "must not depend on the order of the samples"),
        ("MeasuresFromTheMeanCandidate", "must score alone as among others"),
        ("AnswersByAnotherWay", "must give the scores of decision_function"),
        ("KeepsOneQuery", "must give one row per sample"),
    ],
)
def test_each_rule_of_a_scorer_is_checked(broken, message):
    case = Case(getattr(broken_classifiers, broken)(lam=1.0))
    with pytest.raises(AssertionError, match=message):
        CHECKS["check_scorer"](case)


@pytest.mark.parametrize("kind", [SAEClassifier, CalibratedStacking])
def test_sound_scorers_pass_also_inside_of_others(kind):
    clf = SAEClassifier(lam=1.0)
    CHECKS["check_scorer"](Case(clf if kind is SAEClassifier else kind(clf, gamma=0.5)))


def test_hidden_randomness_is_found():
    with pytest.raises(AssertionError, match="a second fit on the same data"):
        CHECKS["check_refit"](Case(AnotherFitAnotherModel(lam=1.0)))


def test_all_failures_are_told_at_once():
    with pytest.raises(AssertionError, match="on fire") as caught:
        check_zero_shot_classifier(NotAtAllSound())
    told = str(caught.value)
    assert told.startswith("NotAtAllSound() fails")
    assert "- check_pipeline: RuntimeError: the machine is on fire" in told
    assert told.count("\n- check_") > 10


def test_an_estimator_is_fitted_once_and_left_alone():
    class Counting(SAEClassifier):
        fits: ClassVar[list] = []

        def _fit(self, X, y):
            self.fits.append(X.shape)
            super()._fit(X, y)

    given = Counting(lam=1.0)
    case = Case(given)
    for name in ("check_scores", "check_candidates", "check_add_classes", "check_top_k"):
        CHECKS[name](case)
    assert len(Counting.fits) == 1
    assert given.signatures is None
    assert not hasattr(given, "classes_")
    assert "newcomer" not in case.fitted.signatures_


def test_the_data_follow_the_tags():
    signed = CheckData.make(ZeroShotTags())
    assert signed.X_seen.min() < 0
    assert signed.signatures.vectors.min() < 0
    plain = CheckData.make(ZeroShotTags(non_negative=True))
    assert plain.X_seen.min() >= 0
    assert plain.signatures.vectors.min() >= 0
    assert len(CheckData.make(ZeroShotTags(several_spaces=True)).signatures.blocks) == 2
    assert len(signed.signatures.blocks) == 1
    assert set(signed.y_seen) == set(signed.seen)
    assert set(signed.y_unseen) == set(signed.unseen)


def test_an_estimator_without_signatures_is_told_so():
    class Nameless(SAEClassifier):
        def __init__(self, table=None):
            self.table = table

    with pytest.raises(AssertionError, match="no parameter 'signatures'"):
        check_zero_shot_classifier(Nameless())


def test_random_states_are_fixed_for_the_check():
    case = Case(SAEClassifier(lam=1.0, random_state=None))
    assert case.estimator.random_state == 0
    assert case.given.random_state is None
    assert clone(case.estimator).signatures is case.data.signatures
