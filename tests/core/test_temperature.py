"""One number that turns scores into probabilities."""

import numpy as np
import pytest
from scipy.special import softmax

from zslearn.core.confidence import LabeledScores, fit_temperature, overconfidence


def drawn(temperature, seed=0, n=20000, n_candidates=6):
    """Draw labels from the softmax of scores at a known temperature."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_candidates))
    cumulated = softmax(scores / temperature, axis=1).cumsum(axis=1)
    truth = (rng.uniform(size=(n, 1)) > cumulated).sum(axis=1)
    return LabeledScores(scores, truth, np.ones(n))


@pytest.mark.parametrize("temperature", [0.2, 1.0, 5.0])
def test_finds_the_temperature_that_labels_were_drawn_with(temperature):
    assert fit_temperature([drawn(temperature)]) == pytest.approx(temperature, rel=0.08)


def test_answers_are_as_sure_as_they_are_right():
    parts = [drawn(0.5, n=3000), drawn(2.0, seed=1, n=3000)]
    temperature = fit_temperature(parts)
    gaps = []
    for part in parts:
        sure = softmax(part.scores / temperature, axis=1).max(axis=1)
        gaps.append(sure.mean() - (part.scores.argmax(axis=1) == part.truth).mean())
    assert gaps[0] < 0 < gaps[1]
    assert sum(gaps) == pytest.approx(0, abs=1e-3)


def test_overconfidence_falls_as_the_temperature_rises():
    part = drawn(1.0, n=2000)
    found = [overconfidence(part, temperature) for temperature in (0.1, 0.5, 1.0, 2.0, 10.0)]
    assert found == sorted(found, reverse=True)
    assert found[2] == pytest.approx(0, abs=0.03)


def test_scales_with_the_scores_and_ignores_what_all_candidates_share():
    part = drawn(1.0, n=500)
    shift = np.random.default_rng(1).normal(size=(500, 1))
    other = LabeledScores(1000 * (part.scores + shift), part.truth, part.weights)
    assert fit_temperature([other]) == pytest.approx(1000 * fit_temperature([part]), rel=1e-3)


def test_weights_are_as_good_as_repeated_samples():
    part = drawn(1.0, n=4000)
    weights = np.where(np.arange(4000) < 2000, 3.0, 1.0)
    rows = np.repeat(np.arange(4000), weights.astype(int))
    repeated = LabeledScores(part.scores[rows], part.truth[rows], np.ones(len(rows)))
    weighted = fit_temperature([part._replace(weights=weights)])
    assert weighted == pytest.approx(fit_temperature([repeated]), rel=1e-2)


def test_answers_that_are_all_right_and_equal_scores_have_a_temperature():
    scores = np.eye(3)
    right = LabeledScores(scores, np.arange(3), np.ones(3))
    assert 0 < fit_temperature([right]) < 1
    wrong = right._replace(truth=np.array([1, 2, 0]))
    assert fit_temperature([wrong]) > 1e3  # no probability is low enough
    assert fit_temperature([right._replace(scores=np.zeros((3, 3)))]) == 1.0
