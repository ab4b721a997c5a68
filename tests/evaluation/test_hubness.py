"""Counts of answers and their skewness."""

import numpy as np
import pytest
from scipy.stats import skew

from zslearn.evaluation import hubness_report
from zslearn.exceptions import InvalidInputError

NAMES = np.array(["d", "a", "c", "b"])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_counts_are_those_of_the_k_best(k):
    scores = np.random.default_rng(0).normal(size=(50, 4)) + np.array([0, 0, 1, 0])
    report = hubness_report(scores, NAMES, k=k)
    best = np.argsort(-scores, axis=1)[:, :k]
    counts = np.array([(best == column).sum() for column in range(4)])
    np.testing.assert_array_equal(report.counts, counts)
    assert report.skewness == pytest.approx(skew(counts))
    assert (report.largest, report.largest_share) == ("c", counts[2] / 50)


def test_predictions_give_the_same_as_their_scores():
    scores = np.random.default_rng(1).normal(size=(30, 4))
    by_scores = hubness_report(scores, NAMES)
    by_names = hubness_report(NAMES[scores.argmax(axis=1)], NAMES)
    np.testing.assert_array_equal(by_scores.counts, by_names.counts)


def test_even_answers_have_no_skewness():
    report = hubness_report(NAMES, NAMES)
    assert (report.skewness, report.largest_share, report.never) == (0.0, 0.25, 0)


@pytest.mark.parametrize(
    ("given", "k", "message"),
    [
        (["z"], 1, "'z' is not among"),
        (["a"], 2, "needs scores"),
        (np.zeros((2, 3)), 1, "got shape"),
        (np.zeros((2, 4)), 5, "between 1 and 4"),
        ([], 1, "at least one"),
    ],
)
def test_refuses(given, k, message):
    with pytest.raises(InvalidInputError, match=message):
        hubness_report(given, NAMES, k=k)
