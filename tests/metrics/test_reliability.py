"""Confidence against accuracy, by hand and on data whose probabilities are true."""

import importlib

import matplotlib as mpl
import numpy as np
import pytest

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import ReliabilityDisplay, expected_calibration_error, reliability_curve
from zslearn.zero_shot import SAEClassifier

CANDIDATES = ["cow", "okapi", "seal"]


def drawn(n, rng):
    """Probabilities, and true classes drawn by them."""
    probabilities = rng.dirichlet([0.5, 0.5, 0.5], n)
    above = rng.uniform(size=(n, 1)) < np.cumsum(probabilities, axis=1)
    return np.array(CANDIDATES)[above.argmax(axis=1)], probabilities


def test_true_probabilities_have_no_error():
    y, probabilities = drawn(200_000, np.random.default_rng(0))
    assert expected_calibration_error(y, probabilities, candidates=CANDIDATES) < 0.005


def test_answers_that_claim_too_much_are_below_the_diagonal():
    y, probabilities = drawn(20_000, np.random.default_rng(0))
    sharper = probabilities**4 / (probabilities**4).sum(axis=1, keepdims=True)
    curve = reliability_curve(y, sharper, candidates=CANDIDATES)
    assert (curve.accuracy < curve.confidence)[curve.share > 0.01].all()
    gap = np.mean(sharper.max(axis=1)) - np.mean(np.array(CANDIDATES)[sharper.argmax(axis=1)] == y)
    assert curve.error == pytest.approx(gap, abs=0.002)


def test_the_error_is_the_definition_written_out():
    rng = np.random.default_rng(1)
    y, probabilities = drawn(500, rng)
    expected, best = 0.0, probabilities.max(axis=1)
    right = np.array(CANDIDATES)[probabilities.argmax(axis=1)] == y
    for low in np.arange(10) / 10:
        inside = (best >= low) & (best < low + 0.1) if low < 0.9 else best >= low
        if inside.any():
            expected += inside.mean() * abs(right[inside].mean() - best[inside].mean())
    found = expected_calibration_error(y, probabilities, candidates=CANDIDATES, n_bins=10)
    assert found == pytest.approx(expected, abs=1e-12)


def test_one_bin_compares_the_two_means_and_sure_answers_have_a_bin():
    probabilities = [[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]
    curve = reliability_curve(["cow", "cow"], probabilities, candidates=CANDIDATES, n_bins=1)
    assert curve.error == pytest.approx(abs(0.75 - 0.5))
    sure = reliability_curve(["cow"], [[1.0, 0.0, 0.0]], candidates=CANDIDATES)
    assert (sure.confidence.tolist(), sure.accuracy.tolist(), sure.error) == ([1.0], [1.0], 0.0)


@pytest.mark.parametrize(
    ("probabilities", "n_bins", "message"),
    [
        ([[0.5, 0.6, 0.0]], 15, "row 0 does not"),
        ([[1.5, -0.5, 0.0]], 15, "at least 0 and sum to one"),
        ([[0.5, 0.5]], 15, "probabilities must have shape"),
        ([[np.nan, 0.5, 0.5]], 15, "probabilities contain NaN"),
        ([[1.0, 0.0, 0.0]], 0, "n_bins must be a whole number of at least 1"),
    ],
)
def test_refuses_what_is_no_probability(probabilities, n_bins, message):
    with pytest.raises(InvalidInputError, match=message):
        reliability_curve(["cow"], probabilities, candidates=CANDIDATES, n_bins=n_bins)


def test_the_picture_shows_the_curve():
    before = mpl.get_backend()
    mpl.use("Agg")
    data = make_zero_shot(6, 3, n_per_class=5, noise=2.0, random_state=0)
    rows = data.rows(data.split("standard").seen)
    clf = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    display = ReliabilityDisplay.from_estimator(clf, data.X, data.y)
    curve = reliability_curve(data.y, clf.predict_proba(data.X), candidates=clf.classes_)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.accuracy)
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text() == f"SAEClassifier (error {curve.error:.3f})"
    importlib.import_module("matplotlib.pyplot").close("all")
    mpl.use(before)
