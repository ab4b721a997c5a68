"""Accuracy against coverage, and known against unknown samples."""

import importlib

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from zslearn.exceptions import InvalidInputError
from zslearn.metrics import RejectionCurveDisplay, rejection_curve

CANDIDATES = ["cow", "okapi"]


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    true = rng.choice([*CANDIDATES, "yeti", "unicorn"], 300)
    pred = rng.choice(CANDIDATES, 300)
    return true, pred, (rng.integers(0, 40, 300) + 16 * (true == pred)) / 64


def test_the_area_is_scikit_learns(answers):
    true, _, confidence = answers
    curve = rejection_curve(*answers, candidates=CANDIDATES)
    expected = roc_auc_score(np.isin(true, CANDIDATES), confidence)
    assert curve.auroc == pytest.approx(expected, abs=1e-12)


def test_every_point_is_what_its_threshold_gives(answers):
    true, pred, confidence = answers
    curve = rejection_curve(*answers, candidates=CANDIDATES)
    known = np.isin(true, CANDIDATES)
    assert len(curve.thresholds) == len(np.unique(confidence))
    for i, threshold in enumerate(curve.thresholds):
        kept = confidence >= threshold
        assert curve.coverage[i] == pytest.approx(kept.mean())
        assert curve.accuracy[i] == pytest.approx((true == pred)[kept].mean())
        assert curve.known_rejected[i] == pytest.approx((~kept)[known].mean())
        assert curve.unknown_rejected[i] == pytest.approx((~kept)[~known].mean())
    assert curve.coverage[-1] == 1.0
    assert curve.known_rejected[-1] == curve.unknown_rejected[-1] == 0.0


def test_only_the_order_of_confidences_counts(answers):
    true, pred, confidence = answers
    first = rejection_curve(*answers, candidates=CANDIDATES)
    second = rejection_curve(true, pred, np.exp(5 * confidence), candidates=CANDIDATES)
    assert (first.auroc, first.area) == (second.auroc, second.area)


def test_a_confidence_that_knows_all_and_one_that_knows_nothing():
    true, pred = ["cow", "okapi", "yeti"], ["cow", "cow", "cow"]
    assert rejection_curve(true, pred, [1, 1, 0], candidates=CANDIDATES).auroc == 1.0
    flat = rejection_curve(true, pred, [1, 1, 1], candidates=CANDIDATES)
    assert (flat.auroc, flat.area, flat.coverage.tolist()) == (0.5, pytest.approx(1 / 3), [1.0])


@pytest.mark.parametrize(
    ("true", "confidence", "message"),
    [
        (["cow", "okapi"], [0.1, 0.2], "all 2 samples are known"),
        (["yeti", "yeti"], [0.1, 0.2], "all 2 samples are unknown"),
        (["cow", "yeti"], [0.1], "one value per sample"),
        (["cow", "yeti"], [0.1, np.nan], "contains NaN"),
    ],
)
def test_refuses_what_gives_no_curve(true, confidence, message):
    with pytest.raises(InvalidInputError, match=message):
        rejection_curve(true, ["cow", "cow"], confidence, candidates=CANDIDATES)


def test_the_picture_shows_the_curve_and_the_threshold(answers):
    before = mpl.get_backend()
    mpl.use("Agg")
    display = RejectionCurveDisplay.from_predictions(*answers, candidates=CANDIDATES, name="SAE")
    np.testing.assert_array_equal(display.line_.get_xdata(), display.curve.coverage)
    display.plot(display.ax_, threshold=0.5)
    star = display.ax_.lines[-1]
    kept = answers[2] >= 0.5
    assert star.get_xdata() == pytest.approx([kept.mean()])
    assert star.get_ydata() == pytest.approx([(answers[0] == answers[1])[kept].mean()])
    importlib.import_module("matplotlib.pyplot").close("all")
    mpl.use(before)
