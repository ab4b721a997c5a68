"""How sure an answer is, the temperature of probabilities, and thresholds."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import entropy

from zslearn.core.confidence import (
    MEASURES,
    LabeledScores,
    confidence_measures,
    fit_confidence,
    fit_temperature,
    learned_confidence,
    overconfidence,
    refitted_confidence,
    threshold_for_cost,
    threshold_for_share,
)


def test_measures_by_hand():
    scores = np.array([[1.0, 4.0, 1.0], [0.0, 0.0, 0.0]])
    found = confidence_measures(scores, 2.0)
    powers = np.exp(scores / 2)
    shares = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[:, MEASURES.index("score")], [4, 0])
    np.testing.assert_allclose(found[:, MEASURES.index("lead")], [2, 0])
    np.testing.assert_allclose(found[:, MEASURES.index("margin")], [3, 0])
    np.testing.assert_allclose(found[:, MEASURES.index("probability")], shares.max(axis=1))
    np.testing.assert_allclose(found[:, MEASURES.index("entropy")], -entropy(shares, axis=1))


def test_one_candidate_and_probabilities_of_zero():
    assert confidence_measures(np.array([[7.0]]), 1.0).tolist() == [[7, 0, 0, 1, 0]]
    assert confidence_measures(np.array([[0.0, 1e6]]), 1.0)[0, -1] == 0.0


def test_learns_the_log_odds_that_labels_were_drawn_with():
    rng = np.random.default_rng(0)
    measures = rng.normal([3.0, -1.0], [10.0, 0.1], size=(100_000, 2))
    want = np.array([0.2, 5.0, 4.0])
    truth = rng.uniform(size=100_000) < expit(measures @ want[:2] + want[2])
    found = fit_confidence(measures, truth, np.ones(100_000))
    np.testing.assert_allclose(found, want, rtol=0.1)
    assert learned_confidence(measures, found).mean() == pytest.approx(truth.mean(), abs=1e-3)


def test_a_measure_that_never_changes_does_no_harm():
    rng = np.random.default_rng(1)
    measures = np.stack([rng.normal(size=200), np.ones(200)], axis=1)
    found = fit_confidence(measures, measures[:, 0] > 0, np.ones(200))
    assert np.isfinite(found).all()
    assert found[1] == 0.0


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


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.99])
def test_no_higher_threshold_rejects_so_few(share):
    rng = np.random.default_rng(0)
    confidence = rng.normal(size=300).round(1)  # with ties
    weights = rng.uniform(size=300)
    threshold = threshold_for_share(confidence, weights, share)

    def rejected(value):
        return weights[confidence < value].sum() / weights.sum()

    assert rejected(threshold) <= share
    above = confidence[confidence > threshold]
    assert not len(above) or rejected(above.min()) > share


def test_cost_is_smallest_among_all_thresholds():
    rng = np.random.default_rng(1)
    confidence, gain = rng.normal(size=100).round(1), rng.normal(size=100)
    found = threshold_for_cost(confidence, gain)
    every = [*np.unique(confidence), np.inf]
    assert gain[confidence >= found].sum() == pytest.approx(
        max(gain[confidence >= value].sum() for value in every)
    )


def test_everything_or_nothing_is_rejected():
    confidence = np.array([1.0, 2.0])
    assert (confidence >= threshold_for_cost(confidence, np.ones(2))).all()
    assert (confidence < threshold_for_cost(confidence, -np.ones(2))).all()


def test_a_few_steps_from_near_coefficients_are_a_fit():
    rng = np.random.default_rng(5)
    measures = rng.normal(size=(300, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 1.0]
    truth = rng.random(300) < 1 / (1 + np.exp(-measures @ [1.0, 0.1, 3.0]))
    weights = rng.random(300)
    start = fit_confidence(measures[::2], truth[::2], weights[::2])
    found = refitted_confidence(measures, truth, weights, start)
    np.testing.assert_allclose(found, fit_confidence(measures, truth, weights), rtol=0.01)
