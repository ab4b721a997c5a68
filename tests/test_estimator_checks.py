"""The checks pass on a sound classifier, and each of them fails on one broken for it."""

from __future__ import annotations

import pytest

from zslearn.estimator_checks import check_zero_shot_classifier, parametrize_with_zero_shot_checks
from zslearn.zero_shot import SAEClassifier


@parametrize_with_zero_shot_checks([SAEClassifier(lam=1.0)])
def test_a_sound_classifier_passes_each_check(case, check):
    check(case)


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("direction", ["encode", "decode", "both"])
@pytest.mark.parametrize("lam", [0.3, "cv"])
def test_the_autoencoder_passes_in_every_direction_and_metric(direction, metric, lam):
    check_zero_shot_classifier(SAEClassifier(direction=direction, metric=metric, lam=lam))
