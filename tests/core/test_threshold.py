"""Thresholds by a share that may be rejected, and by cost."""

import numpy as np
import pytest

from zslearn.core.confidence import threshold_for_cost, threshold_for_share


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
