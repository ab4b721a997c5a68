"""The generalized setting on CUB at its real size."""

import pytest

from zslearn.datasets import load_xlsa17
from zslearn.evaluation import GeneralizedProtocol, evaluate
from zslearn.zero_shot import SAEClassifier


@pytest.mark.data
def test_calibration_brings_unseen_birds_back(data_dir):
    cub = load_xlsa17(data_dir / "xlsa17" / "CUB", features="effnet_lite0")
    # λ = 0.108 is what class-wise cross-validation chooses on the training classes.
    result = evaluate(cub, SAEClassifier(lam=0.108), GeneralizedProtocol("proposed"))
    assert (result.n_train, result.n_test, result.n_candidates) == (7057, 4731, 200)
    assert result.holdout_seed is None
    measured = result.metrics
    assert measured["harmonic_mean"] == pytest.approx(0.311, abs=0.01)
    assert measured["ausuc"] == pytest.approx(0.350, abs=0.01)
    assert measured["oracle_harmonic_mean"] == pytest.approx(0.509, abs=0.01)
    assert measured["calibrated_harmonic_mean"] > measured["oracle_harmonic_mean"] - 0.03
