"""How sure an answer is."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import entropy

from zslearn.core.confidence import (
    MEASURES,
    confidence_measures,
    fit_confidence,
    learned_confidence,
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
